/** A field that finds a record by its id, an address or a name. Upgrades each `<div data-lookup>`. */
import { soughtBy } from '../address.js';
import { element, isolated } from './dom.js';
import { isObject, listIn, objectIn } from './facts.js';
import { ask } from './request.js';

/**
 * @typedef {'group' | 'user' | 'game' | 'item'} Kind
 * @typedef {{ id: number, name: string, is_current: boolean }} Match
 * @typedef {{ path: string, digits: number }} Shards
 */

/** @type {readonly Kind[]} */
const KINDS = ['group', 'user', 'game', 'item'];
/** What the shards of names are called, by kind. @type {ReadonlyMap<string, 'group' | 'username'>} */
const NAMED = new Map([
  ['group', 'group'],
  ['user', 'username'],
]);
const HOW = '/api/v1/lookup';
const OPENING = 'Opening …';
/** Pages that a form without its script leads to: no record is at their address. */
const ASKED_AT = /^\/\w*$/;

/** @param {string} name as it is hashed */
const normal = (name) => name.normalize('NFKC').toLowerCase().normalize('NFKC');

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
 * The records of a kind that have or had a name.
 * @param {string} kind
 * @param {string} name
 * @returns {Promise<readonly Match[]>}
 */
async function matchesOf(kind, name) {
  const called = NAMED.get(kind);
  if (called === undefined) return [];
  shards ??= load(HOW);
  const found = await shards.catch((/** @type {unknown} */ error) => {
    shards = undefined;
    throw error;
  });
  const how = objectIn(objectIn(found)?.lookup)?.[called];
  if (!isShards(how)) throw new Refusal('This service does not look up names.');
  const wanted = normal(name);
  const shard = await load(how.path.replace('{prefix}', (await sha256(wanted)).slice(0, how.digits)));
  const entry = listIn(objectIn(shard)?.names, isEntry).find(({ name: hashed }) => hashed === wanted);
  return listIn(entry?.matches, isMatch);
}

/**
 * One link for each record, those that have the name now first.
 * @param {string} kind
 * @param {readonly Match[]} matches
 */
function linksTo(kind, matches) {
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
        element('span', { class: 'note' }, ` ${kind} ${id}`),
      ),
    );
}

let fieldsMade = 0;

/**
 * The parts of a field that has none yet.
 * @param {HTMLElement} host
 */
function makeForm(host) {
  fieldsMade += 1;
  const name = `lookup-${fieldsMade}`;
  const offered = (host.dataset['kinds'] ?? '').split(' ');
  const kinds = KINDS.filter((kind) => offered.includes(kind));
  const select = element('select', { id: `${name}-kind`, name: 'kind' });
  for (const kind of kinds.length === 0 ? KINDS : kinds)
    select.append(new Option(kind.charAt(0).toUpperCase() + kind.slice(1), kind));
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
    { action: '/group', class: 'lookup', role: 'search', 'aria-label': 'Records' },
    element(
      'div',
      { class: 'lookup-line' },
      element('div', {}, element('label', { for: `${name}-kind` }, 'Kind'), select),
      element('div', { class: 'lookup-text' }, element('label', { for: name }, 'Id, address or name'), input),
      element('button', { type: 'submit' }, 'Look up'),
    ),
  );
  host.append(form);
  return { form, select, input };
}

/**
 * Makes an element the field, or the form in it. `data-kinds` lists the kinds that the register has,
 * `data-kind` is the one that is chosen first, otherwise that of the page's address.
 * @param {HTMLElement} host
 */
export function upgrade(host) {
  if (host.querySelector('.matches') !== null) return;
  const there = {
    form: host.querySelector('form'),
    select: host.querySelector('select'),
    input: host.querySelector('input'),
  };
  const { form, select, input } =
    there.form !== null && there.select !== null && there.input !== null
      ? { form: there.form, select: there.select, input: there.input }
      : makeForm(host);
  const hint = element(
    'p',
    { class: 'hint', id: `${input.id}-hint` },
    'An id such as 45, any address that contains it, or the whole name of a group or user, today’s or a former one.',
  );
  input.setAttribute('aria-describedby', hint.id);
  const status = element('p', { class: 'status', role: 'status' });
  const list = element('ul', { class: 'matches' });
  form.append(hint, status, list);

  let latest = 0;
  /** @param {string} words @param {boolean} isBad @param {readonly Node[]} found */
  const say = (words, isBad = false, found = []) => {
    status.textContent = words;
    status.classList.toggle('bad', isBad);
    list.replaceChildren(...found);
  };
  /** @param {boolean} isFromAddress that of the page names what is sought */
  const seek = async (isFromAddress = false) => {
    latest += 1;
    const search = latest;
    const sought = soughtBy(input.value);
    if (sought.is === 'nothing') return say(sought.why, true);
    if (sought.is === 'record') {
      say(OPENING);
      const record = `/${sought.kind ?? select.value}/${sought.id}`;
      // The way back must not lead to an address that leads on.
      if (isFromAddress) location.replace(record);
      else location.assign(record);
      return;
    }
    if (!NAMED.has(select.value))
      return say(
        `Only groups and users can be found by name. For a ${select.value}, enter its id or address.`,
        true,
      );
    // Browsers hash only on https and on this machine.
    if (globalThis.crypto?.subtle === undefined)
      return say('Names can be looked up only on an https address, or on localhost. An id works here.', true);
    say('Searching …');
    try {
      const order = [...NAMED.keys()].toSorted((a) => (a === select.value ? -1 : 1));
      for (const kind of order) {
        const matches = await matchesOf(kind, sought.name);
        if (search !== latest) return;
        const links = linksTo(kind, matches);
        if (links.length === 0) continue;
        const records = links.length === 1 ? `One ${kind} has` : `${links.length} ${kind}s have`;
        return say(`${records} or had this name.`, false, links);
      }
      say('No published group or user has or had exactly this name.');
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
