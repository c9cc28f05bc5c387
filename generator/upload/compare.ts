/** Compares all that a remote holds with what it is to hold. */
import { Failure } from '../errors.js';
import type { Progress } from '../progress.js';
import type { Tree } from '../publish/tree.js';
import { goalLocator } from './goal.js';
import type { Located } from './goal.js';
import { remoteOf } from './remote.js';
import { inSession } from './session.js';
import type { Session } from './session.js';

/** Files on a remote that no route leads to, which are left alone. */
export interface Foreign {
  /** At most `SHOWN_FOREIGN`. */
  readonly files: readonly string[];
  readonly total: number;
}

const SHOWN_FOREIGN = 100;

/**
 * @param isStrict see `Remote.compare`
 * @param onDifference called with each difference that an upload removes
 * @throws Failure environment: the remote can't be read
 */
export async function compare(
  { manifest, remote, targets, wanted, progress }: Session,
  isStrict: boolean,
  onDifference: (what: 'missing' | 'different' | 'extra', file: string, place: Located) => void,
): Promise<Foreign> {
  const locate = goalLocator(targets, manifest.routes);
  const files: string[] = [];
  let [reported, total] = [0, 0];
  progress.start('comparing', 0, 'files');
  await remote.compare(
    isStrict,
    (what, file) => {
      const place = locate(file);
      if (place?.isWanted === true) {
        if (what !== 'extra') reported += 1;
        // What is wanted and isn't in the tree: an upload says that the tree is damaged.
        if (what !== 'same') onDifference(what === 'extra' ? 'different' : what, file, place);
      } else if (what !== 'missing') {
        if (place !== undefined) onDifference('extra', file, place);
        else if ((total += 1) <= SHOWN_FOREIGN) files.push(file);
      }
    },
    progress,
  );
  progress.finish();
  if (remote.hasHeaders && reported < wanted) {
    throw Failure.environment(
      `${remote.name} was compared in part: rclone reported ${reported} of ${wanted} files, so a folder there can't be listed`,
    );
  }
  return { files, total };
}

export interface RemoteReport {
  readonly remote: string;
  readonly sequence: number;
  /** How many files the remote is to hold. */
  readonly files: number;
  /** Files that aren't there, have another content, or are there although the tree lacks them. */
  readonly missing: readonly string[];
  readonly different: readonly string[];
  readonly extra: readonly string[];
  readonly foreign: Foreign;
}

/**
 * Compares a remote with the published tree. After differences, the next upload compares, too.
 * @throws see `upload`
 */
export const verifyRemote = (
  tree: Tree,
  to: string,
  progress: Progress,
  connect = remoteOf,
): Promise<RemoteReport> =>
  inSession(tree, to, progress, connect, async (session) => {
    const { manifest, remote, record, wanted } = session;
    const found: Record<'missing' | 'different' | 'extra', string[]> = {
      missing: [],
      different: [],
      extra: [],
    };
    const foreign = await compare(session, false, (what, file) => found[what].push(file));
    for (const files of Object.values(found)) files.sort();
    const before = record.read();
    if (before !== undefined && Object.values(found).some((files) => files.length > 0))
      record.write({ ...before, isSure: false });
    return { remote: remote.name, sequence: manifest.sequence, files: wanted, ...found, foreign };
  });
