/** The rows of an export, read in one ordered pass, many at once and column by column. */
import type { Register } from '../register/database.js';
import { isKeyQuery, pageEndQuery, pageQuery } from '../register/pages.js';
import type { PageColumn } from '../register/pages.js';
import { entriesQuery, recordsQuery } from '../register/sql.js';
import { MAX_INTEGER } from '../schema/field.js';
import { CellWriter } from './cells.js';
import type { Block, Cell } from './cells.js';
import { pageOf } from './page.js';
import { DerivedColumns } from './derived.js';
import type { Export } from './tables.js';

/** More cost memory, and save little. */
const BLOCK_ROWS = 1000;

/**
 * All rows of an export, ordered by its key. A block has so many rows, and those that share the last one's record
 * beside, wherever they come from: files that are cut by blocks are then the same for a table and for a view of it.
 */
export function* blocks(register: Register, table: Export): Generator<Block, void, undefined> {
  const derived = new DerivedColumns(register, table);
  try {
    for (const { rows, columns } of stretches(register, table))
      yield { rows, columns: derived.complete(columns) };
  } finally {
    derived.close();
  }
}

/** Blocks of the columns that SQL can say, the first of which has the ids of the records that the rows belong to. */
function stretches(register: Register, table: Export): Generator<Block, void, undefined> {
  const { resource, history, key } = table;
  if (table.columns[0]?.value.name !== key[0])
    throw new TypeError(`the columns of "${table.name}" don't begin with ${key[0]}`);
  const columns = table.columns.flatMap(({ value: { type }, from }) =>
    'sql' in from ? [{ sql: from.sql, type }] : [],
  );
  const [isKey] = register.integers(isKeyQuery(history?.table ?? resource.plural, key));
  return isKey === 1n ? pages(register, table, columns) : gathered(register, table, columns);
}

/** From a table that finds rows by their key: page by page. */
function* pages(
  register: Register,
  { resource, history }: Export,
  columns: readonly PageColumn[],
): Generator<Block, void, undefined> {
  const endOfPage = register.asked(pageEndQuery(resource, history));
  const page = register.asked(pageQuery(resource, history, columns));
  for (let before = 0; before < MAX_INTEGER;) {
    const end = Number(endOfPage(before, BLOCK_ROWS - 1)?.[0] ?? MAX_INTEGER);
    const block = pageOf(page(before, end));
    if (block.rows > 0) yield block;
    before = end;
  }
}

/** From anything else, where each question costs a pass over all of it: in one pass, row by row. */
function* gathered(
  register: Register,
  { resource, history }: Export,
  columns: readonly PageColumn[],
): Generator<Block, void, undefined> {
  const names = columns.map(({ sql }) => sql);
  const sql =
    history === undefined ? recordsQuery(resource, names) : entriesQuery(resource.kind, history, names);
  const writer = new CellWriter();
  const block = (lists: readonly Cell[][]): Block => ({
    rows: lists[0]?.length ?? 0,
    columns: columns.map(({ type }, index) => writer.cellsOf(lists[index] ?? [], type)),
  });
  let lists: Cell[][] = columns.map(() => []);
  for (const row of register.rows<Cell[]>(sql)) {
    const [keys = []] = lists;
    if (keys.length >= BLOCK_ROWS && keys.at(-1) !== row[0]) {
      yield block(lists);
      lists = columns.map(() => []);
    }
    for (const [index, list] of lists.entries()) list.push(row[index] ?? null);
  }
  if (lists[0]?.length !== 0) yield block(lists);
}
