/** What a commit is made from, besides the files. */
import type { Changes } from './index-route.js';
import type { RenderSnapshotFeed } from './snapshot-feed.js';

/** What all files of a build come to, known before the commit. */
export interface Plan {
  /** Counts the snapshots of this tree, from 1; a build that changes nothing makes no new one. */
  readonly sequence: number;
  readonly digest: string;
  readonly changes: Readonly<Changes>;
  readonly files: number;
  readonly bytes: number;
  /** The lowest key of each route that has files. */
  readonly firstKeys: ReadonlyMap<string, number>;
}

/** What a commit says of itself to the world. */
export interface Announcement {
  /** The content of snapshot.json. */
  readonly manifest: string;
  readonly asOf: string | null;
  readonly builtAt: string;
  /** Kinds of records, by the name of the route that has one file for each. */
  readonly kinds: Readonly<Record<string, string>>;
  readonly snapshotFeed: RenderSnapshotFeed;
}
