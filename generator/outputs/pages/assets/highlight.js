/** JSON in colours. Text nodes only, so whatever is in a name stays text. */

/** A string, with the colon after it where it names a member; a number; a word. */
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g;

/**
 * Replaces the content of an element by coloured JSON.
 * @param {Element} element
 * @param {string} text JSON, or a part of it
 */
export function highlight(element, text) {
  const pieces = document.createDocumentFragment();
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [token, string, colon] = match;
    pieces.append(text.slice(end, match.index));
    end = match.index + token.length;
    if (string !== undefined && colon !== undefined) pieces.append(span('json-name', string), colon);
    else
      pieces.append(
        span(
          string !== undefined ? 'json-string' : /^[tfn]/.test(token) ? 'json-word' : 'json-number',
          token,
        ),
      );
  }
  pieces.append(text.slice(end));
  element.replaceChildren(pieces);
}

/**
 * @param {string} className
 * @param {string} text
 */
function span(className, text) {
  const element = document.createElement('span');
  element.className = className;
  element.textContent = text;
  return element;
}
