/**
 * Suggests records by the beginning of a name while somebody types it: a combobox with a list, as the ARIA
 * Authoring Practices have it. Nothing is loaded before the third letter.
 */
import { foldedName } from '../../../base/portable.js';
import { soughtBy } from '../address.js';
import type { LookupField } from '../page-data.js';
import { comparePoints, pagesWith } from '../name-search.js';
import { element, isComposing, isolated } from './dom.js';
import { askOnce, forget, isAsked } from './request.js';
import { listIn, objectIn, shaped } from './values.js';

/** A record, by a name that it has or had. */
export interface Named {
  readonly kind: string;
  readonly id: number;
  readonly name: string;
  readonly is_current: boolean;
}

const INDEX = '/api/v1/lookup/names';
const LEAST_LETTERS = 3;
const MOST_SUGGESTIONS = 8;
/** Of a prefix that thousands of names have, the first ones are enough. What is loaded already is no request. */
const MOST_REQUESTS = 3;
/** Whoever types on within 150 ms isn't waiting for suggestions. */
const PAUSE_MS = 150;

const isPage = shaped({ first: 'string', path: 'string' });
const isNamed = shaped({ kind: 'string', id: 'number', name: 'string', is_current: 'boolean' });

async function load(path: string) {
  const { good, value } = await askOnce(path);
  if (good) return objectIn(value);
  // Another snapshot may have been published.
  forget(INDEX);
  return null;
}

/** One of each record: by the name that it has now, if that is among them. */
export function onceEach<T extends Named>(all: Iterable<T>): T[] {
  const records = new Map<string, T>();
  for (const each of all) {
    const record = `${each.kind}/${each.id}`;
    if (each.is_current || !records.has(record)) records.set(record, each);
  }
  return [...records.values()];
}

/**
 * The first names that begin with a text, those of a record once and of the chosen kind first: until there are enough of
 * that, for pages may have few names.
 */
export async function namesWith(text: string, chosen: string) {
  const folded = foldedName(text);
  if (Array.from(folded).length < LEAST_LETTERS) return { names: [], isAll: false };
  let requests = isAsked(INDEX) ? 0 : 1;
  const pages = pagesWith(listIn((await load(INDEX))?.['pages'], isPage), folded);
  let records: Named[] = [];
  let isAll = false;
  for (const { path } of pages) {
    isAll = false;
    if (records.filter(({ kind }) => kind === chosen).length >= MOST_SUGGESTIONS) break;
    if (!isAsked(path)) requests += 1;
    if (requests > MOST_REQUESTS) break;
    const page = await load(path);
    // What comes after it would not be the first.
    if (page === null) break;
    const found = listIn(page['names'], isNamed).filter(({ name }) => foldedName(name).startsWith(folded));
    records = onceEach([...records, ...found]);
    isAll = true;
  }
  const names = records.toSorted(
    (a, b) =>
      Number(b.kind === chosen) - Number(a.kind === chosen) ||
      comparePoints(foldedName(a.name), foldedName(b.name)),
  );
  return { names: names.slice(0, MOST_SUGGESTIONS), isAll };
}

/** A name, and whose it is or was. */
export const called = ({ kind, id, is_current: isCurrent }: Named, field: LookupField, name: Node) => [
  !isCurrent && 'formerly ',
  name,
  element('span', { class: 'note' }, ` ${field.kinds.find((each) => each.kind === kind)?.one ?? kind} ${id}`),
];

/**
 * Makes an input a combobox.
 * @param chosenKind whose records are suggested first
 */
export function suggest(input: HTMLInputElement, field: LookupField, chosenKind: () => string) {
  const list = element('ul', {
    id: `${input.id}-suggestions`,
    class: 'suggestions',
    role: 'listbox',
    'aria-label': 'Records with such a name',
    hidden: true,
  });
  input.after(list);
  input.setAttribute('role', 'combobox');
  input.setAttribute('aria-autocomplete', 'list');
  input.setAttribute('aria-expanded', 'false');
  input.setAttribute('aria-controls', list.id);

  let latest = 0;
  /** What is suggested, and where it leads. */
  let options: readonly { readonly item: HTMLElement; readonly record: string }[] = [];
  /** Which of them the arrow keys have reached: beyond either end is the text itself. */
  let active = -1;

  const activate = (at: number) => {
    active = at;
    for (const [index, { item }] of options.entries())
      item.setAttribute('aria-selected', String(index === at));
    const item = options[at]?.item;
    item?.scrollIntoView({ block: 'nearest' });
    if (item === undefined) input.removeAttribute('aria-activedescendant');
    else input.setAttribute('aria-activedescendant', item.id);
  };
  const show = (records: readonly Named[]) => {
    options = records.map((named, index) => {
      const record = `/${named.kind}/${named.id}`;
      const id = `${list.id}-${index}`;
      const item = element('li', { id, role: 'option' }, ...called(named, field, isolated(named.name)));
      item.addEventListener('click', () => location.assign(record));
      return { item, record };
    });
    activate(-1);
    list.replaceChildren(...options.map(({ item }) => item));
    list.hidden = records.length === 0;
    input.setAttribute('aria-expanded', String(!list.hidden));
  };
  const close = () => {
    latest += 1;
    show([]);
  };
  const update = async () => {
    latest += 1;
    activate(-1);
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
    const { key } = event;
    const reached = options[active];
    if (key === 'Escape' && !list.hidden) close();
    else if (key === 'Enter' && reached !== undefined) location.assign(reached.record);
    else if (key === 'ArrowDown' && options.length > 0)
      activate(active + 1 < options.length ? active + 1 : -1);
    else if (key === 'ArrowUp' && options.length > 0) activate((active < 0 ? options.length : active) - 1);
    else return;
    event.preventDefault();
  });
  // The field keeps the focus, since the list closes without it.
  list.addEventListener('pointerdown', (event) => event.preventDefault());
  input.form?.addEventListener('submit', close);
}
