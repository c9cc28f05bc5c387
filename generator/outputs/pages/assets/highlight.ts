/** JSON in colours. Text nodes only, so whatever is in a name stays text. */

/** A string, with the colon after it where it names a member; a number; a word; a line that says what is left out. */
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b|…[^\n]*/g;

/**
 * Replaces the content of an element by coloured JSON.
 * @param text JSON, or a part of it
 */
export function highlight(code: Element, text: string) {
  const pieces = document.createDocumentFragment();
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [token, string, colon] = match;
    pieces.append(text.slice(end, match.index));
    end = match.index + token.length;
    const span = document.createElement('span');
    span.className = className(token, colon);
    span.textContent = string ?? token;
    pieces.append(span, colon ?? '');
  }
  pieces.append(text.slice(end));
  code.replaceChildren(pieces);
}

function className(token: string, colon: string | undefined) {
  if (token.startsWith('"')) return colon === undefined ? 'json-string' : 'json-name';
  if (token.startsWith('…')) return 'json-cut';
  return /^[tfn]/.test(token) ? 'json-word' : 'json-number';
}
