/** What the generator wrote into the page of a kind of records. */
import { capitalized } from '../../../schema/words.js';

/**
 * @typedef {'group' | 'user' | 'game' | 'item'} Kind
 * @typedef {import('./facts.js').Field} Field
 *
 * @typedef {object} Page
 * @property {Kind} kind
 * @property {string} name of the register
 * @property {string} base
 * @property {{ name: string, url: string }} licence
 * @property {Readonly<Record<Kind, import('../../../schema/words.js').Word>>} words what the kinds are called
 * @property {readonly string[]} kinds those that the register has
 * @property {{ page: string, record: string, history?: string, feed?: string, snapshot: string, docs: string, embed: string }} paths of what there is
 * @property {readonly Field[]} fields those that the register measures
 * @property {{ path: string, list: string, column: string, by: string }} [standing] the list of the first of the kind, and what it is by
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

/** What a record is called, several of them are, and one is at the start of a sentence. */
export const { one, many } = page.words[kind];
export const capital = capitalized(one);

/** Whether the register measures a field. @param {string} name */
export const has = (name) => fields.some((field) => field.name === name);

/** @param {string} path @param {string} id */
export const filled = (path, id) => path.replace('{id}', id);
