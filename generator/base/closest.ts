/** What somebody may have meant by a word that is unknown. */
import { distance } from 'fastest-levenshtein';

/** Of two words, how many letters differ at most for one to be a misspelling of the other. */
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
