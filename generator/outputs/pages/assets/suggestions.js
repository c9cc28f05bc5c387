/**
 * Suggests records by the beginning of a name while somebody types it: a combobox with a list, as the ARIA
 * Authoring Practices have it. Nothing is loaded before the third letter.
 */
import { soughtBy } from '../address.js';
import { foldedName } from '../../../base/portable.js';
import { comparePoints, pagesWith } from '../name-search.js';
import { element, isComposing, isolated } from './dom.js';
import { isObject, listIn, objectIn } from './facts.js';
import { ask } from './request.js';

/**
 * @typedef {import('../lookup-field.js').LookupField} Field
 * @typedef {import('../name-search.js').NamePage} NamePage
 * @typedef {{ kind: string, id: number, name: string, is_current: boolean }} Named
 */

const INDEX = '/api/v1/lookup/names';
const LEAST_LETTERS = 3;
const MOST_SUGGESTIONS = 8;
/** Of a prefix that thousands of names have, the first ones are enough. What is loaded already is no request. */
const MOST_REQUESTS = 3;
/** Whoever types on within 150 ms isn't waiting for suggestions. */
const PAUSE_MS = 150;

/**
 * @param {unknown} value
 * @returns {value is NamePage}
 */
const isPage = (value) =>
  isObject(value) && typeof value.first === 'string' && typeof value.path === 'string';

/**
 * @param {unknown} value
 * @returns {value is Named}
 */
const isNamed = (value) =>
  isObject(value) &&
  typeof value.kind === 'string' &&
  typeof value.id === 'number' &&
  typeof value.name === 'string' &&
  'is_current' in value;

/** What was loaded, by path, until the page is left. @type {Map<string, Promise<unknown>>} */
const loaded = new Map();

/** @param {string} path */
async function loadOnce(path) {
  const { good, value } = await ask(path);
  if (good) return value;
  // It could not be loaded, or another snapshot was published: both are asked for again.
  for (const known of [path, INDEX]) loaded.delete(known);
  return undefined;
}

/** @param {string} path */
function load(path) {
  const loading = loaded.get(path) ?? loadOnce(path);
  loaded.set(path, loading);
  return loading;
}

/**
 * The first names that begin with a text, those of a record once and of the chosen kind first: until there are enough of
 * that, for pages may have few names.
 * @param {string} text
 * @param {string} chosen kind
 */
export async function namesWith(text, chosen) {
  const folded = foldedName(text);
  if (Array.from(folded).length < LEAST_LETTERS) return { names: [], isAll: false };
  let requests = loaded.has(INDEX) ? 0 : 1;
  const pages = pagesWith(listIn(objectIn(await load(INDEX))?.pages, isPage), folded);
  /** @type {Map<string, Named>} */
  const records = new Map();
  let isAll = false;
  for (const { path } of pages) {
    isAll = false;
    if ([...records.values()].filter(({ kind }) => kind === chosen).length >= MOST_SUGGESTIONS) break;
    if (!loaded.has(path)) requests += 1;
    if (requests > MOST_REQUESTS) break;
    const page = objectIn(await load(path));
    // What comes after it would not be the first.
    if (page === null) break;
    for (const each of listIn(page.names, isNamed)) {
      const record = `${each.kind}/${each.id}`;
      if (foldedName(each.name).startsWith(folded) && (each.is_current || !records.has(record)))
        records.set(record, each);
    }
    isAll = true;
  }
  const names = [...records.values()].toSorted(
    (a, b) =>
      Number(b.kind === chosen) - Number(a.kind === chosen) ||
      comparePoints(foldedName(a.name), foldedName(b.name)),
  );
  return { names: names.slice(0, MOST_SUGGESTIONS), isAll };
}

/**
 * A name, and whose it is or was.
 * @param {Named} record
 * @param {Field} field
 * @param {Node} name
 */
export const called = ({ kind, id, is_current: isCurrent }, field, name) => [
  !isCurrent && 'formerly ',
  name,
  element('span', { class: 'note' }, ` ${field.kinds.find((each) => each.kind === kind)?.one ?? kind} ${id}`),
];

/** Leads to the record of a suggestion. @param {Element | null | undefined} option */
function open(option) {
  const record = option instanceof HTMLElement ? option.dataset['record'] : undefined;
  if (record !== undefined) location.assign(record);
}

/**
 * Makes an input a combobox.
 * @param {HTMLInputElement} input
 * @param {Field} field
 * @param {() => string} chosenKind whose records are suggested first
 */
export function suggest(input, field, chosenKind) {
  const list = element('ul', {
    id: `${input.id}-suggestions`,
    class: 'suggestions',
    role: 'listbox',
    'aria-label': 'Records with such a name',
    hidden: true,
  });
  input.after(list);
  for (const [name, value] of Object.entries({
    role: 'combobox',
    'aria-autocomplete': 'list',
    'aria-expanded': 'false',
    'aria-controls': list.id,
  }))
    input.setAttribute(name, value);

  let latest = 0;
  /** The suggestion that the arrow keys have reached. @type {Element | undefined} */
  let active;

  /** @param {Element | undefined} option */
  const activate = (option) => {
    active?.setAttribute('aria-selected', 'false');
    option?.setAttribute('aria-selected', 'true');
    option?.scrollIntoView({ block: 'nearest' });
    if (option === undefined) input.removeAttribute('aria-activedescendant');
    else input.setAttribute('aria-activedescendant', option.id);
    active = option;
  };
  /** @param {readonly Named[]} records */
  const show = (records) => {
    activate(undefined);
    list.replaceChildren(
      ...records.map((record, index) =>
        element(
          'li',
          {
            id: `${list.id}-${index}`,
            role: 'option',
            'aria-selected': 'false',
            'data-record': `/${record.kind}/${record.id}`,
          },
          ...called(record, field, isolated(record.name)),
        ),
      ),
    );
    list.hidden = records.length === 0;
    input.setAttribute('aria-expanded', String(!list.hidden));
  };
  const close = () => {
    latest += 1;
    show([]);
  };
  const update = async () => {
    latest += 1;
    const typed = latest;
    const sought = soughtBy(input.value, field.kinds, field.identified.length > 0);
    const name = sought.is === 'nothing' ? '' : (sought.name ?? '');
    if (name === '') return show([]);
    await new Promise((settle) => setTimeout(settle, PAUSE_MS));
    if (typed !== latest) return;
    const { names } = await namesWith(name, chosenKind());
    if (typed === latest) show(names);
  };

  input.addEventListener('input', () => void update());
  input.addEventListener('blur', close);
  input.addEventListener('keydown', (event) => {
    if (isComposing(event)) return;
    const options = [...list.children];
    if (event.key === 'Escape' && !list.hidden) close();
    else if (event.key === 'Enter' && active !== undefined) open(active);
    else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && options.length > 0) {
      const at = active === undefined ? -1 : options.indexOf(active);
      // Beyond either end is the text itself.
      const next = event.key === 'ArrowDown' ? at + 1 : at < 0 ? options.length - 1 : at - 1;
      activate(options[next]);
    } else return;
    event.preventDefault();
  });
  // The field keeps the focus, since the list closes without it.
  list.addEventListener('pointerdown', (event) => event.preventDefault());
  list.addEventListener('click', ({ target }) => {
    if (target instanceof Element) open(target.closest('[role=option]'));
  });
  input.form?.addEventListener('submit', close);
}
