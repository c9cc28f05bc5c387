/** The inputs of a commit, besides the files. */
import type { Changes, NextState } from '../state/next.js';
import type { Change } from '../tree/changes.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import type { Tree } from '../tree/tree.js';
import type { StageSpec } from './stage.js';
import type { WithheldMarks } from '../state/schema.js';

/** What is to be published. */
export interface Opening {
  /** The routes of the next snapshot. */
  readonly routes: readonly PublishedRoute[];
  /** Called after the commit, and also where there was nothing to commit, while the tree is locked. */
  readonly after?: () => void;
  /** There is a bundle up to this size, compressed, or up to a tenth of the tree. */
  readonly bundleBytes?: number;
}

/** The totals of a build, known before the commit. */
export interface Plan {
  /** Identifies the tree for as long as it lives: one that starts over has another. In hex. */
  readonly treeId: string;
  /** Numbers the snapshots of this tree from 1; a build that changes nothing keeps the number. */
  readonly sequence: number;
  readonly digest: string;
  readonly changes: Readonly<Changes>;
  readonly files: number;
  readonly bytes: number;
  /** The lowest key of each route that has documents; none in a dry run. */
  readonly firstKeys: ReadonlyMap<string, number>;
}

/** A file below the output folder. Its URL is its name. */
export interface FeedFile {
  readonly file: string;
  readonly body: string;
}

/** Renders the feed of snapshots from the changes in the index, newest first. */
export type RenderSnapshotFeed = (changes: readonly Change[]) => readonly FeedFile[];

/** What a commit publishes about itself. */
export interface Announcement {
  /** The content of snapshot.json; called again with the next sequence if it is another than before. */
  readonly manifest: (plan: Plan) => string;
  /** Kinds of records, each with the name of the route that has one file per record. */
  readonly kinds: Readonly<Record<string, string>>;
  readonly snapshotFeed: RenderSnapshotFeed;
}

/** What is staged of the next snapshot. */
export interface NextSnapshot {
  readonly tree: Tree;
  readonly treeId: string;
  /** The snapshot that is followed; undefined for the first. */
  readonly previous: Manifest | undefined;
  readonly manifest: Manifest;
  readonly spec: StageSpec;
  readonly next: NextState;
  /** Whether earlier files may hold something that is withheld now. */
  readonly isTakedown: boolean;
}

/** What a build withholds. */
export interface Withheld {
  /** The keys of withheld records, by route of their documents. */
  readonly keys: ReadonlyMap<string, ReadonlySet<number>>;
  readonly marks: WithheldMarks;
}

/** What of that is new: a takedown, after which no earlier file may stay. */
export class Takedown {
  /** What was withheld in the previous snapshot, if known. */
  readonly before: WithheldMarks | undefined;
  /** Set before the plan. */
  withheld: Withheld | undefined;

  constructor(before: WithheldMarks | undefined) {
    this.before = before;
  }

  /** Whether anything is newly withheld, and so may be in files of earlier snapshots. */
  get withholdsMore(): boolean {
    const known = new Set([...(this.before?.records ?? []), ...(this.before?.names ?? [])]);
    const { records = [], names = [] } = this.withheld?.marks ?? {};
    return [...records, ...names].some((mark) => !known.has(mark));
  }

  /** For the state. */
  get described(): { readonly withheld?: WithheldMarks } {
    return this.withheld === undefined ? {} : { withheld: this.withheld.marks };
  }
}
