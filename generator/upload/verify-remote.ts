/** Compares a remote with the published tree. */
import type { Progress } from '../progress.js';
import type { Tree } from '../publish/tree.js';
import { compare } from './compare.js';
import type { Foreign } from './compare.js';
import { goalLocator } from './goal.js';
import { remoteOf } from './remote.js';
import type { Connect } from './remote.js';
import { inSession } from './session.js';

export interface RemoteReport {
  readonly remote: string;
  readonly sequence: number;
  /** How many files the remote is to hold. */
  readonly files: number;
  /** Files that aren't there, have another content, or are there although the tree lacks them. */
  readonly missing: readonly string[];
  readonly different: readonly string[];
  readonly extra: readonly string[];
  /** Files there that no route leads to. */
  readonly foreign: Foreign;
}

/**
 * After differences, the next upload compares everything.
 * @throws see `upload`
 */
export const verifyRemote = (
  tree: Tree,
  to: string,
  progress: Progress,
  connect: Connect = remoteOf,
): Promise<RemoteReport> =>
  inSession(tree, to, progress, connect, async ({ manifest, remote, record, goal, wanted }) => {
    const found = { missing: [] as string[], different: [] as string[], extra: [] as string[] };
    const foreign = await compare(
      remote,
      { isStrict: false, wanted },
      goalLocator(record.next.goal, goal, manifest.routes),
      (what, file) => found[what].push(file),
      progress,
    );
    for (const files of Object.values(found)) files.sort();
    const before = record.read();
    if (before !== undefined && Object.values(found).some((files) => files.length > 0)) record.doubt(before);
    return { remote: remote.name, sequence: manifest.sequence, files: wanted, ...found, foreign };
  });
