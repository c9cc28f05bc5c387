/** The register before anything is rendered: what changed since the last snapshot, and whether it keeps the contract. */
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
import { entriesOf, markWithheld, overviewOf, recordsOf } from './register/overview.js';
import type { Counted, Overview, RowCounts } from './register/overview.js';
import { RESOURCES } from './schema/index.js';
import type { Pool } from './workers/pool.js';
import type { RenderShard } from './workers/shard.js';

/** What is known of the register before anything is rendered. */
export interface Examined {
  readonly report: CheckReport;
  /** All records. */
  readonly shards: readonly Shard[];
  /** What changed in each shard; undefined where all is rendered. */
  readonly changed: ReadonlyMap<Shard, Detected> | undefined;
  /** The tables in which something changed, where that is known. */
  readonly changedTables: ReadonlySet<string> | undefined;
  /** Whether there are fingerprints for the next build to compare with. */
  readonly hasFingerprints: boolean;
  /** The register as a whole. @throws Failure as `recordsOf` does */
  readonly overview: () => Overview;
}

/** Of more records than this share, all are checked: looking them up one by one takes longer. */
const CHECKED_APART = 0.1;

/** What is compared with. */
export interface Basis {
  /** The published index, if there is one, and its folder. */
  readonly index: Index | undefined;
  readonly folder: string;
  /** Where patches are written. */
  readonly patches: string;
}

/**
 * Detects what changed, and checks that: the rest was found in order when it was published.
 * @param buildKey of this build
 */
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
  const canDetect = isReadable(register);
  if (canDetect) await pool.all('exclude', register.exclusions());
  const shards = RESOURCES.flatMap((resource) =>
    canDetect ? shardsOf(register, resource) : [wholeShard(resource)],
  );
  const detect = () => detectAll(shards, pool, basis, isComparable, progress);
  const detecting = canDetect && isComparable ? detect() : undefined;
  // Meanwhile there is something to do here.
  const records = detecting && attempted(() => recordsOf(register));
  const changed = await detecting;
  const isSameOperator = before?.operator === buildKey.operator;
  const scope = changed !== undefined && isSameOperator && isLittle(changed) ? 'changed' : 'all';
  if (scope === 'changed') await pool.all('scope', basis.patches);
  const checked = (of: typeof scope): Promise<CheckReport> =>
    check(register, progress, skipInvalid, of, (step) => pool.run('check', step));
  let report = await checked(scope);
  // What is wrong is reported of the whole register.
  if (scope === 'changed' && report.total > 0) report = await checked('all');
  if (report.total > 0 || !canDetect) {
    if (isPublishable(report, skipInvalid)) markWithheld(register);
    await pool.all('exclude', register.exclusions());
  }
  // Records that were left out must be found and reported again.
  const isWhole = report.total === 0;
  const detected = isWhole && canDetect ? (changed ?? (await detect())) : undefined;
  const compared = isComparable ? detected : undefined;
  return {
    report,
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

/** The shards of which documents must be rendered. @param patches the folder of patches */
export const shardsToRender = ({ shards, changed }: Examined, patches: string): readonly RenderShard[] =>
  shards
    .filter((shard) => changed?.get(shard)?.dirty !== 0)
    .map((shard) => ({ shard, changed: changed && join(patches, recordsFile(shard.kind), shard.part) }));

/** Whether all that is published can be read by ranges of ids; what is withheld is known then. */
function isReadable(register: Register): boolean {
  try {
    if (!RESOURCES.every((resource) => isShardable(register, resource))) return false;
    markWithheld(register);
    return true;
  } catch (error) {
    // The check says what is wrong.
    if (isUnreadable(error)) return false;
    throw error;
  }
}

/** Whether SQLite refused a statement: a table, a column or a view is not as expected, or a value is no JSON. */
const isUnreadable = (error: unknown): boolean => error instanceof Failure && error.cause === 'SQLITE_ERROR';

type Changed = ReadonlyMap<Shard, Detected>;

/** @returns undefined where the register can't be read; the check says why */
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

function isLittle(changed: Changed): boolean {
  const counts = countsOf(changed);
  const all = RESOURCES.reduce((sum, { plural }) => sum + (counts.get(plural)?.rows ?? 0), 0);
  const dirty = [...changed.values()].reduce((sum, its) => sum + its.dirty, 0);
  return dirty <= CHECKED_APART * all;
}

/** Acts at once; what goes wrong is thrown when the result is asked for. */
function attempted<T>(action: () => T): () => T {
  try {
    const result = action();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
