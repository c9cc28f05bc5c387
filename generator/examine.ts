/** Detects changes since the previous snapshot and checks the register, before rendering. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './errors.js';
import { isShardable, recordsFile, shardsOf, wholeShard } from './incremental/detect.js';
import type { Detected, Shard, TableChanges } from './incremental/detect.js';
import { follow } from './progress.js';
import type { Progress } from './progress.js';
import type { BuildKey } from './incremental/build-key.js';
import type { Index } from './publish/index-json.js';
import { check } from './register/check.js';
import { isPublishable } from './register/findings.js';
import type { CheckReport } from './register/findings.js';
import type { Register } from './register/database.js';
import { entriesOf, invalidRecords, markWithheld, overviewOf, recordsOf } from './register/overview.js';
import type { Counted, Overview, RowCounts } from './register/overview.js';
import { RESOURCES } from './schema/index.js';
import type { Pool } from './workers/pool.js';
import type { RenderShard } from './workers/shard.js';

export interface Examined {
  readonly report: CheckReport;
  /** Records that are left out as invalid, per kind; empty if none is. */
  readonly excluded: Readonly<Record<string, number>>;
  /** All shards. */
  readonly shards: readonly Shard[];
  /** The changes in each shard; undefined if everything must be rendered. */
  readonly changed: ReadonlyMap<Shard, Detected> | undefined;
  /** The tables with changes, if known. */
  readonly changedTables: ReadonlySet<string> | undefined;
  /** Whether the next build gets fingerprints to compare with. */
  readonly hasFingerprints: boolean;
  /** Totals of the register. @throws Failure as `recordsOf` does */
  readonly overview: () => Overview;
}

/** If a larger share of records changed, all are checked: separate lookups take longer. */
const CHECKED_APART = 0.1;

/** What a build is compared with. */
export interface Basis {
  /** The published index, if any, and its folder. */
  readonly index: Index | undefined;
  readonly folder: string;
  /** Where patches are written. */
  readonly patches: string;
}

/** Detects changes, and checks only those: the rest passed the check when it was published. */
export async function examine(
  register: Register,
  pool: Pool,
  basis: Basis,
  buildKey: BuildKey,
  skipInvalid: boolean,
  progress: Progress,
): Promise<Examined> {
  const { index } = basis;
  const before = index?.fingerprints === true ? index.buildKey : undefined;
  const isComparable = before?.code === buildKey.code && before.schema === buildKey.schema;
  const canDetect = await progress.blocking(() => isReadable(register));
  if (canDetect) await pool.all('exclude', register.exclusions());
  const shards = RESOURCES.flatMap((resource) =>
    canDetect ? shardsOf(register, resource) : [wholeShard(resource)],
  );
  const detect = () => detectAll(shards, pool, basis, isComparable, progress);
  const detecting = canDetect && isComparable ? detect() : undefined;
  // A stop may reject it before it is awaited.
  detecting?.catch(() => undefined);
  // Runs on the main thread while the workers detect changes.
  const records = detecting && (await progress.blocking(() => deferError(() => recordsOf(register))));
  const changed = await detecting;
  const isSameOperator = before?.operator === buildKey.operator;
  const scope = changed !== undefined && isSameOperator && areFew(changed) ? 'changed' : 'all';
  if (scope === 'changed') await pool.all('scope', basis.patches);
  const checked = (of: typeof scope): Promise<CheckReport> =>
    check(register, progress, skipInvalid, of, (step) => pool.run('check', step));
  let report = await checked(scope);
  // Errors are reported for the whole register.
  if (scope === 'changed' && report.total > 0) report = await checked('all');
  if (report.total > 0 || !canDetect) {
    if (isPublishable(report, skipInvalid)) await progress.blocking(() => markWithheld(register));
    await pool.all('exclude', register.exclusions());
  }
  // Invalid records must be found and reported again by the next build.
  const isWhole = report.total === 0;
  const detected = isWhole && canDetect ? (changed ?? (await detect())) : undefined;
  const compared = isComparable ? detected : undefined;
  const isLessThanAll = !isWhole && isPublishable(report, skipInvalid);
  return {
    report,
    excluded: isLessThanAll ? await progress.blocking(() => invalidRecords(register)) : {},
    shards,
    changed: isSameOperator ? compared : undefined,
    changedTables: compared && changedTables(compared),
    hasFingerprints: detected !== undefined,
    overview: () =>
      overviewOf(
        isWhole && records !== undefined ? records() : recordsOf(register),
        detected === undefined ? entriesOf(register) : countsOf(detected),
      ),
  };
}

/** The shards with documents to render. @param patches the folder of patches */
export const shardsToRender = ({ shards, changed }: Examined, patches: string): readonly RenderShard[] =>
  shards
    .filter((shard) => changed?.get(shard)?.dirty !== 0)
    .map((shard) => ({ shard, changed: changed && join(patches, recordsFile(shard.kind), shard.part) }));

/** Whether all tables can be read by ranges of ids. If so, the exclusions are set. */
function isReadable(register: Register): boolean {
  try {
    if (!RESOURCES.every((resource) => isShardable(register, resource))) return false;
    markWithheld(register);
    return true;
  } catch (error) {
    // The check will report the error.
    if (isUnreadable(error)) return false;
    throw error;
  }
}

/** Whether SQLite refused a statement: a table, column or view is missing or invalid. */
const isUnreadable = (error: unknown): boolean => error instanceof Failure && error.cause === 'SQLITE_ERROR';

type Changed = ReadonlyMap<Shard, Detected>;

/** @returns undefined if the register can't be read; the check reports why */
async function detectAll(
  shards: readonly Shard[],
  pool: Pool,
  { folder, patches }: Basis,
  isComparable: boolean,
  progress: Progress,
): Promise<Changed | undefined> {
  progress.start('looking for changes', shards.length, 'shards');
  let done = 0;
  const old = isComparable ? folder : undefined;
  const detecting = shards.map(async (shard) => {
    const detected = await pool.run('detect', { shard, old, patches });
    done += 1;
    return [shard, detected] as const;
  });
  const settled = await follow(Promise.allSettled(detecting), () => done, progress);
  progress.finish();
  const failed = settled.find(({ status }) => status === 'rejected');
  if (failed === undefined) return new Map(await Promise.all(detecting));
  if (failed.status === 'rejected' && !isUnreadable(failed.reason)) throw failed.reason;
  rmSync(patches, { recursive: true });
  return undefined;
}

const tablesOf = (changed: Changed): readonly TableChanges[] =>
  [...changed.values()].flatMap(({ tables }) => tables);

const changedTables = (changed: Changed): ReadonlySet<string> =>
  new Set(tablesOf(changed).flatMap(({ table, isChanged }) => (isChanged ? [table] : [])));

function countsOf(changed: Changed): Counted {
  const counts = new Map<string, RowCounts>();
  for (const { table, rows, records } of tablesOf(changed)) {
    const its = counts.get(table) ?? { rows: 0, records: 0 };
    counts.set(table, { rows: its.rows + rows, records: its.records + records });
  }
  return counts;
}

function areFew(changed: Changed): boolean {
  const counts = countsOf(changed);
  const all = RESOURCES.reduce((sum, { plural }) => sum + (counts.get(plural)?.rows ?? 0), 0);
  const dirty = [...changed.values()].reduce((sum, its) => sum + its.dirty, 0);
  return dirty <= CHECKED_APART * all;
}

/** Runs an action now; its error is thrown when the result is read. */
function deferError<T>(action: () => T): () => T {
  try {
    const result = action();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
