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
 * of accents have the same. It depends on the version of Unicode for characters newer than that.
 */
export const foldedName = (name: string): string => name.normalize('NFKC').toLowerCase().normalize('NFKC');
