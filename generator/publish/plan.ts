/** What a commit is made from, beside the files. */
import type { Outcome } from './comparison.js';
import type { Teller } from './told.js';

/** What all files of a build come to, known before the commit. */
export interface Plan extends Outcome {
  /** Counts the snapshots of this tree, from 1; a build that changes nothing makes no new one. */
  readonly sequence: number;
  readonly digest: string;
}

/** What a commit says of itself to the world. */
export interface Announcement {
  /** The content of snapshot.json. */
  readonly manifest: string;
  readonly asOf: string | null;
  readonly builtAt: string;
  /** Kinds of records, by the name of the route that has one file for each. */
  readonly kinds: Readonly<Record<string, string>>;
  readonly tell: Teller;
}
