/** The state database of a tree, read and changed as with the sqlite3 shell. */
import { rmSync } from 'node:fs';
import { openDatabase } from '../../generator/base/sqlite/sqlite.js';
import { writeState, type Described } from '../../generator/state/schema.js';
import { State } from '../../generator/state/state.js';
import { Tree } from '../../generator/tree/tree.js';
import { inState } from './tree.js';

const TABLES = ['route', 'document', 'chunk', 'source', 'fingerprint', 'snapshot', 'change', 'own_file'];

/** The file that it is at rest. */
export const databaseOf = (out: string): string => inState(out, 'state.sqlite');

/** The rows that a query finds. */
export function stateRows(out: string, sql: string): Record<string, unknown>[] {
  const database = openDatabase(databaseOf(out), { readonly: true });
  try {
    return database.prepare<[], Record<string, unknown>>(sql).all();
  } finally {
    database.close();
  }
}

/** Changes a state that is there. */
export function changeState(out: string, sql: string): void {
  const database = openDatabase(databaseOf(out), { fileMustExist: true });
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}

const readable = (value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;

/** All rows of what is known about a tree, by table. */
export const allRows = (out: string): Record<string, readonly string[]> =>
  Object.fromEntries(
    TABLES.map((table) => [
      table,
      stateRows(out, `SELECT * FROM ${table}`).map((row) => JSON.stringify(Object.values(row).map(readable))),
    ]),
  );

/** Deletes the database, and nothing else of the state. */
export const loseState = (out: string): void => rmSync(new Tree(out).database);

/** What the state says of the last commit. */
export function describedOf(out: string): Described {
  using state = State.read(new Tree(out).database);
  const described = state?.newest?.described;
  if (described === undefined) throw new Error(`nothing is known of the last commit to "${out}"`);
  return described;
}

/** Has the state say something else of the last commit, as if that had recorded it. */
export function redescribe(out: string, change: (described: Described) => Described): void {
  using state = EditedState.open(new Tree(out).database);
  state.redescribe(change(describedOf(out)));
}

class EditedState extends State {
  static override open(file: string): EditedState {
    return new EditedState(writeState(file), file);
  }

  redescribe(described: Described): void {
    const number = this.newest?.number ?? 0;
    this.change('UPDATE snapshot SET described = ? WHERE number = ?', JSON.stringify(described), number);
    this.seal(number);
  }
}
