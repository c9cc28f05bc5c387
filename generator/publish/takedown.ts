/** Takedowns: which documents a withheld record explains the removal of, and whether a commit may keep what it replaces. */
import type { WithheldMarks } from './ledger-index.js';
import type { PublishedRoute } from './manifest.js';
import type { Gone } from './series.js';

/** What is withheld. */
export interface Withheld {
  /** Whether that explains why a document is gone. */
  readonly removes: (route: string, key: number) => boolean;
  readonly marks: WithheldMarks;
}

export class Takedown {
  /** What was withheld when the last snapshot was published, as far as that is known. */
  readonly before: WithheldMarks | undefined;
  /** Documents that are gone because their records are withheld, by route. */
  readonly removed = new Map<string, number>();
  /** Set before the first document; left undefined where nothing changes, as in a rollback. */
  withheld: Withheld | undefined;

  /** @param before undefined where there is no last snapshot, or nothing is known of it */
  constructor(before: WithheldMarks | undefined) {
    this.before = before;
  }

  note({ name }: PublishedRoute, { key }: Gone): void {
    if (this.withheld?.removes(name, key) === true) this.removed.set(name, 1 + (this.removed.get(name) ?? 0));
  }

  /** Whether something is withheld that the last snapshot may have, or what that replaced. */
  get isOne(): boolean {
    const known = new Set([...(this.before?.records ?? []), ...(this.before?.names ?? [])]);
    const { records = [], names = [] } = this.withheld?.marks ?? {};
    return [...records, ...names].some((mark) => !known.has(mark));
  }

  /** For the index of the next ledger. */
  get described(): { readonly withheld?: WithheldMarks } {
    const withheld = this.withheld?.marks ?? this.before;
    return withheld === undefined ? {} : { withheld };
  }
}
