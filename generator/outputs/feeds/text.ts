/**
 * Makes measured text fit for feeds. Characters that XML 1.0 can't represent, even escaped (section
 * 2.2), or that it discourages and readers mistake for Windows-1252, get a visible substitute, in
 * JSON feeds as well: C0 controls and DEL their pictures (U+0007 -> ␇), a carriage return ␍ (XML
 * reads it as a line feed), C1 controls, U+FFFE, U+FFFF and lone surrogates U+FFFD. All other
 * characters are kept; records and histories have every text exactly.
 */

// oxlint-disable-next-line no-control-regex
const UNSAYABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffe\uffff]|\p{Surrogate}/gu;
const PICTURES = 0x24_00;
const PICTURE_OF_DELETE = '\u2421';
const REPLACEMENT = '\ufffd';

/** Text with visible substitutes for characters that a feed can't represent. */
export const legible = (text: string): string =>
  text.replaceAll(UNSAYABLE, (character) => {
    if (character === '\u007f') return PICTURE_OF_DELETE;
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(PICTURES + code) : REPLACEMENT;
  });

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text for HTML or XML, in an element or a quoted attribute. */
export const escaped = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? '');

/** Embeddings, overrides and isolates, with their ends (UAX #9, section 2). */
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Puts a text in quotation marks, for plain text. Its direction does not affect the words around
 * it, if those are next to the marks: controls that would reach beyond its end become U+FFFD.
 */
export const quoted = (text: string): string => `“${text.replaceAll(DIRECTIONS, REPLACEMENT)}”`;
