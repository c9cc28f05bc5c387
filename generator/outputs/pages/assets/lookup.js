/** A field that finds a record by its id, an address, a name or the platform's id. Upgrades each `<div data-lookup>`. */
import { soughtBy } from '../address.js';
import { foldedName } from '../../../base/portable.js';
import { element, isolated } from './dom.js';
import { isObject, listIn, objectIn } from './facts.js';
import { ask } from './request.js';
import { called, namesWith, suggest } from './suggestions.js';

/**
 * @typedef {import('../lookup-field.js').LookupField} Field
 * @typedef {{ id: number, name: string, is_current: boolean }} Match
 * @typedef {Match & { kind: string }} Hit
 * @typedef {{ path: string, digits: number }} Shards
 */

/** What the shards of a kind's names are called. @param {string} kind */
const shardsOf = (kind) => (kind === 'user' ? 'username' : kind);
/** `group, user or game` */
const any = new Intl.ListFormat('en-GB', { type: 'disjunction' });
const HOW = '/api/v1/lookup';
const OPENING = 'Opening …';
/** Pages that a form without its script leads to: no record is at their address. */
const ASKED_AT = /^\/\w*$/;

/** @param {string} text */
async function sha256(text) {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** What went wrong, in words for the status line. */
class Refusal extends Error {}

/**
 * @param {string} url
 * @returns {Promise<unknown>} undefined for a 404
 */
async function load(url) {
  const { good, status, value, summary, waitSeconds } = await ask(url);
  if (good) return value;
  if (status === 404) return undefined;
  if (status === 429)
    throw new Refusal(`Too many requests came from your network. Try again in ${waitSeconds} s.`);
  throw new Refusal(
    status === 0 ? summary : `The service could not look it up (${status}). Try again in a minute.`,
  );
}

/**
 * @param {unknown} value
 * @returns {value is Shards}
 */
const isShards = (value) =>
  isObject(value) && typeof value.path === 'string' && typeof value.digits === 'number';

/**
 * @param {unknown} value
 * @returns {value is { name: string, matches: unknown }}
 */
const isEntry = (value) => isObject(value) && typeof value.name === 'string';

/**
 * @param {unknown} value
 * @returns {value is Match}
 */
const isMatch = (value) =>
  isObject(value) && typeof value.id === 'number' && typeof value.name === 'string' && 'is_current' in value;

/** @type {Promise<unknown> | undefined} */
let shards;

/**
 * The document with the entry of a text, if there is one.
 * @param {'lookup' | 'platform_ids'} guide the part of the guide that says where
 * @param {string} called what the documents are called there
 * @param {string} text as it is hashed
 */
async function shardWith(guide, called, text) {
  shards ??= load(HOW);
  const found = await shards.catch((/** @type {unknown} */ error) => {
    shards = undefined;
    throw error;
  });
  const how = objectIn(objectIn(found)?.[guide])?.[called];
  if (!isShards(how)) throw new Refusal('This service does not look up what you entered.');
  return objectIn(await load(how.path.replace('{prefix}', (await sha256(text)).slice(0, how.digits))));
}

/**
 * The records of a kind that have or had a name.
 * @param {string} kind
 * @param {string} name
 * @returns {Promise<readonly Match[]>}
 */
async function matchesOf(kind, name) {
  const wanted = foldedName(name);
  const shard = await shardWith('lookup', shardsOf(kind), wanted);
  const entry = listIn(shard?.names, isEntry).find(({ name: hashed }) => hashed === wanted);
  return listIn(entry?.matches, isMatch);
}

/**
 * @param {unknown} value
 * @returns {value is { platform_id: string, id: number }}
 */
const isIdentified = (value) =>
  isObject(value) && typeof value.platform_id === 'string' && typeof value.id === 'number';

/**
 * A record, by what it is called now: a request that its page makes as well.
 * @param {string} kind
 * @param {number} id
 */
async function recordAt(kind, id) {
  const { status, value } = await ask(`/api/v1/${kind}/${id}`);
  const name = objectIn(value)?.[kind === 'user' ? 'username' : 'name'];
  return { status, hit: { kind, id, name: typeof name === 'string' ? name : String(id), is_current: true } };
}

/**
 * The record of a kind that has an id of the platform.
 * @param {string} kind
 * @param {string} text
 * @returns {Promise<readonly Match[]>}
 */
async function identifiedBy(kind, text) {
  const shard = await shardWith('platform_ids', kind, text);
  const found = listIn(shard?.platform_ids, isIdentified).filter((each) => each.platform_id === text);
  return Promise.all(found.map(async ({ id }) => (await recordAt(kind, id)).hit));
}

/**
 * One match for each record of a kind, those that have the name now first.
 * @param {string} kind
 * @param {readonly Match[]} matches
 * @returns {readonly Hit[]}
 */
function hitsOf(kind, matches) {
  /** @type {Map<number, Match>} */
  const records = new Map();
  for (const match of matches) if (match.is_current || !records.has(match.id)) records.set(match.id, match);
  return [...records.values()]
    .toSorted((a, b) => Number(b.is_current) - Number(a.is_current) || a.id - b.id)
    .map((match) => ({ ...match, kind }));
}

/**
 * What the generator wrote into a page.
 * @param {HTMLElement} host
 * @returns {Field}
 */
function fieldOf(host) {
  // oxlint-disable-next-line typescript/no-unsafe-return
  return JSON.parse(host.dataset['lookup'] ?? '');
}

/**
 * Gives a form its script: `data-lookup` says what it takes. The kind of the page's address is chosen first.
 * @param {HTMLElement} host
 */
function upgrade(host) {
  const [form, select, input] = [
    host.querySelector('form'),
    host.querySelector('select'),
    host.querySelector('input'),
  ];
  if (form === null || select === null || input === null || host.querySelector('.matches') !== null) return;
  const field = fieldOf(host);
  const hint = element('p', { class: 'hint', id: `${input.id}-hint` }, field.hint);
  input.setAttribute('aria-describedby', hint.id);
  const status = element('p', { class: 'status', role: 'status' });
  const list = element('ul', { class: 'matches' });
  form.append(hint, status, list);
  if (field.named.length > 0) suggest(input, field, () => select.value);

  let latest = 0;
  /** @param {string} words @param {boolean} isBad @param {readonly Node[]} found */
  const say = (words, isBad = false, found = []) => {
    status.textContent = words;
    status.classList.toggle('bad', isBad);
    list.replaceChildren(...found);
  };
  const had = field.hasFormer ? ' or had' : '';
  /** @param {Hit} hit */
  const linkTo = (hit) =>
    element(
      'li',
      {},
      ...called(hit, field, element('a', { href: `/${hit.kind}/${hit.id}` }, isolated(hit.name))),
    );
  /** The records of a kind that a text names. @param {string} kind @param {string} text */
  const hitsIn = async (kind, text) =>
    hitsOf(kind, [
      ...(field.identified.some((each) => each === kind) ? await identifiedBy(kind, text) : []),
      ...(field.named.some((each) => each === kind) ? await matchesOf(kind, text) : []),
    ]);
  /**
   * What there is of digits that are an id, and the name of other records.
   * @param {string} chosen kind
   * @param {string} id
   * @param {string} text as it was typed
   * @returns none if they are no such name, or names can't be looked up: the id leads on without them
   */
  const both = async (chosen, id, text) => {
    if (globalThis.crypto?.subtle === undefined) return [];
    const found = await hitsIn(chosen, text).catch((/** @type {unknown} */ error) => {
      if (error instanceof Refusal) return [];
      throw error;
    });
    const others = found.filter((hit) => hit.id !== Number(id));
    if (others.length === 0) return [];
    const own = await recordAt(chosen, Number(id));
    return own.status === 404 ? others : [own.hit, ...others];
  };
  /**
   * Opens the page of a record.
   * @param {string} kind
   * @param {number | string} id
   * @param {boolean} isFromAddress the way back must not lead to an address that leads on
   */
  const open = (kind, id, isFromAddress) => {
    say(OPENING);
    if (isFromAddress) location.replace(`/${kind}/${id}`);
    else location.assign(`/${kind}/${id}`);
  };
  /** @param {boolean} isFromAddress that of the page names what is sought */
  const seek = async (isFromAddress = false) => {
    latest += 1;
    const search = latest;
    const sought = soughtBy(input.value, field.kinds, field.identified.length > 0);
    if (sought.is === 'nothing') return say(sought.why, true);
    if (sought.is === 'record') {
      const kind = sought.kind ?? select.value;
      say(OPENING);
      const found = sought.name === undefined ? [] : await both(kind, sought.id, sought.name);
      if (search !== latest) return;
      if (found.length > 1)
        return say(`${found.length} records have${had} this id or name.`, false, found.map(linkTo));
      return open(kind, found[0]?.id ?? sought.id, isFromAddress);
    }
    const found = new Set([...field.named, ...field.identified]);
    const named = field.kinds.filter(({ kind }) => found.has(kind));
    const chosen = named.find(({ kind }) => kind === (sought.kind ?? select.value));
    const what = field.identified.length === 0 ? 'name' : field.named.length === 0 ? 'id' : 'id or name';
    if (named.length === 0) return say('Nothing can be found by name here. Enter an id or an address.', true);
    // Browsers hash only on https and on this machine.
    if (globalThis.crypto?.subtle === undefined)
      return say('Names can be looked up only on an https address, or on localhost. An id works here.', true);
    say('Searching …');
    try {
      /** @param {typeof named} kinds */
      const among = async (kinds) =>
        (await Promise.all(kinds.map(({ kind }) => hitsIn(kind, sought.name)))).flat();
      const own = chosen === undefined ? [] : await among([chosen]);
      const hits = own.length > 0 ? own : await among(named.filter((each) => each !== chosen));
      const first =
        hits.length > 0 || field.named.length === 0
          ? { names: hits, isAll: true }
          : await namesWith(sought.name, select.value);
      if (search !== latest) return;
      const [only, ...others] = first.names;
      if (only !== undefined && others.length === 0 && first.isAll)
        return open(only.kind, only.id, isFromAddress);
      const links = first.names.map(linkTo);
      if (hits.length > 0)
        return say(
          `${hits.length} ${own[0] ? chosen?.many : 'records'} have${had} this ${what}.`,
          false,
          links,
        );
      const none = `No published ${any.format(named.map(({ one }) => one))} has${had} exactly this ${what}.`;
      say(links.length > 0 ? `${none} These names begin with it:` : none, false, links);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      say(error.message, true);
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
  const offers = (/** @type {string | null | undefined} */ kind) =>
    [...select.options].some(({ value }) => value === kind);
  const [, place] = location.pathname.split('/');
  if (place !== undefined && offers(place)) select.value = place;

  // A form that was sent before this script ran.
  if (!ASKED_AT.test(location.pathname)) return;
  const query = new URLSearchParams(location.search);
  const asked = query.get('q');
  if (asked === null) return;
  const kind = query.get('kind');
  if (kind !== null && offers(kind)) select.value = kind;
  input.value = asked;
  void seek(true);
}

/** Once the script is loaded, and again for a form that comes later. */
export function upgradeAll() {
  for (const host of document.querySelectorAll('[data-lookup]'))
    if (host instanceof HTMLElement) upgrade(host);
}

upgradeAll();
