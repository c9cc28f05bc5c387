/** Finds the word that was probably meant by an unknown one. */

/** The share of letters in which a misspelling may differ from a word. */
const MOST_DIFFERENT = 0.5;

/**
 * @param most the share of letters that may differ
 * @returns the known word that another may be a misspelling of, if there is one
 */
export function closest(
  word: string,
  known: readonly string[],
  most: number = MOST_DIFFERENT,
): string | undefined {
  const difference = (other: string): number =>
    distance(word, other) / Math.max(word.length, other.length, 1);
  const [best] = known.toSorted((a, b) => difference(a) - difference(b));
  return best !== undefined && difference(best) <= most ? best : undefined;
}

/** How many letters are inserted, deleted or replaced to make one word of the other (Levenshtein). */
function distance(word: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let index = 0; index < word.length; index += 1) {
    const next = [index + 1];
    for (let at = 0; at < other.length; at += 1) {
      const replaced = (row[at] ?? 0) + (word[index] === other[at] ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
