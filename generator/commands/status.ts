/** `status`: says what is published. */
import { existsSync } from 'node:fs';
import { Failure } from '../base/errors.js';
import { readText } from '../base/files.js';
import { parseJson } from '../base/portable.js';
import { DOWNLOADS } from '../routes/exports.js';
import { parseSnapshot, type Snapshot } from '../tree/snapshot-json.js';
import { Tree } from '../tree/tree.js';
import { outOption, OUTPUT, stateOption, type Common, type Program } from './options.js';
import { asOfText, recordsText } from './report.js';
import { print, type Terminal } from './terminal.js';

interface Flags extends Common {
  readonly out: string;
  readonly state?: string;
}

/** Status takes no lock, so a build may be at work. */
const COMMITTING = 'a commit is under way or was interrupted: the next build completes it';

export function addStatus(program: Program, terminal: Terminal): void {
  program
    .command('status')
    .description('Say what is published: which snapshot, of when, what is not measured.')
    .examples('status --out dist', 'status --out dist --json')
    .with(outOption, stateOption, ...OUTPUT)
    .action((flags: Flags) => {
      const status = statusOf(new Tree(flags.out, flags.state));
      print(terminal, flags, status, () => [statusLine(status)]);
    });
}

/**
 * What a published tree says of itself.
 * @throws Failure environment: there is no published tree; invalid: it is of another version
 */
function statusOf(tree: Tree) {
  const { out, snapshotFile } = tree;
  const committing = existsSync(tree.commit);
  const content = readText(snapshotFile);
  if (content === undefined) {
    const why = committing ? `; ${COMMITTING}` : '';
    throw Failure.environment(`"${out}" holds no published tree (no snapshot.json)${why}`);
  }
  const snapshot = parseSnapshot(parseJson(content), `"${snapshotFile}"`);
  return {
    tree: out,
    sequence: snapshot.sequence,
    asOf: snapshot.as_of,
    builtAt: snapshot.built_at,
    /** Published records of each kind; null for one that is not measured. */
    records: snapshot.counts,
    /** The tables that are not measured. */
    notMeasured: absentTables(snapshot),
    files: snapshot.tree.files,
    bytes: snapshot.tree.bytes,
    /** Whether a commit is under way, or was interrupted. */
    committing,
  };
}

/** The tables that are not measured: snapshot.json has the routes of their downloads as absent. */
function absentTables({ routes }: Snapshot): readonly string[] {
  const absent = new Set(routes.filter((route) => route.absent !== undefined).map(({ name }) => name));
  return DOWNLOADS.flatMap(({ name, format, route }) => (format === 'csv' && absent.has(route) ? name : []));
}

function statusLine(status: ReturnType<typeof statusOf>): string {
  const { tree, sequence, asOf, builtAt, records, notMeasured, committing } = status;
  return [
    `${tree} has snapshot ${sequence}, built ${builtAt} (${asOfText(asOf)})`,
    recordsText(records),
    ...(notMeasured.length === 0 ? [] : [`not measured: ${notMeasured.join(', ')}`]),
    ...(committing ? [COMMITTING] : []),
  ].join('; ');
}
