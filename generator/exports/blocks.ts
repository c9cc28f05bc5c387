/** Reads the rows of an export in one ordered pass, in columnar blocks. */
import type { Register } from '../register/database.js';
import { isKeyQuery, pageEndQuery, pageQuery, type PageColumn } from '../register/pages.js';
import { entriesQuery, recordsQuery } from '../register/sql.js';
import { MAX_INTEGER } from '../schema/shape.js';
import { CellWriter, pageOf, type Block, type Cell } from './cells.js';
import { DerivedColumns } from './derived.js';
import type { Export } from './tables.js';

/** Larger blocks take more memory and save little. */
const BLOCK_ROWS = 1000;

/**
 * All rows of an export, ordered by key. A block has at least this many rows and never splits a
 * record's entries, whether the source is a table or a view: files cut at blocks are then the same.
 */
export function* blocks(register: Register, table: Export): Generator<Block, void, undefined> {
  const derived = new DerivedColumns(register, table);
  try {
    for (const { rows, columns } of blocksFromSql(register, table))
      yield { rows, columns: derived.complete(columns) };
  } finally {
    derived.close();
  }
}

/** Blocks of the columns from SQL, the first of which has the ids of the rows' records. */
function blocksFromSql(register: Register, table: Export): Generator<Block, void, undefined> {
  const { resource, history, key } = table;
  if (table.columns[0]?.value.name !== key[0])
    throw new TypeError(`the columns of "${table.name}" don't begin with ${key[0]}`);
  const columns = table.columns.flatMap(({ value: { type }, from }) =>
    'sql' in from ? [{ sql: from.sql, type }] : [],
  );
  const [isKey] = register.integers(isKeyQuery(history?.table ?? resource.plural, key));
  const read = isKey === 1n ? readByPage : readRowByRow;
  return read(register, table, columns);
}

/** Reads a table with an index on the key, page by page. */
function* readByPage(
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

/** Reads anything else row by row in one pass, since each query may scan all of it. */
function* readRowByRow(
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
