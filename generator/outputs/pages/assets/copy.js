/**
 * Buttons that copy. Each `.copyable` holds a `code` element and gets a button that copies its
 * text. `data-copy` says what that is (`the command`), since a list of buttons of a page reads
 * "Copy, Copy, Copy" otherwise. Without script there are no buttons.
 */

const SHOWN_MILLISECONDS = 2000;

const announcements = document.createElement('p');
announcements.className = 'hidden';
announcements.role = 'status';
document.body.append(announcements);

for (const holder of document.querySelectorAll('.copyable')) {
  const code = holder.querySelector('code');
  if (code !== null) holder.append(copyButton(code, holder.getAttribute('data-copy')));
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
  button.addEventListener('click', async () => {
    const words = await copied(code);
    button.textContent = words;
    announcements.textContent = words;
    clearTimeout(timer);
    timer = setTimeout(() => {
      button.textContent = 'Copy';
      announcements.textContent = '';
    }, SHOWN_MILLISECONDS);
  });
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
