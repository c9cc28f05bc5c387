/** Detects changes since the previous snapshot and checks the register, before rendering. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Counts } from './counts.js';
import { Failure } from '../errors.js';
import { describedTable, fullRenderCause } from './full-render.js';
import { changedRanges, recordsFile, shardsOf, unrangedTables, wholeShard } from './incremental/detect.js';
import type { Detected, Shard, TableChanges } from './incremental/detect.js';
import { follow } from '../progress.js';
import type { Progress } from '../progress.js';
import type { BuildKey } from './incremental/build-key.js';
import type { Index } from '../tree/index-json.js';
import { check } from '../register/check.js';
import { isPublishable } from '../register/findings.js';
import type { CheckReport } from '../register/findings.js';
import type { Register } from '../register/database.js';
import {
  entriesOf,
  excludeInvalid,
  invalidIds,
  invalidRecords,
  markWithheld,
  overviewOf,
  recordsOf,
  scopeChecked,
} from '../register/overview.js';
import type { Counted, InvalidIds, Overview, RowCounts } from '../register/overview.js';
import { countRows, unknownWithheld, warningsOf } from '../register/warnings.js';
import type { Warning } from '../register/warnings.js';
import { RESOURCES, resourceOf, tablesOf } from '../schema/index.js';
import { explainer } from '../register/slow-steps.js';
import type { Pool } from './workers/pool.js';
import type { RenderShard } from './workers/shard.js';
import { stepsIn } from './workers/threads.js';

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
  /** Why everything is rendered; null if not, or if there is nothing to compare with. */
  readonly fullRender: string | null;
  /** Whether the next build gets fingerprints to compare with. */
  readonly hasFingerprints: boolean;
  /** The ids of invalid records that are left out; none if there are too many. */
  readonly invalid: InvalidIds;
  /** What is published of each table; empty if the register must not be published. */
  readonly counts: Counts;
  /** What may be a mistake in the register. */
  readonly warnings: readonly Warning[];
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
  const { index, patches } = basis;
  const before = index?.fingerprints === true ? index.buildKey : undefined;
  const isComparable = before?.code === buildKey.code && before.schema === buildKey.schema;
  const unranged = await progress.blocking(() => unrangedIn(register), 'reading the register');
  const canDetect = unranged?.length === 0;
  const invalidBefore = (canDetect && isComparable && skipInvalid ? index?.invalid : undefined) ?? {};
  if (canDetect) {
    excludeInvalid(register, invalidBefore);
    await pool.all('exclude', register.exclusions());
  }
  const shards = RESOURCES.flatMap((resource) =>
    canDetect ? shardsOf(register, resource) : [wholeShard(resource)],
  );
  const detect = () => detectAll(register, shards, pool, basis, isComparable, progress);
  const detecting = canDetect && isComparable ? detect() : undefined;
  // A stop may reject it before it is awaited.
  detecting?.catch(() => undefined);
  // Runs on the main thread while the workers detect changes.
  const records = detecting && (await progress.blocking(() => deferError(() => recordsOf(register))));
  const changed = await detecting;
  const isSameOperator = before?.operator === buildKey.operator;
  const scope = changed !== undefined && isSameOperator && areFew(changed) ? 'changed' : 'all';
  if (scope === 'changed') {
    await pool.all('scope', patches);
    if (skipInvalid) scopeChecked(register, changedRanges(patches));
  }
  // The check finds out which of them still are.
  if (canDetect) excludeInvalid(register, {});
  const checked = (of: typeof scope): Promise<CheckReport> =>
    check(register, progress, skipInvalid, of, stepsIn(pool));
  let report = await checked(scope);
  const isSameInvalid = (): boolean => isDeepStrictEqual(invalidIds(register), invalidBefore);
  // Other errors are reported for the whole register.
  if (scope === 'changed' && report.total > 0 && !(skipInvalid && isSameInvalid()))
    report = await checked('all');
  const isToPublish = isPublishable(report, skipInvalid);
  if (isToPublish && !canDetect)
    await progress.blocking(() => markWithheld(register), 'marking what is withheld');
  const isAsDetected = canDetect && isSameInvalid();
  if (!isAsDetected) {
    await pool.all('exclude', register.exclusions());
    rmSync(patches, { recursive: true, force: true });
  }
  const detected =
    isToPublish && canDetect ? ((isAsDetected ? changed : undefined) ?? (await detect())) : undefined;
  const compared = isComparable ? detected : undefined;
  const tables = compared && changedTables(compared);
  const counting = isToPublish ? countAll(pool, index?.counts, tables) : undefined;
  counting?.catch(() => undefined);
  // Runs on the main thread while the workers count.
  const warnings = isToPublish
    ? await progress.blocking(() => warningsIn(scope, register), 'looking for odd values')
    : [];
  return {
    report,
    excluded:
      isToPublish && report.total > 0
        ? await progress.blocking(() => invalidRecords(register), 'counting invalid records')
        : {},
    shards,
    changed: isSameOperator ? compared : undefined,
    changedTables: tables,
    counts: (await counting) ?? {},
    warnings,
    fullRender: fullRenderCause({ index, buildKey, unranged: unranged ?? [] }),
    hasFingerprints: detected !== undefined,
    invalid: detected === undefined ? {} : keptIds(invalidIds(register)),
    overview: () =>
      overviewOf(
        isAsDetected && records !== undefined ? records() : recordsOf(register),
        detected === undefined ? entriesOf(register) : countsOf(detected),
        register.measured,
      ),
  };
}

/** How many ids of invalid records are kept. With more, the next build looks for changes twice. */
const KEPT_IDS = 10_000;

const keptIds = (invalid: InvalidIds): InvalidIds =>
  Object.values(invalid).reduce((sum, { length }) => sum + length, 0) > KEPT_IDS ? {} : invalid;

/** Counts tables in the threads; those without changes are what they were. */
async function countAll(
  pool: Pool,
  before: Counts | undefined,
  changed: ReadonlySet<string> | undefined,
): Promise<Counts> {
  const counting = RESOURCES.flatMap((resource) =>
    tablesOf(resource).map(async (table) => {
      const kept = changed?.has(table.name) === false ? before?.[table.name] : undefined;
      return [table.name, kept ?? (await pool.run('count', { kind: resource.kind, table }))] as const;
    }),
  );
  return Object.fromEntries(await Promise.all(counting));
}

/**
 * What `check` warns of. That reads every table, which a build otherwise does only if it checks all
 * records: if few changed, it would take 5 % longer. The withheld list is always read.
 */
const warningsIn = (scope: 'all' | 'changed', register: Register): readonly Warning[] =>
  scope === 'all' ? warningsOf(register, countRows(register)) : unknownWithheld(register);

/** The shards with documents to render. @param patches the folder of patches */
export const shardsToRender = ({ shards, changed }: Examined, patches: string): readonly RenderShard[] =>
  shards
    .filter((shard) => changed?.get(shard)?.dirty !== 0)
    .map((shard) => ({ shard, changed: changed && join(patches, recordsFile(shard.kind), shard.part) }));

/**
 * The tables that can't be read by ranges of ids, as `view games`; undefined if one can't be read at
 * all. If there are none, the exclusions are set.
 */
function unrangedIn(register: Register): readonly string[] | undefined {
  try {
    const tables = RESOURCES.flatMap((resource) => unrangedTables(register, resource));
    if (tables.length === 0) markWithheld(register);
    return tables.map((table) => describedTable(register, table));
  } catch (error) {
    // The check will report the error.
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}

/** Whether SQLite refused a statement: a table, column or view is missing or invalid. */
const isUnreadable = (error: unknown): boolean => error instanceof Failure && error.cause === 'SQLITE_ERROR';

type ChangedShards = ReadonlyMap<Shard, Detected>;

/** @returns undefined if the register can't be read; the check reports why */
async function detectAll(
  register: Register,
  shards: readonly Shard[],
  pool: Pool,
  { folder, patches }: Basis,
  isComparable: boolean,
  progress: Progress,
): Promise<ChangedShards | undefined> {
  progress.start('looking for changes', shards.length, 'shards');
  let done = 0;
  const old = isComparable ? folder : undefined;
  const explained = explainer(register, progress);
  const detecting = shards.map(async (shard) => {
    const resource = resourceOf(shard.kind);
    const step = { what: `looking for changes in ${resource.plural}`, tables: tablesOf(resource) };
    const detected = await explained(step, (onStart) =>
      pool.run('detect', { shard, old, patches }, { onStart }),
    );
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

const changesIn = (changed: ChangedShards): readonly TableChanges[] =>
  [...changed.values()].flatMap(({ tables }) => tables);

const changedTables = (changed: ChangedShards): ReadonlySet<string> =>
  new Set(changesIn(changed).flatMap(({ table, isChanged }) => (isChanged ? [table] : [])));

function countsOf(changed: ChangedShards): Counted {
  const counts = new Map<string, RowCounts>();
  for (const { table, rows, records } of changesIn(changed)) {
    const its = counts.get(table) ?? { rows: 0, records: 0 };
    counts.set(table, { rows: its.rows + rows, records: its.records + records });
  }
  return counts;
}

function areFew(changed: ChangedShards): boolean {
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
