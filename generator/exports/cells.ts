/** The values of an export on their way from SQLite to the files. */

/** A value as the register holds it: truth values are 0 and 1; null means "not measured". */
export type Cell = string | number | null;

/** Rows of an export that follow each other. */
export interface Block {
  readonly rows: number;
  /** The cells of each column of the export, one for each row. */
  readonly columns: readonly (readonly Cell[])[];
}

/** A column that SQLite wrote as a JSON list. */
export function cellsOf(json: unknown): Cell[] {
  const list: unknown = JSON.parse(String(json));
  if (!isCells(list)) throw new TypeError(`not a list of cells: ${String(json)}`);
  return list;
}

const isCells = (list: unknown): list is Cell[] =>
  Array.isArray(list) &&
  list.every((cell) => typeof cell === 'string' || typeof cell === 'number' || cell === null);
