/** What snapshot.json says of the signed log. */
import { PATHS } from '../routes/paths.js';
import type { LogKeys } from '../config/signing.js';
import { part, shapeOfParts, value, valuesOf } from './parts.js';
import type { Part } from './parts.js';

interface LogFacts {
  readonly log: LogKeys;
  readonly treeId: string;
}

const LOG: readonly Part<LogFacts>[] = [
  part(
    value('path', 'path', '/log/9f86d081884c7d65', 'Path of the log, by the rules of C2SP tlog-tiles.'),
    ({ treeId }) => `${PATHS.log}/${treeId}`,
  ),
  part(
    value('origin', 'text', 'register.example/log', 'Origin of its checkpoints, and name of its keys.'),
    ({ log }) => log.origin,
  ),
  part(
    {
      is: 'values',
      name: 'keys',
      description: 'The keys that sign its checkpoints. Trust one that you have from elsewhere.',
      of: value(
        '{key}',
        'text',
        'register.example/log+2d1b3bb5+Aa0vJrYqjJXPsVnsUjIYEVFPYVMBJ5ARhWRaPtXcZIt5',
        'Verifier key of a signed note.',
      ),
    },
    ({ log }) => log.verifierKeys,
  ),
];

export const SNAPSHOT_LOG = shapeOfParts('log', 'The signed log of all snapshots, if there is one.', LOG);

/** The log of a tree. */
export const snapshotLog = (log: LogKeys, treeId: string): object => valuesOf(LOG, { log, treeId });
