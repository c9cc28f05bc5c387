/** What the generator wrote into the page of a kind of records. */

/**
 * @typedef {'group' | 'user' | 'game' | 'item'} Kind
 * @typedef {import('./facts.js').Field} Field
 *
 * @typedef {object} Page
 * @property {Kind} kind
 * @property {string} name of the register
 * @property {string} base
 * @property {{ name: string, url: string }} licence
 * @property {{ guide: string, record: string, history?: string }} [log] the guide to the signed log, and names of routes in it; absent if there is none
 * @property {readonly Kind[]} kinds those with records
 * @property {{ page: string, record: string, history?: string, feed: string, snapshot: string }} paths
 * @property {readonly Field[]} fields
 */

/** @param {string} id */
export function part(id) {
  const found = document.getElementById(id);
  if (found === null) throw new TypeError(`the page has no #${id}`);
  return found;
}

/** @returns {Page} */
function readPage() {
  // oxlint-disable-next-line typescript/no-unsafe-return
  return JSON.parse(part('record-data').textContent ?? '');
}

export const page = readPage();
export const { kind, paths, fields } = page;

/** The kind, as a word at the start of a sentence. */
export const capital = kind.charAt(0).toUpperCase() + kind.slice(1);

/** @param {string} path @param {string} id */
export const filled = (path, id) => path.replace('{id}', id);
