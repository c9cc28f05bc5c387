/** What of the register is other than it was for the last snapshot, so that nothing else needs rendering. */
import { InputsComparison, inputsFile } from '../publish/inputs.js';
import type { Folders } from '../publish/inputs.js';
import { LedgerReader, LedgerWriter, NO_HASH } from '../publish/ledger.js';
import { CROWDED_RECORDS, blockStarts, blocks, hasBlocks, isTable, tablesOf } from '../register/blocks.js';
import { follow } from '../progress.js';
import type { Progress } from '../progress.js';
import type { Register } from '../register/open.js';
import type { Counted, RowCounts } from '../register/published.js';
import type { IdRange } from '../register/sql.js';
import type { Kind, Resource } from '../resources/field.js';
import { RESOURCES, WITHHELD } from '../resources/index.js';
import type { Table } from '../resources/index.js';
import type { Job } from '../jobs.js';
import type { Pool } from '../threads/pool.js';
import type { Say } from '../threads/serve.js';
import { newTurns, performed } from '../threads/turns.js';
import type { Hear } from '../threads/thread.js';
import type { Turns } from '../threads/turns.js';
import { asSurveyed } from './messages.js';
import { RecordsComparison } from './narrow.js';
import type { Ids } from './narrow.js';

/**
 * With more runs of changed ids in a table than these, its changed blocks are rendered whole, and with more blocks
 * everything is: lists of them are held in memory.
 */
const MOST_CHANGED = 64 * 1024;

/** What a survey of one table came to. */
export interface SurveyedTable {
  /** The ids of records whose rows changed, or of their blocks, ascending; undefined where that is not known, or where they are too many. */
  readonly changed: readonly Ids[] | undefined;
  /** Whether the blocks should be laid out anew: one holds too much, or most hold nothing any more. */
  readonly isWornOut: boolean;
  readonly counts: RowCounts;
  /** The checksums of the files that were written, by file. */
  readonly sums: Readonly<Record<string, string>>;
}

/** What a survey came to. */
export interface Surveyed {
  /** The ids that changed, ascending within a kind; undefined where all has to be looked at. */
  readonly ranges: readonly IdRange[] | undefined;
  /** The tables in which something changed. */
  readonly tables: ReadonlySet<string>;
  /** What is in each table, with what is withheld; undefined where that is not known. */
  readonly counted: Counted | undefined;
  /** The checksums of the files that the next build can compare with; undefined where it can't. */
  readonly sums: Readonly<Record<string, string>> | undefined;
}

/** A register of which nothing is known. */
export const NOT_SURVEYED: Surveyed = {
  ranges: undefined,
  tables: new Set(),
  counted: undefined,
  sums: undefined,
};

/** Kinds with many columns come first: threads end at about the same time where what is left for the end is small. */
const SURVEYED: readonly (readonly [Resource, Table])[] = RESOURCES.toReversed().flatMap((resource) =>
  tablesOf(resource).map((table) => [resource, table] as const),
);

/** Whether it is the table of the records of its kind. */
const holdsRecords = ([{ plural }, { name }]: readonly [Resource, Table]): boolean => name === plural;

/** Whether all tables can be told apart by blocks, and what is withheld is known without a check. */
export const isSurveyable = (register: Register): boolean =>
  isTable(register, WITHHELD) && SURVEYED.every(([, table]) => hasBlocks(register, table));

/** Where no block begins. */
const NO_BLOCK = -1;

/** The file with the lowest id of each block: the blocks of all tables of a kind are the same. */
const blocksFile = (kind: Kind): string => `blocks-${kind}`;

/** Lays out the blocks of a kind: where the last snapshot had them, and more for what has come behind them. */
function layOut(register: Register, resource: Resource, { old, next }: Folders): string {
  const writer = new LedgerWriter(next, blocksFile(resource.kind), '');
  try {
    let last: number | undefined;
    const add = (key: number): void => writer.add({ key, bytes: 0, hash: NO_HASH });
    const reader = old === undefined ? undefined : LedgerReader.open(old, blocksFile(resource.kind));
    for (const { key } of reader?.entries() ?? []) {
      last = key;
      add(key);
    }
    reader?.close();
    for (const start of blockStarts(register, resource, last)) add(start);
    return writer.finish();
  } finally {
    writer.close();
  }
}

/** The lowest id of the last of the blocks in a folder. */
function lastStart(kind: Kind, folder: string): number {
  const reader = LedgerReader.open(folder, blocksFile(kind));
  try {
    reader?.restrict({ start: reader.size - 1, end: reader.size });
    return reader?.peekKey() ?? NO_BLOCK;
  } finally {
    reader?.close();
  }
}

function* startsOf(kind: Kind, folder: string): Generator<number, void, undefined> {
  const reader = LedgerReader.open(folder, blocksFile(kind));
  try {
    for (const { key } of reader?.entries() ?? []) yield key;
  } finally {
    reader?.close();
  }
}

/** Looks at those of the tables that are this thread's, and says so after each. */
export function surveyTables(
  register: Register,
  job: { readonly folders: Folders; readonly turns: Turns },
  say: Say,
): Readonly<Record<string, SurveyedTable>> {
  const surveyed = performed(job.turns, SURVEYED, (each) => {
    const [, { name }] = each;
    const its = surveyTable(register, each, job.folders);
    say({ table: name });
    return [name, its] as const;
  });
  return Object.fromEntries(surveyed);
}

/** Holds a table's blocks against those of the last snapshot, and writes them down for the next. */
function surveyTable(register: Register, found: readonly [Resource, Table], folders: Folders): SurveyedTable {
  const [{ kind }, table] = found;
  const { old, next } = folders;
  const comparison = new InputsComparison(table.name, folders);
  const records = new RecordsComparison(table, folders, MOST_CHANGED);
  const inBlocks: Ids[] = [];
  let isCrowded = false;
  let areTooMany = false;
  let count = 0;
  let empty = 0;
  let rowCount = 0;
  try {
    // Behind it are blocks that the last snapshot did not have: one that holds nothing now is not what it was.
    const last = old === undefined ? NO_BLOCK : lastStart(kind, old);
    for (const block of blocks(register, table, startsOf(kind, next))) {
      const { low, high, rows, hash } = block;
      count += 1;
      rowCount += rows;
      if (rows === 0) empty += 1;
      if (rows > CROWDED_RECORDS) isCrowded = true;
      if (comparison.note(low, hash) && low <= last) continue;
      records.look(block);
      if (inBlocks.length < MOST_CHANGED) inBlocks.push([low, high]);
      else areTooMany = true;
    }
    const noted = records.finish();
    return {
      changed: old === undefined || areTooMany ? undefined : (records.changed ?? inBlocks),
      // The first block begins at 0, and may be empty from the beginning.
      isWornOut: holdsRecords(found) && (isCrowded || empty - 1 > count / 2),
      counts: { rows: rowCount, records: noted.records },
      sums: { [inputsFile(table.name)]: comparison.finish(), ...noted.sums },
    };
  } finally {
    comparison.close();
    records.close();
  }
}

/**
 * Looks at every row of the register once, in all threads.
 * @param register lays out the blocks, at the state that the threads see
 * @param progress shows how far it is; left out where something else is shown meanwhile
 */
export async function survey(
  register: Register,
  pool: Pool<Job>,
  folders: Folders,
  progress?: Progress,
): Promise<Surveyed> {
  let done = 0;
  const surveying = surveyAll(register, pool, folders, () => (done += 1));
  if (progress === undefined) return surveying;
  progress.start('looking for changes', SURVEYED.length, 'tables');
  const surveyed = await follow(surveying, () => done, progress);
  progress.finish();
  return surveyed;
}

async function surveyAll(
  register: Register,
  pool: Pool<Job>,
  folders: Folders,
  hear: Hear,
): Promise<Surveyed> {
  const laid = RESOURCES.map(
    (resource) => [blocksFile(resource.kind), layOut(register, resource, folders)] as const,
  );
  const answers = await pool.share({ do: 'survey', folders, turns: newTurns() }, hear);
  const surveyed = new Map(answers.flatMap((answer) => Object.entries(asSurveyed(answer))));
  const all = [...surveyed.values()];
  const isKnown = folders.old !== undefined;
  const isWornOut = isKnown && all.some((table) => table.isWornOut);
  const canTell = isKnown && !isWornOut && all.every(({ changed }) => changed !== undefined);
  return {
    ranges: canTell ? RESOURCES.flatMap(({ kind }) => rangesOf(kind, surveyed)) : undefined,
    tables: new Set([...surveyed].filter(([, { changed }]) => changed?.length !== 0).map(([name]) => name)),
    counted: new Map([...surveyed].map(([name, { counts }]) => [name, counts])),
    sums: isWornOut
      ? undefined
      : Object.fromEntries([...laid, ...all.flatMap(({ sums }) => Object.entries(sums))]),
  };
}

/** A record changed where its rows did in any of the tables of its kind. */
function rangesOf(kind: Kind, surveyed: ReadonlyMap<string, SurveyedTable>): readonly IdRange[] {
  const ids = SURVEYED.filter(([resource]) => resource.kind === kind)
    .flatMap(([, { name }]) => surveyed.get(name)?.changed ?? [])
    .toSorted(([a], [b]) => a - b);
  const ranges: { kind: Kind; low: number; high: number }[] = [];
  for (const [low, high] of ids) {
    const last = ranges.at(-1);
    if (last !== undefined && low <= last.high + 1) last.high = Math.max(last.high, high);
    else ranges.push({ kind, low, high });
  }
  return ranges;
}
