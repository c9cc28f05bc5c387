/** What stands where something could not be loaded, until it is asked for again. */
import { button, element } from './dom.js';
import { countDown, type Answer } from './request.js';

const boxOf = (words: string, again: HTMLElement) =>
  element('div', { class: 'problem' }, element('p', { role: 'alert' }, words), again);

/** For a part of the page. */
export const unloaded = (words: string, retry: () => void) => boxOf(words, button('Try again', retry));

/** What to say where there is no response, or not the one hoped for; and how to get it. */
export function problem({ status, summary, waitSeconds }: Answer, what: string, retry: () => void) {
  if (status === 0)
    return unloaded(`${summary} ${what} could not be loaded. Check the connection, then try again.`, retry);
  if (status !== 429)
    return unloaded(
      `The service could not send ${what.toLowerCase()} (${status}). It usually recovers within minutes.`,
      retry,
    );
  const again = button('Try again', retry);
  const box = boxOf(
    `Too many requests came from your network. ${what} will be loaded when the next request is allowed.`,
    again,
  );
  // Once it is in the page.
  setTimeout(() =>
    countDown(waitSeconds, (left) => {
      if (!box.isConnected) return false;
      again.textContent = left > 0 ? `Try again in ${left} s` : 'Try again';
      again.disabled = left > 0;
      if (left === 0) retry();
      return true;
    }),
  );
  return box;
}
