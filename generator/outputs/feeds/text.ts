/**
 * Measured text as feeds can carry it. What XML 1.0 has no way to say, escaped or not (section 2.2), or discourages, and
 * readers then mistake for Windows-1252, is shown by a visible substitute, in the JSON twins too: a C0 control and DEL
 * by their pictures (U+0007 -> ␇), a C1 control, U+FFFE, U+FFFF and half a surrogate pair by U+FFFD. A carriage return is
 * shown as ␍, since XML reads it as a line feed. Tabs, line feeds and everything else stay as they were measured;
 * records and histories have every text exactly.
 */

// oxlint-disable-next-line no-control-regex
const UNSAYABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffe\uffff]|\p{Surrogate}/gu;
const PICTURES = 0x24_00;
const PICTURE_OF_DELETE = '\u2421';
const REPLACEMENT = '\ufffd';

/** Text with visible substitutes for what a feed can't say. */
export const legible = (text: string): string =>
  text.replaceAll(UNSAYABLE, (character) => {
    if (character === '\u007f') return PICTURE_OF_DELETE;
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(PICTURES + code) : REPLACEMENT;
  });

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text as HTML or XML that reads as that text, in an element or a quoted attribute. */
export const escaped = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? '');

/** First strong isolate and its end (UAX #9): what stands between them keeps its own direction to itself. */
const ISOLATE = '\u2068';
const END_OF_ISOLATE = '\u2069';
const ISOLATES = /[\u2066-\u2069]/g;

/**
 * Text whose direction has no effect on the plain text around it. An end of an isolate that the text never began
 * would end ours, so it becomes U+FFFD, and an isolate that it leaves open is closed.
 */
export function isolated(text: string): string {
  let open = 0;
  const balanced = text.replaceAll(ISOLATES, (character) => {
    if (character === END_OF_ISOLATE && open === 0) return REPLACEMENT;
    open += character === END_OF_ISOLATE ? -1 : 1;
    return character;
  });
  return ISOLATE + balanced + END_OF_ISOLATE.repeat(open + 1);
}

/** The first characters of a long text, none of them cut in two. */
export function shortened(text: string, characters: number): string {
  // As many code units can't be more characters.
  if (text.length <= characters) return text;
  const all = Array.from(text.slice(0, 2 * characters));
  if (all.length <= characters && text.length <= 2 * characters) return text;
  return `${all.slice(0, characters).join('')}…`;
}
