/** JSON in colours. Text nodes only, so whatever is in a name stays text. */

/** A string, with the colon after it where it names a member; a number; a word; a line that says what is left out. */
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b|…[^\n]*/g;

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
    pieces.append(span(className(token, colon), string ?? token), colon ?? '');
  }
  pieces.append(text.slice(end));
  element.replaceChildren(pieces);
}

/**
 * @param {string} token
 * @param {string | undefined} colon
 */
function className(token, colon) {
  if (token.startsWith('"')) return colon === undefined ? 'json-string' : 'json-name';
  if (token.startsWith('…')) return 'json-cut';
  return /^[tfn]/.test(token) ? 'json-word' : 'json-number';
}

/**
 * @param {string} name
 * @param {string} text
 */
function span(name, text) {
  const element = document.createElement('span');
  element.className = name;
  element.textContent = text;
  return element;
}
