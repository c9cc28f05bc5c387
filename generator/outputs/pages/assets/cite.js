/** How to cite a record: what it is, of which snapshot, when it was read, under which licence. */
import { button, element } from './dom.js';
import { ask } from './request.js';
import { moment } from '../words.js';

/**
 * @typedef {object} Source
 * @property {string} title of the record: `Snowy River Workshop (group 45)`
 * @property {string} register
 * @property {string} url
 * @property {{ name: string, url: string }} licence
 * @property {string} readAt
 * @property {string} snapshot path of the snapshot's description
 */

/**
 * @param {unknown} value
 * @returns {value is { sequence: number }}
 */
const isNumbered = (value) =>
  typeof value === 'object' && value !== null && 'sequence' in value && typeof value.sequence === 'number';

/**
 * Fills a part with the sentence; the number of the snapshot is asked for only now.
 * @param {HTMLElement} part
 * @param {Source} source
 */
export async function cite(part, { title, register, url, licence, readAt, snapshot }) {
  part.replaceChildren(element('p', { class: 'note' }, 'One moment …'));
  const { value } = await ask(snapshot);
  const numbered = isNumbered(value) ? `, snapshot ${value.sequence}` : '';
  const sentence = `${title}. ${register}${numbered}, read ${moment(readAt)}. ${url}. ${licence.name}, ${licence.url}`;
  const status = element('span', { role: 'status', class: 'note' });
  const copyAll = async () => {
    try {
      await navigator.clipboard.writeText(sentence);
      status.textContent = ' Copied.';
    } catch {
      getSelection()?.selectAllChildren(text);
      status.textContent = ' The browser does not allow it here; the sentence is selected instead.';
    }
  };
  const copy = button('Copy', () => void copyAll());
  const text = element('p', {}, element('bdi', {}, sentence));
  part.replaceChildren(text, element('p', {}, copy, status));
}
