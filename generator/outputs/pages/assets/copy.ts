/**
 * Buttons that copy. Each `.copyable` holds a `code` element and gets a button that copies its
 * text. `data-copy` says what that is (`the command`), since a list of buttons of a page reads
 * "Copy, Copy, Copy" otherwise. Without script there are no buttons. A block that is wider than its
 * place can be scrolled by keyboard, in browsers that don't see to that themselves, too.
 */
import { copied } from './dom.js';

const SHOWN_MILLISECONDS = 2000;

const announcements = Object.assign(document.createElement('p'), { className: 'hidden', role: 'status' });
document.body.append(announcements);

const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.setAttribute('tabindex', '0');
    else target.removeAttribute('tabindex');
  }
});

for (const holder of document.querySelectorAll('.copyable')) makeCopyable(holder);

/** Gives a holder its button, unless it has it. */
export function makeCopyable(holder: Element) {
  const code = holder.querySelector('code');
  if (code === null || holder.querySelector('button') !== null) return;
  const what = holder.getAttribute('data-copy');
  let timer = 0;
  const copy = async () => {
    const words = (await copied((code.textContent ?? '').trimEnd(), code)) ? 'Copied' : 'Selected';
    copier.textContent = announcements.textContent = words;
    clearTimeout(timer);
    timer = setTimeout(() => {
      copier.textContent = 'Copy';
      announcements.textContent = '';
    }, SHOWN_MILLISECONDS);
  };
  const copier = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Copy' });
  if (what !== null) copier.ariaLabel = `Copy ${what}`;
  copier.addEventListener('click', () => void copy());
  holder.append(copier);
  const block = code.closest('pre');
  // One whose text changes is always reached.
  if (block?.hasAttribute('tabindex') === false) sizes.observe(block);
}
