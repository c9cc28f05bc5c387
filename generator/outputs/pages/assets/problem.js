/** What stands where something could not be loaded, until it is asked for again. */
import { button, element } from './dom.js';

/**
 * What to say where there is no response, or not the one hoped for; and how to get it.
 * @param {import('./request.js').Answer} answer
 * @param {string} what
 * @param {() => void} retry
 */
export function problem({ status: code, summary: said, waitSeconds }, what, retry) {
  const again = button('Try again', retry);
  const words = element('p', { role: 'alert' });
  const box = element('div', { class: 'problem' }, words, again);
  if (code !== 429) {
    words.textContent =
      code === 0
        ? `${said} ${what} could not be loaded. Check the connection, then try again.`
        : `The service could not send ${what.toLowerCase()} (${code}). It usually recovers within minutes.`;
    return box;
  }
  words.textContent = `Too many requests came from your network. ${what} will be loaded when the next request is allowed.`;
  const end = performance.now() + waitSeconds * 1000;
  const tick = () => {
    if (!box.isConnected) return;
    const left = Math.ceil((end - performance.now()) / 1000);
    again.textContent = left > 0 ? `Try again in ${left} s` : 'Try again';
    again.disabled = left > 0;
    if (left > 0) setTimeout(tick, 250);
    else retry();
  };
  setTimeout(tick);
  return box;
}
