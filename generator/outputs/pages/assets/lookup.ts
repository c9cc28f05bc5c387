/** A field that finds a record by its id, an address, a name or the platform's id. Upgrades each `<div data-lookup>`. */
import { foldedName } from '../../../base/portable.js';
import { soughtBy } from '../address.js';
import type { LookupField } from '../page-data.js';
import { element, isolated, link } from './dom.js';
import { ask, askOnce, type Answer } from './request.js';
import { called, namesWith, onceEach, suggest, type Named } from './suggestions.js';
import { listIn, objectIn, shaped, textIn } from './values.js';

/** `group, user or game` */
const any = new Intl.ListFormat('en-GB', { type: 'disjunction' });
const HOW = '/api/v1/lookup';
const OPENING = 'Opening …';
/** Pages that a form without its script leads to: no record is at their address. */
const ASKED_AT = /^\/\w*$/;

const includes = (kinds: readonly string[], kind: string) => kinds.includes(kind);
/** Browsers hash only on https and on this machine. */
const canHash = () => globalThis.crypto?.subtle !== undefined;

async function sha256(text: string) {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** What went wrong, in words for the status line. */
class Refusal extends Error {}

/** The object that came; null for a 404. */
function objectOf({ good, status, value, summary, waitSeconds }: Answer) {
  if (good) return objectIn(value);
  if (status === 404) return null;
  if (status === 429)
    throw new Refusal(`Too many requests came from your network. Try again in ${waitSeconds} s.`);
  throw new Refusal(
    status === 0 ? summary : `The service could not look it up (${status}). Try again in a minute.`,
  );
}

const isShards = shaped({ path: 'string', digits: 'number' });
const isEntry = shaped({ name: 'string' });
const isMatch = shaped({ id: 'number', name: 'string', is_current: 'boolean' });
const isIdentified = shaped({ platform_id: 'string', id: 'number' });

/**
 * The document with the entry of a text, if there is one.
 * @param guide the part of the guide that says where
 * @param called what the documents are called there
 * @param text as it is hashed
 */
async function shardWith(guide: 'lookup' | 'platform_ids', called: string, text: string) {
  const how = objectIn(objectOf(await askOnce(HOW))?.[guide])?.[called];
  if (!isShards(how)) throw new Refusal('This service does not look up what you entered.');
  return objectOf(await ask(how.path.replace('{prefix}', (await sha256(text)).slice(0, how.digits))));
}

/** The records of a kind that have or had a name. */
async function matchesOf(kind: string, name: string) {
  const wanted = foldedName(name);
  const shard = await shardWith('lookup', kind === 'user' ? 'username' : kind, wanted);
  const entry = listIn(shard?.['names'], isEntry).find(({ name: hashed }) => hashed === wanted);
  return listIn(entry?.['matches'], isMatch).map((match) => ({ ...match, kind }));
}

/** A record, by what it is called now: a request that its page makes as well. */
async function recordAt(kind: string, id: number) {
  const { status, value } = await ask(`/api/v1/${kind}/${id}`);
  const name = textIn(objectIn(value)?.[kind === 'user' ? 'username' : 'name']) ?? String(id);
  return { status, hit: { kind, id, name, is_current: true } };
}

/** The record of a kind that has an id of the platform. */
async function identifiedBy(kind: string, text: string) {
  const shard = await shardWith('platform_ids', kind, text);
  const found = listIn(shard?.['platform_ids'], isIdentified).filter((each) => each.platform_id === text);
  return Promise.all(found.map(async ({ id }) => (await recordAt(kind, id)).hit));
}

const linkTo = ({ kind, id, name }: Named) => link(`/${kind}/${id}`, isolated(name));

/** The records of a kind that a text names, those that have the name now first. */
async function hitsIn(kind: string, text: string, { identified, named }: LookupField): Promise<Named[]> {
  const all = [
    ...(includes(identified, kind) ? await identifiedBy(kind, text) : []),
    ...(includes(named, kind) ? await matchesOf(kind, text) : []),
  ];
  return onceEach(all).toSorted((a, b) => Number(b.is_current) - Number(a.is_current) || a.id - b.id);
}

/** Gives a form its script: `data-lookup` says what it takes. The kind of the page's address is chosen first. */
function upgrade(host: HTMLElement) {
  const [form, select, input] = [
    host.querySelector('form'),
    host.querySelector('select'),
    host.querySelector('input'),
  ];
  if (form === null || select === null || input === null || host.querySelector('.matches') !== null) return;
  // oxlint-disable-next-line typescript/no-unsafe-assignment
  const field: LookupField = JSON.parse(host.dataset['lookup'] ?? '');
  const hint = element('p', { class: 'hint', id: `${input.id}-hint` }, field.hint);
  input.setAttribute('aria-describedby', hint.id);
  const status = element('p', { class: 'status', role: 'status' });
  const list = element('ul', { class: 'matches' });
  form.append(hint, status, list);
  if (field.named.length > 0) suggest(input, field, () => select.value);

  let latest = 0;
  const say = (words: string, isBad = false, found: readonly Named[] = []) => {
    status.textContent = words;
    status.classList.toggle('bad', isBad);
    list.replaceChildren(...found.map((hit) => element('li', {}, ...called(hit, field, linkTo(hit)))));
  };
  const had = field.hasFormer ? ' or had' : '';
  /**
   * What there is of digits that are an id, and the name of other records.
   * @param text as it was typed
   * @returns none if they are no such name, or names can't be looked up: the id leads on without them
   */
  const both = async (kind: string, id: number, text: string) => {
    if (!canHash()) return [];
    const found = await hitsIn(kind, text, field).catch((error: unknown) => {
      if (error instanceof Refusal) return [];
      throw error;
    });
    const others = found.filter((hit) => hit.id !== id);
    if (others.length === 0) return [];
    const own = await recordAt(kind, id);
    return own.status === 404 ? others : [own.hit, ...others];
  };
  /** @param isFromAddress the way back must not lead to an address that leads on */
  const open = (kind: string, id: number | string, isFromAddress: boolean) => {
    say(OPENING);
    if (isFromAddress) location.replace(`/${kind}/${id}`);
    else location.assign(`/${kind}/${id}`);
  };
  /** @param isFromAddress that of the page names what is sought */
  const seek = async (isFromAddress = false) => {
    latest += 1;
    const search = latest;
    const sought = soughtBy(input.value, field.kinds, field.identified.length > 0);
    if (sought.is === 'nothing') return say(sought.why, true);
    const kind = sought.kind ?? select.value;
    if (sought.is === 'record') {
      say(OPENING);
      const found = sought.name === undefined ? [] : await both(kind, Number(sought.id), sought.name);
      if (search !== latest) return;
      return found.length > 1
        ? say(`${found.length} records have${had} this id or name.`, false, found)
        : open(kind, found[0]?.id ?? sought.id, isFromAddress);
    }
    const named = field.kinds.filter((each) => includes([...field.named, ...field.identified], each.kind));
    const what = field.identified.length === 0 ? 'name' : field.named.length === 0 ? 'id' : 'id or name';
    if (named.length === 0) return say('Nothing can be found by name here. Enter an id or an address.', true);
    if (!canHash())
      return say('Names can be looked up only on an https address, or on localhost. An id works here.', true);
    say('Searching …');
    try {
      const among = async (kinds: typeof named) =>
        (await Promise.all(kinds.map((each) => hitsIn(each.kind, sought.name, field)))).flat();
      const chosen = named.find((each) => each.kind === kind);
      const own = chosen === undefined ? [] : await among([chosen]);
      const hits = own.length > 0 ? own : await among(named.filter((each) => each !== chosen));
      const { names, isAll } =
        hits.length > 0 || field.named.length === 0
          ? { names: hits, isAll: true }
          : await namesWith(sought.name, select.value);
      if (search !== latest) return;
      const [only] = names;
      if (only !== undefined && names.length === 1 && isAll) return open(only.kind, only.id, isFromAddress);
      const many = own.length > 0 ? chosen?.many : 'records';
      const none = `No published ${any.format(named.map(({ one }) => one))} has${had} exactly this ${what}.`;
      if (hits.length > 0) say(`${hits.length} ${many} have${had} this ${what}.`, false, names);
      else say(names.length > 0 ? `${none} These names begin with it:` : none, false, names);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (search === latest) say(error.message, true);
    }
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void seek();
  });
  // Back from a record, the page is as it was left.
  addEventListener('pageshow', ({ persisted: isKept }) => {
    if (isKept && status.textContent === OPENING) say('');
  });
  const choose = (kind: string | null | undefined) => {
    for (const { value } of select.options) if (value === kind) select.value = value;
  };
  choose(location.pathname.split('/')[1]);

  // A form that was sent before this script ran.
  const query = new URLSearchParams(location.search);
  const asked = query.get('q');
  if (asked === null || !ASKED_AT.test(location.pathname)) return;
  choose(query.get('kind'));
  input.value = asked;
  void seek(true);
}

/** Once the script is loaded, and again for a form that comes later. */
export function upgradeAll() {
  for (const host of document.querySelectorAll<HTMLElement>('[data-lookup]')) upgrade(host);
}

upgradeAll();
