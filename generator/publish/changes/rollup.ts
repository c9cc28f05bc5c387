/**
 * Roll-ups: bundles over several snapshots. One holds each path that any of its snapshots touched,
 * with the last body, so it serves a copy of any snapshot between its ends.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../sqlite/index.js';
import type { Database } from '../../sqlite/index.js';
import { SPANS } from '../../routes/publishing.js';
import { measure } from '../scan.js';
import type { StagePaths } from '../stage.js';
import { writeGzip } from './bundle.js';
import type { Step } from './change-list.js';
import { rollupFile } from './change-index.js';
import type { Change, Described, Rollup } from './change-index.js';
import { pathIn } from './bundle-line.js';
import { gunzippedLines } from './read-bundle.js';

/**
 * Writes the roll-ups that are due with a snapshot: those whose span divides its number, if each of
 * their bundles is there and undamaged.
 * @param changes newest first, with the new snapshot's
 * @param locate where a bundle is, staged or published
 */
export async function writeRollups(
  paths: StagePaths,
  tree: string,
  changes: readonly Change[],
  locate: (file: string) => string,
): Promise<readonly Rollup[]> {
  const rollups: Rollup[] = [];
  for (const { span } of SPANS) {
    const parts = partsOf(changes, span);
    const [first] = parts;
    const last = parts.at(-1);
    if (first === undefined || last === undefined) continue;
    const bundles = parts.map(({ bundle }) => ({ ...bundle, path: locate(bundle.file) }));
    if (!bundles.every(({ path, sha256 }) => measure(path).hash.toString('hex') === sha256)) continue;
    const step = {
      tree,
      from: first.from,
      to: last.sequence,
      from_digest: first.from_digest,
      to_digest: last.digest,
    };
    const file = rollupFile(span, last.sequence);
    const described = await merge(
      paths,
      file,
      step,
      bundles.map(({ path }) => path),
    );
    const { from, from_digest } = step;
    rollups.push({ from, sequence: last.sequence, from_digest, digest: last.digest, ...described });
  }
  return rollups;
}

interface Part {
  readonly from: number;
  readonly sequence: number;
  readonly from_digest: string;
  readonly digest: string;
  readonly bundle: Described;
}

/** The steps of a roll-up, oldest first; none if it is not due, or not all of them have a bundle. */
function partsOf(changes: readonly Change[], span: number): readonly Part[] {
  if (changes[0] === undefined || changes[0].sequence % span !== 0) return [];
  const parts = changes
    .slice(0, span)
    .flatMap(({ from, from_digest, bundle, ...rest }): Part[] =>
      from === null || from_digest === null || bundle === null
        ? []
        : [{ ...rest, from, from_digest, bundle }],
    );
  return parts.length === span ? parts.toReversed() : [];
}

/** Merges bundles, oldest first. Two passes, and a table on disk, since memory must stay flat. */
async function merge(
  paths: StagePaths,
  file: string,
  step: Step,
  bundles: readonly string[],
): Promise<Described> {
  mkdirSync(paths.scratch, { recursive: true });
  const database = openDatabase(join(paths.scratch, 'rollup.sqlite'));
  try {
    database.exec(
      `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; DROP TABLE IF EXISTS newest;
       CREATE TABLE newest (path TEXT PRIMARY KEY, bundle INTEGER) WITHOUT ROWID; BEGIN`,
    );
    const note = database.prepare<[string, number]>('INSERT OR REPLACE INTO newest VALUES (?, ?)');
    for (const [index, bundle] of bundles.entries()) {
      for await (const line of gunzippedLines(bundle)) {
        const path = pathIn(line);
        if (path !== undefined) note.run(path, index);
      }
    }
    return await writeGzip(paths, file, newestLines(database, step, bundles));
  } finally {
    database.close();
  }
}

async function* newestLines(
  database: Database,
  step: Step,
  bundles: readonly string[],
): AsyncGenerator<string> {
  const newest = database.prepare<[string], number>('SELECT bundle FROM newest WHERE path = ?').pluck();
  yield `${JSON.stringify(step)}\n`;
  for (const [index, bundle] of bundles.entries()) {
    for await (const line of gunzippedLines(bundle)) {
      const path = pathIn(line);
      if (path !== undefined && newest.get(path) === index) yield `${line}\n`;
    }
  }
}
