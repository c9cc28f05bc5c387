/** Takedowns: which removals a withheld record explains, and whether a commit may keep what it replaces. */
import type { WithheldMarks } from './index-json.js';

/** What is withheld. */
export interface Withheld {
  /** The keys of withheld records, by the route of their documents. */
  readonly keys: ReadonlyMap<string, ReadonlySet<number>>;
  readonly marks: WithheldMarks;
}

export class Takedown {
  /** What was withheld when the last snapshot was published, as far as that is known. */
  readonly before: WithheldMarks | undefined;
  /** Set before the plan; left undefined where nothing changes, as in a rollback. */
  withheld: Withheld | undefined;

  /** @param before undefined where there is no last snapshot, or nothing is known of it */
  constructor(before: WithheldMarks | undefined) {
    this.before = before;
  }

  /** Whether something is withheld that the last snapshot may have, or what that replaced. */
  get isOne(): boolean {
    const known = new Set([...(this.before?.records ?? []), ...(this.before?.names ?? [])]);
    const { records = [], names = [] } = this.withheld?.marks ?? {};
    return [...records, ...names].some((mark) => !known.has(mark));
  }

  /** For the next index. */
  get described(): { readonly withheld?: WithheldMarks } {
    const withheld = this.withheld?.marks ?? this.before;
    return withheld === undefined ? {} : { withheld };
  }
}
