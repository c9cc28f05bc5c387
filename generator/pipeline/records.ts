/**
 * Renders the documents of records, shard by shard: threads find out what changed, check it and stage
 * its documents in one pass.
 */
import { isDeepStrictEqual } from 'node:util';
import type { BuildConfig } from '../config/config.js';
import type { Counts } from './counts.js';
import { Failure } from '../base/errors.js';
import { describedTable, fullRenderCause } from './full-render.js';
import { shardsOf, unrangedTables, wholeShard, type Shard, type TableChanges } from './incremental/detect.js';
import { deferError, deferRejection, follow, type Progress } from '../base/progress.js';
import type { BuildKey } from './incremental/build-key.js';
import type { Described } from '../state/schema.js';
import type { Tree } from '../tree/tree.js';
import type { StageSpec } from '../publish/stage.js';
import { check, checkRecords, joinReports, markShared, readTwice } from '../register/check.js';
import { isPublishable, type CheckReport, type Warning } from '../register/findings.js';
import type { Register } from '../register/database.js';
import {
  entriesOf,
  excludeInvalid,
  invalidRecords,
  markWithheld,
  overviewOf,
  recordsOf,
  type Counted,
  type InvalidIds,
  type MeasuredRecords,
  type Overview,
  type RowCounts,
} from '../register/overview.js';
import { ODD_VALUES, countRows, unknownWithheld, warningsOf } from '../register/warnings.js';
import type { Kind } from '../schema/field.js';
import { RESOURCES, resourceOf, tablesOf } from '../schema/schema.js';
import { explainer } from '../register/explain.js';
import type { Pool } from './workers/pool.js';
import { nothingOf, type ShardDetection, type ShardResult } from './workers/shard.js';
import type { DocumentsRange } from '../exports/documents.js';
import { stepsIn } from './workers/threads.js';

/** What the records of a register are compared with, and by which threads. */
export interface RecordsWork {
  readonly register: Register;
  readonly pool: Pool;
  readonly tree: Tree;
  /** What is published was made from, if there is anything. */
  readonly last: Described | undefined;
  readonly stage: StageSpec;
  readonly buildKey: BuildKey;
  readonly config: Pick<BuildConfig, 'skipInvalid' | 'keepDownloads'>;
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
  /** Where the documents of a kind are cut in the downloads. */
  readonly rangesOf: (kind: Kind) => readonly DocumentsRange[];
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
  const { register, pool, last, buildKey, progress } = work;
  const unranged = await progress.blocking(() => unrangedIn(register), 'choosing how to read the register');
  const canDetect = unranged?.length === 0;
  const before = canDetect && last?.fingerprints === true ? last.buildKey : undefined;
  // By a clock that was wrong, so nothing that was checked then is trusted.
  const wasAhead = Object.values(last?.counts ?? {}).some(
    ({ newest }) => (newest ?? '') > register.latestTime,
  );
  const isComparable = !wasAhead && before?.code === buildKey.code && before.schema === buildKey.schema;
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
  const counting = deferRejection(countAll(pool, last?.counts, changedTables));
  // Runs on the main thread while the workers count.
  const warnings = await progress.blocking(
    () =>
      changed !== undefined && tables !== undefined && areFew(changed, countsOf(tables))
        ? unknownWithheld(register)
        : // Reads every table: if few records changed, a build would take 5 % longer.
          warningsOf(register, countRows(register)),
    ODD_VALUES,
  );
  return {
    report,
    excluded:
      report.total > 0
        ? await progress.blocking(() => invalidRecords(register), 'counting invalid records, for the summary')
        : {},
    changed,
    changedTables,
    fullRender: fullRenderCause({ last, buildKey, unranged: unranged ?? [], wasAhead }),
    hasFingerprints: canDetect,
    invalid: keptIds(invalid),
    rangesOf: (kind) => results.flatMap((result) => (result.kind === kind ? [result.documents] : [])),
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
  const { register, pool, progress } = work;
  const { skipInvalid } = work.config;
  const report = await check(register, progress, skipInvalid, stepsIn(pool));
  if (!isPublishable(report, skipInvalid)) return report;
  await progress.blocking(() => markWithheld(register), 'marking what is withheld, to leave it out');
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
  const { register, pool, last, progress, stage } = work;
  const { skipInvalid, keepDownloads } = work.config;
  const invalidBefore = (isComparable && skipInvalid ? last?.invalid : undefined) ?? {};
  // What is withheld is marked already.
  if (Object.keys(invalidBefore).length > 0) excludeInvalid(register, invalidBefore);
  const differing = await progress.blocking(
    () => readTwice(register),
    'reading some rows of each view twice, since they must not change',
  );
  if (differing.total > 0) return differing;
  await progress.blocking(() => markShared(register), 'looking for shared ids, which break the contract');
  await pool.all('exclude', register.exclusions());
  const detection: ShardDetection = {
    isComparable,
    isWhole,
    skipInvalid,
    hasDownloads: stage.examples === undefined && (isWhole || !keepDownloads),
    refused: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
  };
  // The list of withheld records is in no shard.
  const others = await progress.blocking(
    () => checkRecords(register, null, 'all'),
    'checking what is withheld, since an error there could publish it',
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
async function checkAll({ register, pool, config, progress }: RecordsWork): Promise<CheckReport> {
  const { skipInvalid } = config;
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
    try {
      const result = await explained(`rendering ${resource.plural}`, tablesOf(resource), (onStart) =>
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
  if (detection === undefined) progress.start('rendering records', 0, 'documents');
  else progress.start('rendering records', shards.length, 'shards');
  const records = await progress.blocking(() => deferError(() => recordsOf(register)));
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
