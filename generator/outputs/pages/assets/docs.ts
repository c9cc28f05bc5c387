/** The documentation: contents that follow the reader, search, and addresses of old. */
import type { SearchIndex } from '../page-data.js';
import { isComposing } from './dom.js';
import { highlight } from './highlight.js';

/** Marks in the contents which heading is being read: the last one that has passed the upper third. */
function followHeadings() {
  const links = [...document.querySelectorAll('.headings a')];
  const headings = links.flatMap(
    (each) => document.getElementById(each.getAttribute('href')?.slice(1) ?? '') ?? [],
  );
  const mark = () => {
    const end = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const passed = headings.findLastIndex((heading) => heading.getBoundingClientRect().top < innerHeight / 3);
    const present = end ? headings.length - 1 : passed;
    for (const [index, each] of links.entries()) {
      if (index === present) each.setAttribute('aria-current', 'location');
      else each.removeAttribute('aria-current');
    }
  };
  for (const event of ['scroll', 'resize']) addEventListener(event, mark, { passive: true });
  mark();
}

/** The id in the address; none if its escapes are broken. */
function idOfHash() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return '';
  }
}

/** Opens what the target of the address is folded into. */
function reveal() {
  const target = document.getElementById(idOfHash());
  for (let at = target?.parentElement; at; at = at.parentElement)
    if (at instanceof HTMLDetailsElement) at.open = true;
  target?.scrollIntoView();
  return target !== null;
}

interface Hit {
  readonly path: string;
  readonly text: string;
  readonly about: string;
  readonly words: string;
  readonly isHeading: boolean;
}

let known: Promise<readonly Hit[]> | undefined;

/** All that can be found, fetched when it is first needed; after a failure, once more. */
const hitsOf = (search: HTMLElement) =>
  (known ??= readHits(search.dataset['index'] ?? '').catch((error: unknown) => {
    known = undefined;
    throw error;
  }));

async function readHits(path: string): Promise<readonly Hit[]> {
  const response = await fetch(path);
  if (!response.ok) throw new Error(response.statusText);
  // The generator wrote it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { pages } = (await response.json()) as SearchIndex;
  return pages.flatMap(({ path: page, title, places }) => {
    let heading = title;
    const top = { path: page, text: title, about: 'Documentation', words: '', isHeading: true };
    const inside = places.map(([isHeading, id, text, words]) => {
      if (isHeading) heading = text.replace(/^GET /, '');
      const about = isHeading ? title : `${title}: ${heading}`;
      return { path: `${page}#${id}`, text, about, words, isHeading: isHeading === 1 };
    });
    return [top, ...inside];
  });
}

/**
 * The places that have every word, the best first: in their own text, at its start, in a heading; then
 * in what they are about, or in the words below them.
 */
function find(hits: readonly Hit[], query: string) {
  const words = query.split(/\s+/);
  return hits
    .flatMap((hit) => {
      const text = hit.text.toLowerCase();
      const around = `${text} ${hit.about.toLowerCase()}`;
      const isIn = (place: string) => words.every((word) => place.includes(word));
      if (!isIn(`${around} ${hit.words}`)) return [];
      const isFirst = text.startsWith(words[0] ?? '');
      const rank = text === query ? 0 : isIn(text) ? (isFirst ? 1 : 2) : isIn(around) ? 3 : 4;
      return [{ hit, rank: 2 * rank + (hit.isHeading ? 0 : 1) }];
    })
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ hit }) => hit);
}

const SHOWN_HITS = 12;

function itemOf({ path, text, about }: Hit) {
  const note = Object.assign(document.createElement('span'), { textContent: about });
  const link = Object.assign(document.createElement('a'), { href: path, textContent: text });
  link.append(note);
  const item = document.createElement('li');
  item.append(link);
  return item;
}

function makeSearch(search: HTMLElement) {
  const input = search.querySelector('input');
  const [found, results, pages] = ['found', 'results', 'pages'].map((id) => document.getElementById(id));
  if (!input || !found || !results || !pages) return;
  const queryOf = () => input.value.trim().toLowerCase();
  const show = async () => {
    const query = queryOf();
    const hits =
      query === ''
        ? []
        : await hitsOf(search).then(
            (all) => find(all, query),
            () => undefined,
          );
    // Another letter may have come meanwhile.
    if (query !== queryOf()) return;
    const items = (hits ?? []).slice(0, SHOWN_HITS).map(itemOf);
    results.replaceChildren(...items);
    results.hidden = items.length === 0;
    pages.hidden = query !== '';
    if (hits === undefined) found.textContent = 'The search could not be loaded.';
    else found.textContent = query === '' ? '' : hits.length === 0 ? 'No results.' : `${hits.length} found`;
  };
  input.addEventListener('input', () => void show());
  input.addEventListener('keydown', (event) => {
    if (isComposing(event)) return;
    const { key } = event;
    if (key === 'Enter') results.querySelector('a')?.click();
    if (key !== 'Escape') return;
    input.value = '';
    void show();
  });
}

/** All was on one page once: an address of then leads to where its anchor, or its page, is now. */
async function followOldAddress() {
  const id = idOfHash();
  const search = document.querySelector<HTMLElement>('[data-index]');
  if (id === '' || search === null) return;
  // Where they can't be loaded, the address leads to the top of the page.
  const hits = await hitsOf(search).catch(() => []);
  const hit =
    hits.find(({ path }) => path.endsWith(`#${id}`)) ?? hits.find(({ path }) => path.endsWith(`/${id}`));
  if (hit) location.replace(hit.path);
}

for (const code of document.querySelectorAll('code.json')) highlight(code, code.textContent ?? '');
for (const search of document.querySelectorAll<HTMLElement>('[data-index]')) makeSearch(search);
followHeadings();
addEventListener('hashchange', reveal);
// On phones, the contents are folded away once they have led on.
for (const place of document.querySelectorAll('.headings, #results'))
  place.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('a'))
      document.querySelector('details.toggle')?.removeAttribute('open');
  });
if (location.hash !== '' && !reveal()) void followOldAddress();
