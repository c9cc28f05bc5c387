/**
 * Buttons that copy. Each `.copyable` holds a `code` element and gets a button that copies its
 * text. `data-copy` says what that is (`the command`), since a list of buttons of a page reads
 * "Copy, Copy, Copy" otherwise. Without script there are no buttons. A block that is wider than its
 * place can be scrolled by keyboard, in browsers that don't see to that themselves, too.
 */

const SHOWN_MILLISECONDS = 2000;

const announcements = document.createElement('p');
announcements.className = 'hidden';
announcements.role = 'status';
document.body.append(announcements);

const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.setAttribute('tabindex', '0');
    else target.removeAttribute('tabindex');
  }
});

for (const holder of document.querySelectorAll('.copyable')) makeCopyable(holder);

/** Gives a holder its button, unless it has it. @param {Element} holder */
export function makeCopyable(holder) {
  const code = holder.querySelector('code');
  if (code === null || holder.querySelector('button') !== null) return;
  holder.append(copyButton(code, holder.getAttribute('data-copy')));
  const block = code.closest('pre');
  // One whose text changes is always reached.
  if (block?.hasAttribute('tabindex') === false) sizes.observe(block);
}

/**
 * @param {Element} code
 * @param {string | null} what
 */
function copyButton(code, what) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  if (what !== null) button.ariaLabel = `Copy ${what}`;
  let timer = 0;
  const copy = async () => {
    const words = await copied(code);
    button.textContent = words;
    announcements.textContent = words;
    clearTimeout(timer);
    timer = setTimeout(() => {
      button.textContent = 'Copy';
      announcements.textContent = '';
    }, SHOWN_MILLISECONDS);
  };
  button.addEventListener('click', () => void copy());
  return button;
}

/**
 * Copies the text, or selects it where the browser does not allow that.
 * @param {Element} code
 * @returns {Promise<string>} what happened, in words
 */
async function copied(code) {
  try {
    await navigator.clipboard.writeText((code.textContent ?? '').trimEnd());
    return 'Copied';
  } catch {
    // There is no clipboard without TLS.
    getSelection()?.selectAllChildren(code);
    return 'Selected';
  }
}
