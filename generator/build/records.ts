/**
 * Renders the documents of records, shard by shard: threads find out what changed, check it and stage
 * its documents in one pass.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Counts } from './counts.js';
import { Failure } from '../errors.js';
import { describedTable, fullRenderCause } from './full-render.js';
import { shardsOf, unrangedTables, wholeShard } from './incremental/detect.js';
import type { Shard, TableChanges } from './incremental/detect.js';
import { deferError, deferRejection, follow } from '../progress.js';
import type { Progress } from '../progress.js';
import type { BuildKey } from './incremental/build-key.js';
import type { Index } from '../tree/index-json.js';
import type { Tree } from '../tree/tree.js';
import type { StageSpec } from '../publish/stage-writer.js';
import { check, checkRecords, joinReports, markShared } from '../register/check.js';
import { isPublishable } from '../register/findings.js';
import type { CheckReport, Warning } from '../register/findings.js';
import type { Register } from '../register/database.js';
import {
  entriesOf,
  excludeInvalid,
  invalidRecords,
  markWithheld,
  overviewOf,
  recordsOf,
} from '../register/overview.js';
import type { Counted, InvalidIds, MeasuredRecords, Overview, RowCounts } from '../register/overview.js';
import { countRows, withheldWarnings, warningsOf } from '../register/warnings.js';
import type { Kind } from '../schema/field.js';
import { RESOURCES, resourceOf, tablesOf } from '../schema/index.js';
import { explainer } from '../register/slow-steps.js';
import type { Pool } from './workers/pool.js';
import { nothingOf } from './workers/shard.js';
import type { ShardDetection, ShardResult } from './workers/shard.js';
import { stepsIn } from './workers/threads.js';

/** What the records of a register are compared with, and by which threads. */
export interface RecordsWork {
  readonly register: Register;
  readonly pool: Pool;
  readonly tree: Tree;
  /** The index of what is published, if any. */
  readonly index: Index | undefined;
  readonly stage: StageSpec;
  readonly buildKey: BuildKey;
  readonly skipInvalid: boolean;
  readonly progress: Progress;
}

/** What became of the records. */
export interface RenderedRecords {
  readonly report: CheckReport;
  /** Records that are left out as invalid, per kind; empty if none is. */
  readonly excluded: Readonly<Record<string, number>>;
  /** The number of changed records of each kind; undefined if everything was rendered. */
  readonly changed: ReadonlyMap<Kind, number> | undefined;
  /** The tables with changes, if known. */
  readonly changedTables: ReadonlySet<string> | undefined;
  /** Why everything is rendered; null if not, or if there is nothing to compare with. */
  readonly fullRender: string | null;
  /** Whether the next build gets fingerprints to compare with. */
  readonly hasFingerprints: boolean;
  /** The ids of invalid records that are left out; none if there are too many. */
  readonly invalid: InvalidIds;
  /** What is published of each table. */
  readonly counts: Counts;
  /** What may be a mistake in the register. */
  readonly warnings: readonly Warning[];
  /** Totals of the register. @throws Failure as `recordsOf` does */
  readonly overview: () => Overview;
}

/**
 * Stages the documents of all records, or only of those that changed since the published snapshot.
 * @returns the report instead if the register must not be published
 */
export async function renderRecords(work: RecordsWork): Promise<RenderedRecords | CheckReport> {
  const { register, pool, index, buildKey, progress } = work;
  const unranged = await progress.blocking(() => unrangedIn(register), 'reading the register');
  const canDetect = unranged?.length === 0;
  const before = canDetect && index?.fingerprints === true ? index.buildKey : undefined;
  const isComparable = before?.code === buildKey.code && before.schema === buildKey.schema;
  const isWhole = !isComparable || before.operator !== buildKey.operator;
  const rendered = canDetect
    ? await renderByRange(work, isComparable, isWhole)
    : await renderWholeKinds(work);
  if ('findings' in rendered) return rendered;
  const { report, results, invalid, records } = rendered;
  const tables = canDetect ? results.flatMap((result) => result.tables) : undefined;
  const changedTables =
    isComparable && tables !== undefined
      ? new Set(tables.flatMap(({ table, isChanged }) => (isChanged ? [table] : [])))
      : undefined;
  const changed = isWhole ? undefined : changedByKind(results);
  const counting = deferRejection(countAll(pool, index?.counts, changedTables));
  // Runs on the main thread while the workers count.
  const warnings = await progress.blocking(
    () =>
      changed !== undefined && tables !== undefined && areFew(changed, countsOf(tables))
        ? withheldWarnings(register)
        : // Reads every table: if few records changed, a build would take 5 % longer.
          warningsOf(register, countRows(register)),
    'looking for odd values',
  );
  return {
    report,
    excluded:
      report.total > 0
        ? await progress.blocking(() => invalidRecords(register), 'counting invalid records')
        : {},
    changed,
    changedTables,
    fullRender: fullRenderCause({ index, buildKey, unranged: unranged ?? [] }),
    hasFingerprints: canDetect,
    invalid: keptIds(invalid),
    counts: await counting,
    warnings,
    overview: () =>
      overviewOf(records(), tables === undefined ? entriesOf(register) : countsOf(tables), register.measured),
  };
}

/** A pass over all records, which may be published. */
interface Pass {
  readonly report: CheckReport;
  readonly results: readonly ShardResult[];
  readonly invalid: InvalidIds;
  readonly records: () => readonly MeasuredRecords[];
}

/** Checks all, then renders each kind as one shard: its tables can't be read by ranges of ids. */
async function renderWholeKinds(work: RecordsWork): Promise<Pass | CheckReport> {
  const { register, pool, skipInvalid, progress } = work;
  const report = await check(register, progress, skipInvalid, stepsIn(pool));
  if (!isPublishable(report, skipInvalid)) return report;
  await progress.blocking(() => markWithheld(register), 'marking what is withheld');
  await pool.all('exclude', register.exclusions());
  const rendered = await renderShards(work, RESOURCES.map(wholeShard));
  return { ...rendered, report, invalid: {} };
}

/** @param isComparable whether there are fingerprints to compare with, @param isWhole see `ShardDetection` */
async function renderByRange(
  work: RecordsWork,
  isComparable: boolean,
  isWhole: boolean,
): Promise<Pass | CheckReport> {
  const { register, pool, tree, index, stage, skipInvalid, progress } = work;
  const invalidBefore = (isComparable && skipInvalid ? index?.invalid : undefined) ?? {};
  // What is withheld is marked already.
  if (Object.keys(invalidBefore).length > 0) excludeInvalid(register, invalidBefore);
  await progress.blocking(() => markShared(register), 'looking for shared ids');
  await pool.all('exclude', register.exclusions());
  const detection: ShardDetection = {
    old: isComparable ? tree.index : undefined,
    patches: stage.paths.patches,
    isWhole,
    skipInvalid,
    refused: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
  };
  // The list of withheld records is in no shard.
  const others = await progress.blocking(
    () => checkRecords(register, null, 'all'),
    'checking what is withheld',
  );
  if (others.length > 0) return checkAll(work);
  const shards = RESOURCES.flatMap((resource) => shardsOf(register, resource));
  const { results, records } = await renderShards(work, shards, detection);
  if (isStopped(detection)) return checkAll(work);
  const report = joinReports(results.flatMap(({ findings }) => findings));
  const invalid = invalidByKind(results);
  if (isDeepStrictEqual(invalid, invalidBefore)) return { report, results, invalid, records };
  excludeInvalid(register, invalid);
  await pool.all('exclude', register.exclusions());
  return { report, results, invalid, records: () => recordsOf(register) };
}

/** Checks a register of which one record can't be published, for the whole report. */
async function checkAll({ register, pool, skipInvalid, progress }: RecordsWork): Promise<CheckReport> {
  const report = await check(register, progress, skipInvalid, stepsIn(pool));
  if (isPublishable(report, skipInvalid)) throw new TypeError('a shard has findings that the check has not');
  return report;
}

const stop = ({ refused }: ShardDetection): void => void Atomics.store(refused, 0, 1);
const isStopped = ({ refused }: ShardDetection): boolean => Atomics.load(refused, 0) === 1;

/** Has the threads take all shards, and reads totals of the records here meanwhile. */
async function renderShards(
  { register, pool, stage, progress }: RecordsWork,
  shards: readonly Shard[],
  detection?: ShardDetection,
): Promise<Pick<Pass, 'results' | 'records'>> {
  const explained = explainer(register, progress);
  // Of a kind as one shard, the documents are counted, and how many there will be is not known.
  let [done, documents] = [0, 0];
  const onProgress = (steps: number): void => void (documents += steps);
  const job = async (shard: Shard): Promise<ShardResult> => {
    const { kind } = shard;
    const resource = resourceOf(kind);
    const step = { what: `rendering ${resource.plural}`, tables: tablesOf(resource), isLong: true };
    try {
      const result = await explained(step, (onStart) =>
        pool.run('shard', { shard, stage, detection }, { onStart, onProgress, folder: kind }),
      );
      done += 1;
      return result;
    } catch (error) {
      if (detection === undefined) throw error;
      // Spares the rest; if a view can't be read, the check says so.
      stop(detection);
      if (isUnreadable(error)) return nothingOf(shard);
      throw error;
    }
  };
  const jobs = deferRejection(Promise.all(shards.map(job)));
  const records = await progress.blocking(() => deferError(() => recordsOf(register)));
  if (detection === undefined) progress.start('rendering records', 0, 'documents');
  else progress.start('rendering records', shards.length, 'shards');
  const results = await follow(jobs, () => (detection === undefined ? documents : done), progress);
  progress.finish();
  return { results, records };
}

function invalidByKind(results: readonly ShardResult[]): InvalidIds {
  const invalid: InvalidIds = {};
  for (const { kind, invalid: ids } of results) if (ids.length > 0) (invalid[kind] ??= []).push(...ids);
  return invalid;
}

function changedByKind(results: readonly ShardResult[]): ReadonlyMap<Kind, number> {
  const changed = new Map<Kind, number>();
  for (const result of results) changed.set(result.kind, (changed.get(result.kind) ?? 0) + result.changed);
  return changed;
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

function countsOf(tables: readonly TableChanges[]): Counted {
  const counts = new Map<string, RowCounts>();
  for (const { table, rows, records } of tables) {
    const sum = counts.get(table) ?? { rows: 0, records: 0 };
    counts.set(table, { rows: sum.rows + rows, records: sum.records + records });
  }
  return counts;
}

/** Whether so few records changed that what reads all of them would take much longer. */
function areFew(changed: ReadonlyMap<Kind, number>, counts: Counted): boolean {
  const all = RESOURCES.reduce((sum, { plural }) => sum + (counts.get(plural)?.rows ?? 0), 0);
  return [...changed.values()].reduce((sum, each) => sum + each, 0) <= FEW * all;
}
const FEW = 0.1;
