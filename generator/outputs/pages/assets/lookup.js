/** A field that finds a record by its id, an address, a name or the platform's id. Upgrades each `<div data-lookup>`. */
import { soughtBy } from '../address.js';
import { foldedName } from '../../../base/portable.js';
import { element, isolated } from './dom.js';
import { isObject, listIn, objectIn } from './facts.js';
import { ask } from './request.js';
import { suggest } from './suggestions.js';
import { capitalized, withArticle } from '../../../schema/words.js';

/**
 * @typedef {import('../lookup-field.js').LookupField} Field
 * @typedef {{ id: number, name: string, is_current: boolean }} Match
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
 * The record of a kind that has an id of the platform, as if that were its name.
 * @param {string} kind
 * @param {string} text
 * @returns {Promise<readonly Match[]>}
 */
async function identifiedBy(kind, text) {
  const shard = await shardWith('platform_ids', kind, text);
  return listIn(shard?.platform_ids, isIdentified)
    .filter(({ platform_id: platformId }) => platformId === text)
    .map(({ id }) => ({ id, name: text, is_current: true }));
}

/**
 * One link for each record, those that have the name now first.
 * @param {Field['kinds'][number]} kind
 * @param {readonly Match[]} matches
 */
function linksTo({ kind, one }, matches) {
  /** @type {Map<number, Match>} */
  const records = new Map();
  for (const match of matches) if (match.is_current || !records.has(match.id)) records.set(match.id, match);
  return [...records.values()]
    .toSorted((a, b) => Number(b.is_current) - Number(a.is_current) || a.id - b.id)
    .map(({ id, name, is_current: isCurrent }) =>
      element(
        'li',
        {},
        !isCurrent && 'formerly ',
        element('a', { href: `/${kind}/${id}` }, isolated(name)),
        element('span', { class: 'note' }, ` ${one} ${id}`),
      ),
    );
}

let fieldsMade = 0;

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
 * The parts of a field that has none yet.
 * @param {HTMLElement} host
 * @param {Field} field
 */
function makeForm(host, { action, kinds, label }) {
  fieldsMade += 1;
  const name = `lookup-${fieldsMade}`;
  const select = element('select', { id: `${name}-kind`, name: 'kind' });
  for (const { kind, one } of kinds) select.append(new Option(capitalized(one), kind));
  const input = element('input', {
    id: name,
    name: 'q',
    type: 'text',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
  });
  const form = element(
    'form',
    { action, class: 'lookup', role: 'search', 'aria-label': 'Records' },
    element(
      'div',
      { class: 'lookup-line' },
      element('div', {}, element('label', { for: `${name}-kind` }, 'Kind'), select),
      element('div', { class: 'lookup-text' }, element('label', { for: name }, label), input),
      element('button', { type: 'submit' }, 'Look up'),
    ),
  );
  host.append(form);
  return { form, select, input };
}

/**
 * Makes an element the field, or the form in it. `data-lookup` says what it takes, `data-kind` is the
 * kind that is chosen first, otherwise that of the page's address.
 * @param {HTMLElement} host
 */
export function upgrade(host) {
  if (host.querySelector('.matches') !== null) return;
  const field = fieldOf(host);
  const there = {
    form: host.querySelector('form'),
    select: host.querySelector('select'),
    input: host.querySelector('input'),
  };
  const { form, select, input } =
    there.form !== null && there.select !== null && there.input !== null
      ? { form: there.form, select: there.select, input: there.input }
      : makeForm(host, field);
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
  /** The records of a kind that a text names. @param {string} kind @param {string} text */
  const matchesIn = async (kind, text) => [
    ...(field.identified.some((each) => each === kind) ? await identifiedBy(kind, text) : []),
    ...(field.named.some((each) => each === kind) ? await matchesOf(kind, text) : []),
  ];
  /**
   * What there is of digits that are an id, and the name of other records.
   * @param {string} chosen kind
   * @param {string} id
   * @param {string} text as it was typed
   * @returns undefined if they are no such name, or names can't be looked up: the id leads on without them
   */
  const both = async (chosen, id, text) => {
    const kind = field.kinds.find((each) => each.kind === chosen);
    if (kind === undefined || globalThis.crypto?.subtle === undefined) return undefined;
    const matches = await matchesIn(chosen, text).catch((/** @type {unknown} */ error) => {
      if (error instanceof Refusal) return [];
      throw error;
    });
    const others = linksTo(
      kind,
      matches.filter((match) => match.id !== Number(id)),
    );
    if (others.length === 0) return undefined;
    const { good, status: code, value } = await ask(`/api/v1/${chosen}/${id}`);
    const named = `${others.length === 1 ? 'one has' : `${others.length} have`}${had} this name.`;
    if (code === 404) return { words: `No ${kind.one} has this id, and ${named}`, links: others };
    if (!good) return undefined;
    const name = objectIn(value)?.[chosen === 'user' ? 'username' : 'name'];
    const own = { id: Number(id), name: typeof name === 'string' ? name : id, is_current: true };
    return {
      words: `One ${kind.one} has this id, and ${named}`,
      links: [...linksTo(kind, [own]), ...others],
    };
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
      const found = sought.name === undefined ? undefined : await both(kind, sought.id, sought.name);
      if (search !== latest) return;
      if (found !== undefined) return say(found.words, false, found.links);
      const record = `/${kind}/${sought.id}`;
      // The way back must not lead to an address that leads on.
      if (isFromAddress) location.replace(record);
      else location.assign(record);
      return;
    }
    const found = new Set([...field.named, ...field.identified]);
    const named = field.kinds.filter(({ kind }) => found.has(kind));
    const chosen = field.kinds.find(({ kind }) => kind === (sought.kind ?? select.value));
    const what = field.identified.length === 0 ? 'name' : field.named.length === 0 ? 'id' : 'id or name';
    if (named.length === 0) return say('Nothing can be found by name here. Enter an id or an address.', true);
    if (chosen !== undefined && !named.includes(chosen))
      return say(
        `Only ${named.map(({ many }) => many).join(' and ')} can be found by ${what === 'name' ? what : `the platform’s ${what}`}. ` +
          `For ${withArticle(chosen.one)}, enter its id or address.`,
        true,
      );
    // Browsers hash only on https and on this machine.
    if (globalThis.crypto?.subtle === undefined)
      return say('Names can be looked up only on an https address, or on localhost. An id works here.', true);
    say('Searching …');
    try {
      for (const each of named.toSorted((a) => (a === chosen ? -1 : 1))) {
        const links = linksTo(each, await matchesIn(each.kind, sought.name));
        if (search !== latest) return;
        if (links.length === 0) continue;
        const records = links.length === 1 ? `One ${each.one} has` : `${links.length} ${each.many} have`;
        return say(`${records}${had} this ${what}.`, false, links);
      }
      say(
        `No published ${any.format(named.map(({ one }) => one))} has${had} exactly this ${what}.${field.named.length > 0 ? ' While you type, names that begin so are suggested.' : ''}`,
      );
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
  const preferred = host.dataset['kind'] ?? place;
  if (offers(preferred)) select.value = preferred;

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

for (const host of document.querySelectorAll('[data-lookup]')) if (host instanceof HTMLElement) upgrade(host);
