/** What browsers use as well: nothing in this file is of Node alone. */

/** The value of a JSON text; undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The text under which a name is looked up: names that differ in case, width, ligatures or the form
 * of accents have the same. Two names have the same if NFKC(casefold(NFKC(name))) of Unicode, which
 * JavaScript lacks, is the same for both; İ and ı are i as well. Accents, letters that look alike
 * and invisible characters are left as they are. It depends on the version of Unicode for characters
 * newer than that.
 */
export const foldedName = (name: string): string =>
  name
    .normalize('NFKC')
    // ẞ has the upper case SS only by way of ß.
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    // The lower case of Σ depends on what follows, which the beginning of a name lacks.
    .replaceAll('ς', 'σ')
    .replaceAll('i\u0307', 'i')
    .normalize('NFKC');

/** The same, in the words of the documentation. */
export const FOLDED_NAME = 'NFKC(replace(lower(upper(lower(NFKC(name)))), ς → σ, i U+0307 → i))';
