/** Makes elements. Texts become text nodes, so whatever is in a name stays text. */
import { cut } from '../words.js';

export type Child = Node | string | null | undefined | false;

/** @param attributes true for one without a value, false or undefined for none */
export function element<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes: Readonly<Record<string, string | boolean | undefined>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[T] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? '' : value);
  made.append(...present(children));
  return made;
}

/** What there is of some children. */
export const present = (children: readonly Child[]) =>
  children.filter((child) => child !== null && child !== undefined && child !== false);

/** An element that the page has. */
export function part<T extends Element = HTMLElement>(id: string, type?: new () => T): T;
export function part(id: string, type: new () => Element = HTMLElement): Element {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new TypeError(`the page has no #${id} of the kind expected`);
  return found;
}

/** What was not measured, hatched. */
export const none = (words: string) => element('span', { class: 'none' }, element('span', {}, words));

/** A measured name, whatever its direction; one of thousands of characters is cut. */
export const isolated = (name: string) => element('bdi', {}, cut(name));

/** A time, for people and programs. */
export const time = (iso: string, words: string) => element('time', { datetime: iso }, words);

export const link = (href: string, ...words: readonly Child[]) => element('a', { href }, ...words);

/** A button that does something. */
export function button(words: string, act: () => void, attributes: Readonly<Record<string, string>> = {}) {
  const made = element('button', { type: 'button', ...attributes }, words);
  made.addEventListener('click', act);
  return made;
}

/**
 * Whether a key belongs to an input method, which has letters to choose from. Safari says so by the code 229 alone of
 * the key that ends the choice.
 */
export const isComposing = ({ isComposing: is, keyCode }: KeyboardEvent) => is || keyCode === 229;

/**
 * Copies a text, or selects what has it where the browser does not allow that: there is no clipboard without TLS.
 * @returns whether it was copied
 */
export async function copied(text: string, place: Node): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection()?.selectAllChildren(place);
    return false;
  }
}
