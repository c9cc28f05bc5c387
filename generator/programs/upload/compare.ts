/** Compares all that a remote holds with what it should hold. */
import { Failure } from '../../base/errors.js';
import type { Progress } from '../../base/progress.js';
import { HOST_FILES } from '../../routes/paths.js';
import type { Tree } from '../../tree/tree.js';
import type { Location } from './desired.js';
import { connectRclone } from './rclone.js';
import type { RemoteState } from './remote.js';
import { inSession, type UploadSession } from './session.js';

/** Files on a remote that neither a route leads to nor `edge headers` writes, which are left alone. */
export interface Untracked {
  readonly total: number;
  /** At most `MOST_EXAMPLES`. */
  readonly examples: readonly string[];
}

const MOST_EXAMPLES = 5;
const OF_THE_HOST: readonly string[] = Object.values(HOST_FILES);

type Difference = Exclude<RemoteState, 'same'>;

/**
 * @param onDifference called with each difference that an upload removes
 * @throws Failure environment: the remote can't be read
 */
export async function compare(
  { remote, desired, progress }: UploadSession,
  onDifference: (what: Difference, file: string, location: Location) => void,
): Promise<Untracked> {
  const examples: string[] = [];
  let [reported, untracked] = [0, 0];
  progress.start('comparing', 0, 'files');
  await remote.compare((what, file) => {
    const location = desired.locate(file);
    if (location?.isDesired === true) {
      if (what !== 'extra') reported += 1;
      // What is desired and isn't in the tree: an upload says that the tree is damaged.
      if (what !== 'same') onDifference(what === 'extra' ? 'different' : what, file, location);
    } else if (what !== 'missing') {
      if (location !== undefined) onDifference('extra', file, location);
      else if (!OF_THE_HOST.includes(file) && (untracked += 1) <= MOST_EXAMPLES) examples.push(file);
    }
  }, progress);
  progress.finish();
  if (reported < desired.total - desired.missing.length) {
    throw Failure.environment(
      `${remote.name} was compared in part: rclone reported ${reported} of ${desired.total} files, so a folder there can't be listed`,
    );
  }
  return { total: untracked, examples };
}

export interface RemoteReport {
  readonly remote: string;
  readonly sequence: number;
  /** How many files the remote should hold. */
  readonly files: number;
  /** Files that aren't there, have another content, or are there although the tree lacks them. */
  readonly missing: readonly string[];
  readonly different: readonly string[];
  readonly extra: readonly string[];
  readonly untracked: Untracked;
}

/**
 * Compares a remote with the published tree. After differences, the next upload compares, too.
 * @throws see `upload`
 */
export const verifyRemote = (
  tree: Tree,
  to: string,
  progress: Progress,
  connect = connectRclone,
): Promise<RemoteReport> =>
  inSession(tree, to, progress, connect, async (session) => {
    const { manifest, remote, remember, known, desired } = session;
    const found: Record<Difference, string[]> = { missing: [], different: [], extra: [] };
    const untracked = await compare(session, (what, file) => found[what].push(file));
    for (const files of Object.values(found)) files.sort();
    if (known !== undefined && Object.values(found).some((files) => files.length > 0))
      remember({ ...known, held: null });
    const { total: files } = desired;
    return { remote: remote.name, sequence: manifest.sequence, files, ...found, untracked };
  });
