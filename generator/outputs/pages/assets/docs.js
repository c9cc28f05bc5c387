/** The documentation: contents that follow the reader, search, and addresses of old. */
import { isComposing } from './dom.js';
import { highlight } from './highlight.js';

/** Marks in the contents which heading is being read: the last one that has passed the upper third. */
function followHeadings() {
  const links = [...document.querySelectorAll('.headings a')];
  const headings = links.flatMap(
    (link) => document.getElementById(link.getAttribute('href')?.slice(1) ?? '') ?? [],
  );
  const mark = () => {
    const end = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const passed = headings.findLastIndex((heading) => heading.getBoundingClientRect().top < innerHeight / 3);
    const present = end ? headings.length - 1 : passed;
    for (const [index, link] of links.entries()) {
      if (index === present) link.setAttribute('aria-current', 'location');
      else link.removeAttribute('aria-current');
    }
  };
  const observer = new IntersectionObserver(mark, { rootMargin: '0px 0px -66% 0px' });
  for (const heading of headings) observer.observe(heading);
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

/**
 * @typedef {readonly [isHeading: 0 | 1, id: string, text: string, words: string]} Place
 * @typedef {{ path: string, title: string, places: readonly Place[] }} Page
 * @typedef {{ path: string, text: string, about: string, words: string, isHeading: boolean }} Hit
 */

/** @type {Promise<readonly Hit[]> | undefined} */
let known;

/** All that can be found, fetched when it is first needed. @param {HTMLElement} search */
const hitsOf = (search) =>
  (known ??= readHits(search.dataset['index'] ?? '').catch((/** @type {unknown} */ error) => {
    // The next search asks again.
    known = undefined;
    throw error;
  }));

/** @param {string} path */
async function readHits(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(response.statusText);
  // The generator wrote it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { pages } = /** @type {{ pages: readonly Page[] }} */ (await response.json());
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
 * @param {readonly Hit[]} hits
 * @param {string} query
 */
function find(hits, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return hits
    .flatMap((hit) => {
      const text = hit.text.toLowerCase();
      const around = `${text} ${hit.about.toLowerCase()}`;
      const isIn = (/** @type {string} */ place) => words.every((word) => place.includes(word));
      if (!isIn(`${around} ${hit.words}`)) return [];
      const rank =
        text === query ? 0 : isIn(text) ? (text.startsWith(words[0]) ? 1 : 2) : isIn(around) ? 3 : 4;
      return [{ hit, rank: 2 * rank + (hit.isHeading ? 0 : 1) }];
    })
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ hit }) => hit);
}

const SHOWN_HITS = 12;

/** @param {Hit} hit */
function itemOf({ path, text, about }) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  const note = document.createElement('span');
  link.href = path;
  link.textContent = text;
  note.textContent = about;
  link.append(note);
  item.append(link);
  return item;
}

/** @param {HTMLElement} search */
function makeSearch(search) {
  const input = search.querySelector('input');
  const [found, results, pages] = ['found', 'results', 'pages'].map((id) => document.getElementById(id));
  const toggle = document.querySelector('details.toggle');
  if (!input || !found || !results || !pages) return;
  const show = async () => {
    const query = input.value.trim().toLowerCase();
    /** @type {readonly Hit[]} */
    let hits = [];
    let summary = '';
    if (query !== '') {
      try {
        hits = find(await hitsOf(search), query);
        summary = hits.length === 0 ? 'No results.' : `${hits.length} found`;
      } catch {
        summary = 'The search could not be loaded.';
      }
    }
    // Another letter may have come meanwhile.
    if (query !== input.value.trim().toLowerCase()) return;
    results.replaceChildren(...hits.slice(0, SHOWN_HITS).map(itemOf));
    results.hidden = hits.length === 0;
    pages.hidden = query !== '';
    found.textContent = summary;
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
  results.addEventListener('click', () => {
    if (toggle instanceof HTMLDetailsElement) toggle.open = false;
  });
}

/** All was on one page once: an address of then leads to where its anchor, or its page, is now. */
async function followOldAddress() {
  const id = idOfHash();
  const search = document.querySelector('[data-index]');
  if (id === '' || !(search instanceof HTMLElement)) return;
  // Where they can't be loaded, the address leads to the top of the page.
  const hits = await hitsOf(search).catch(() => []);
  const hit =
    hits.find(({ path }) => path.endsWith(`#${id}`)) ?? hits.find(({ path }) => path.endsWith(`/${id}`));
  if (hit) location.replace(hit.path);
}

for (const code of document.querySelectorAll('code.json')) highlight(code, code.textContent ?? '');
for (const search of document.querySelectorAll('[data-index]'))
  if (search instanceof HTMLElement) makeSearch(search);
followHeadings();
addEventListener('hashchange', reveal);
for (const link of document.querySelectorAll('.headings a'))
  link.addEventListener('click', () => document.querySelector('details.toggle')?.removeAttribute('open'));
if (location.hash !== '' && !reveal()) void followOldAddress();
