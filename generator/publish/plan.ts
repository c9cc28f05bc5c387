/** The inputs of a commit, besides the files. */
import type { Changes, NextState } from '../state/next.js';
import type { Change } from '../tree/changes.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { PublishedFile } from '../tree/values.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import type { Tree } from '../tree/tree.js';
import type { StageSpec } from './stage.js';
import type { WithheldMarks } from '../state/schema.js';

/** What somebody else does around a commit, while the tree is locked. */
export interface AroundCommit {
  /**
   * Called before anything is staged.
   * @returns the number of the newest snapshot that is known elsewhere, if any
   */
  readonly before?: (tree: Tree, treeId: string) => number | Promise<number>;
  /** Called after the commit, and also where there was nothing to commit. */
  readonly after?: (tree: Tree) => Promise<void>;
}

/** What is to be published. */
export interface Opening extends AroundCommit {
  /** The routes of the next snapshot. */
  readonly routes: readonly PublishedRoute[];
  /** The id of the origin's tree, if this is a copy of it. */
  readonly copyOf?: string;
  /** Whether the copy has no files of the bulk downloads. */
  readonly withoutDownloads?: boolean;
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
  /** The files below /downloads; none in a dry run. */
  readonly downloads: readonly PublishedFile[];
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

/** What a copy publishes about itself: what its origin does. */
export interface CopiedAnnouncement {
  /** The content of snapshot.json. */
  readonly manifest: string | Uint8Array;
  readonly own: OwnFiles;
}

/** Files that are not documents, by their names below the tree. */
export interface OwnFiles {
  /** Each with a file to link there. */
  readonly put: ReadonlyMap<string, string>;
  readonly removed: readonly string[];
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

/** Whether a build withholds more than the last snapshot: a takedown, after which no earlier file may stay. */
export class Takedown {
  /** What was withheld in the previous snapshot, if known. */
  readonly before: WithheldMarks | undefined;
  /** What is withheld now; set before the plan, undefined in a copy, which has no list. */
  withheld: WithheldMarks | undefined;

  constructor(before: WithheldMarks | undefined) {
    this.before = before;
  }

  /** Whether anything is newly withheld, and so may be in files of earlier snapshots. */
  get withholdsMore(): boolean {
    const known = new Set([...(this.before?.records ?? []), ...(this.before?.names ?? [])]);
    const { records = [], names = [] } = this.withheld ?? {};
    return [...records, ...names].some((mark) => !known.has(mark));
  }

  /** For the state. */
  get described(): { readonly withheld?: WithheldMarks } {
    return this.withheld === undefined ? {} : { withheld: this.withheld };
  }
}
