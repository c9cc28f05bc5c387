/** Names that begin with a text: the pages that have them. Runs in the browser, compiled, and in tests. */

/** A page of names, as /api/v1/lookup/names has it. */
export interface NamePage {
  /** The folded name with which it begins. */
  readonly first: string;
  readonly path: string;
}

/** In the order of code points, which is that of pages; UTF-16 has some of them in another order. */
export function comparePoints(a: string, b: string): number {
  for (let at = 0; ; at += 1) {
    const [one, other] = [a.codePointAt(at), b.codePointAt(at)];
    if (one !== other) return (one ?? -1) - (other ?? -1);
    if (one === undefined) return 0;
  }
}

/**
 * Those of all pages that may have names which begin with a folded text. Names that are equal may be in
 * two pages, so the first is one that begins before the text.
 */
export function pagesWith(pages: readonly NamePage[], folded: string): readonly NamePage[] {
  const start = Math.max(
    0,
    pages.findLastIndex(({ first }) => comparePoints(first, folded) < 0),
  );
  return pages.slice(start).filter(({ first }, index) => index === 0 || first.startsWith(folded));
}
