/** Takedowns: which removals a withheld record explains, and whether replaced files may be kept. */
import type { WithheldMarks } from '../tree/index-json.js';

export interface Withheld {
  /** The keys of withheld records, by route of their documents. */
  readonly keys: ReadonlyMap<string, ReadonlySet<number>>;
  readonly marks: WithheldMarks;
}

export class Takedown {
  /** What was withheld in the previous snapshot, if known. */
  readonly before: WithheldMarks | undefined;
  /** Set before the plan; undefined if the list is unchanged, as in a rollback. */
  withheld: Withheld | undefined;

  constructor(before: WithheldMarks | undefined) {
    this.before = before;
  }

  /** Whether anything is newly withheld, and so may be in the previous snapshot. */
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
