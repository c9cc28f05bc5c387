/** Makes elements. Texts become text nodes, so whatever is in a name stays text. */

import { cut } from '../words.js';

/** @typedef {Node | string | null | undefined | false} Child */

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Readonly<Record<string, string | boolean | undefined>>} attributes true for one without a value
 * @param {readonly Child[]} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? '' : value);
  made.append(...present(children));
  return made;
}

/**
 * What there is of some children.
 * @param {readonly Child[]} children
 * @returns {(Node | string)[]}
 */
export const present = (children) =>
  children.flatMap((child) => (child === null || child === undefined || child === false ? [] : [child]));

/** What was not measured, hatched. @param {string} words */
export const none = (words) => element('span', { class: 'none' }, element('span', {}, words));

/** A measured name, whatever its direction; one of thousands of characters is cut. @param {string} name */
export const isolated = (name) => element('bdi', {}, cut(name));

/**
 * A time, for people and programs.
 * @param {string} iso
 * @param {string} words
 */
export const time = (iso, words) => element('time', { datetime: iso }, words);

/**
 * A button that does something.
 * @param {string} words
 * @param {() => void} act
 * @param {Readonly<Record<string, string>>} attributes
 */
export function button(words, act, attributes = {}) {
  const made = element('button', { type: 'button', ...attributes }, words);
  made.addEventListener('click', act);
  return made;
}

/**
 * Whether a key belongs to an input method, which has letters to choose from. Safari says so by the code 229 alone of
 * the key that ends the choice.
 * @param {KeyboardEvent} event
 */
export const isComposing = ({ isComposing: is, keyCode }) => is || keyCode === 229;

/**
 * What stands where a part of the page could not be loaded.
 * @param {string} words
 * @param {() => void} retry
 */
export const unloaded = (words, retry) =>
  element('div', { class: 'problem' }, element('p', { role: 'alert' }, words), button('Try again', retry));
