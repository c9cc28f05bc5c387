/** The merge of ascending keys with ascending entries, wherever they come from. */

/** Keys from `low` to `high`, inclusive. */
export interface KeyRange {
  readonly low: number;
  readonly high: number;
}

/** Ascending entries, of which one is next. */
export interface Cursor<T> {
  /** Undefined at the end. */
  readonly peekKey: () => number | undefined;
  /** The next entry, which may be valid only until the cursor moves. */
  readonly peek: () => T | undefined;
  readonly next: () => void;
}

/**
 * Moves a cursor to a key, or to the first above it; the cursor stays at an entry that is there.
 * @param onPassed called with each entry with a lower key
 * @returns the entry of that key; undefined if there is none
 */
export function seek<T>(cursor: Cursor<T>, key: number, onPassed?: (entry: T) => void): T | undefined {
  let at = cursor.peekKey();
  for (; at !== undefined && at < key; at = cursor.peekKey()) {
    const entry = onPassed && cursor.peek();
    if (entry !== undefined) onPassed?.(entry);
    cursor.next();
  }
  return at === key ? cursor.peek() : undefined;
}

/** A cursor over what an iterator yields, by ascending keys. */
export function cursorOver<T>(entries: Iterator<T, void>, keyOf: (entry: T) => number): Cursor<T> {
  let result = entries.next();
  const peek = (): T | undefined => (result.done === true ? undefined : result.value);
  return {
    peek,
    peekKey: () => (result.done === true ? undefined : keyOf(result.value)),
    next: () => void (result = entries.next()),
  };
}
