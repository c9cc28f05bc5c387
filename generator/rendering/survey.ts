/** What of the register is other than it was for the last snapshot, so that nothing else needs rendering. */
import { InputsComparison, inputsFile } from '../publish/inputs.js';
import type { Folders } from '../publish/inputs.js';
import { LedgerReader, LedgerWriter, NO_HASH } from '../publish/ledger.js';
import { CROWDED_RECORDS, blockStarts, blocks, hasBlocks, tablesOf } from '../register/blocks.js';
import type { Register } from '../register/open.js';
import type { IdRange } from '../register/sql.js';
import type { Kind, Resource } from '../resources/field.js';
import { RESOURCES } from '../resources/index.js';
import type { Table } from '../resources/index.js';
import type { Job } from '../jobs.js';
import type { Pool } from '../threads/pool.js';
import { newTurns, taken } from '../threads/turns.js';
import type { Turns } from '../threads/turns.js';
import { asSurveyed } from './messages.js';

/** With more changed blocks in a table than these, everything is looked at anew: their list is held in memory. */
const MOST_CHANGED = 64 * 1024;

/** What a survey of one table came to. */
export interface SurveyedTable {
  /** The blocks that changed: the lowest and the highest id of each, ascending. */
  readonly changed: readonly (readonly [low: number, high: number])[];
  /** Whether the blocks should not be used again: too many of them changed, or hold too much. */
  readonly isWornOut: boolean;
  /** The checksums of the files that were written, by file. */
  readonly sums: Readonly<Record<string, string>>;
}

/** What a survey came to. */
export interface Surveyed {
  /** The ids of the blocks that changed, ascending within a kind; undefined where all has to be looked at. */
  readonly ranges: readonly IdRange[] | undefined;
  /** The checksums of the files that the next build can compare with; undefined where it can't. */
  readonly sums: Readonly<Record<string, string>> | undefined;
}

/** A register of which nothing is known. */
export const NOT_SURVEYED: Surveyed = { ranges: undefined, sums: undefined };

const SURVEYED: readonly (readonly [Resource, Table])[] = RESOURCES.flatMap((resource) =>
  tablesOf(resource).map((table) => [resource, table] as const),
);

/** Whether it is the table of the records of its kind. */
const laysOut = ([{ plural }, { name }]: readonly [Resource, Table]): boolean => name === plural;

/** Whether all tables can be told apart by blocks. */
export const isSurveyable = (register: Register): boolean =>
  SURVEYED.every(([, table]) => hasBlocks(register, table));

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

function* startsOf(kind: Kind, folder: string): Generator<number, void, undefined> {
  const reader = LedgerReader.open(folder, blocksFile(kind));
  try {
    for (const { key } of reader?.entries() ?? []) yield key;
  } finally {
    reader?.close();
  }
}

/** Looks at those of some tables, by name, that are this thread's. */
export function surveyTables(
  register: Register,
  {
    tables,
    folders,
    turns,
  }: { readonly tables: readonly string[]; readonly folders: Folders; readonly turns: Turns },
): Readonly<Record<string, SurveyedTable>> {
  const known = SURVEYED.filter(([, { name }]) => tables.includes(name));
  return Object.fromEntries(
    [...taken(turns, known)].map((each) => [each[1].name, surveyTable(register, each, folders)]),
  );
}

/**
 * Holds a table's blocks against those of the last snapshot, and writes them down for the next. The table of the
 * records of a kind lays the blocks out for its histories.
 */
function surveyTable(register: Register, found: readonly [Resource, Table], folders: Folders): SurveyedTable {
  const [resource, table] = found;
  const isFirst = laysOut(found);
  const { kind } = resource;
  const laid = isFirst ? { [blocksFile(kind)]: layOut(register, resource, folders) } : {};
  const comparison = new InputsComparison(table.name, folders);
  const changed: [number, number][] = [];
  let isWornOut = false;
  try {
    for (const { low, high, rows, hash } of blocks(register, table, startsOf(kind, folders.next))) {
      if (isFirst && rows > CROWDED_RECORDS) isWornOut = true;
      if (comparison.note(low, hash)) continue;
      if (changed.length < MOST_CHANGED) changed.push([low, high]);
      else isWornOut = true;
    }
    const sums = { ...laid, [inputsFile(table.name)]: comparison.finish() };
    return { changed: folders.old === undefined ? [] : changed, isWornOut, sums };
  } finally {
    comparison.close();
  }
}

/** Looks at every row of the register once, in all threads. */
export async function survey(pool: Pool<Job>, folders: Folders): Promise<Surveyed> {
  const surveyed = new Map<string, SurveyedTable>();
  const look = async (these: typeof SURVEYED): Promise<void> => {
    const job = {
      do: 'survey',
      tables: these.map(([, { name }]) => name),
      folders,
      turns: newTurns(),
    } as const;
    for (const answer of await pool.share(job))
      for (const [table, its] of Object.entries(asSurveyed(answer))) surveyed.set(table, its);
  };
  await look(SURVEYED.filter(laysOut));
  await look(SURVEYED.filter((each) => !laysOut(each)));
  const all = [...surveyed.values()];
  const isWornOut = all.some((table) => table.isWornOut);
  const isKnown = folders.old !== undefined;
  return {
    ranges: isKnown && !isWornOut ? RESOURCES.flatMap(({ kind }) => rangesOf(kind, surveyed)) : undefined,
    sums:
      isWornOut && isKnown ? undefined : Object.fromEntries(all.flatMap(({ sums }) => Object.entries(sums))),
  };
}

/** A block changed where any of the tables of its kind changed in it. */
function rangesOf(kind: Kind, surveyed: ReadonlyMap<string, SurveyedTable>): readonly IdRange[] {
  const changed = new Map<number, number>();
  for (const [resource, { name }] of SURVEYED) {
    if (resource.kind !== kind) continue;
    for (const [low, high] of surveyed.get(name)?.changed ?? []) changed.set(low, high);
  }
  return [...changed].toSorted(([a], [b]) => a - b).map(([low, high]) => ({ kind, low, high }));
}
