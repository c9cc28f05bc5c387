/** The rows of an export, read in one ordered pass, many at once and column by column. */
import type { Register } from '../register/open.js';
import { entriesQuery, isKeyQuery, pageEndQuery, pageQuery, recordsQuery } from '../register/sql.js';
import { MAX_INTEGER } from '../resources/field.js';
import { cellsOf } from './cells.js';
import type { Block, Cell } from './cells.js';
import { SeriesColumns } from './series.js';
import type { Export } from './tables.js';

/** More cost memory, and save little. */
const BLOCK_ROWS = 1000;

/**
 * All rows of an export, ordered by its key. A block has so many rows, and those that share the last one's record
 * beside, wherever they come from: files that are cut by blocks are then the same for a table and for a view of it.
 */
export function* blocks(register: Register, table: Export): Generator<Block, void, undefined> {
  const series = new SeriesColumns(register, table);
  try {
    for (const [keys, ...stored] of stretches(register, table)) {
      yield { rows: keys?.length ?? 0, columns: series.complete(keys ?? [], stored) };
    }
  } finally {
    series.close();
  }
}

/** The columns of some rows that SQL can say, behind the ids of the records they belong to. */
type Stretch = readonly (readonly Cell[])[];

function stretches(register: Register, table: Export): Generator<Stretch, void, undefined> {
  const { resource, history } = table;
  const key = history?.key.name ?? 'id';
  const columns = [key, ...table.columns.flatMap(({ from }) => ('sql' in from ? [from.sql] : []))];
  const keys = history === undefined ? [key] : [key, history.order.name];
  const [isKey] = register.integers(isKeyQuery(history?.table ?? resource.plural, keys));
  return isKey === 1n ? pages(register, table, columns) : gathered(register, table, columns);
}

/** From a table that finds rows by their key: page by page. */
function* pages(
  register: Register,
  { resource, history }: Export,
  columns: readonly string[],
): Generator<Stretch, void, undefined> {
  const endOfPage = register.asked(pageEndQuery(resource, history));
  const page = register.asked(pageQuery(resource, history, columns));
  for (let before = 0; before < MAX_INTEGER;) {
    const end = Number(endOfPage(before, BLOCK_ROWS - 1)?.[0] ?? MAX_INTEGER);
    const lists = (page(before, end) ?? []).map(cellsOf);
    if (lists[0]?.length !== 0) yield lists;
    before = end;
  }
}

/** From anything else, where each question costs a pass over all of it: in one pass, row by row. */
function* gathered(
  register: Register,
  { resource, history }: Export,
  columns: readonly string[],
): Generator<Stretch, void, undefined> {
  const sql =
    history === undefined ? recordsQuery(resource, columns) : entriesQuery(resource.kind, history, columns);
  let lists: Cell[][] = columns.map(() => []);
  for (const row of register.rows<Cell[]>(sql)) {
    const [keys = []] = lists;
    if (keys.length >= BLOCK_ROWS && keys.at(-1) !== row[0]) {
      yield lists;
      lists = columns.map(() => []);
    }
    for (const [index, list] of lists.entries()) list.push(row[index] ?? null);
  }
  if (lists[0]?.length !== 0) yield lists;
}
