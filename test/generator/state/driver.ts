/** The driver of SQLite, watched: what a test does before a statement, or in its place, may be what a disk or a shell does. */
import { openDatabase, type Database } from '../../../generator/base/sqlite/sqlite.js';

export interface StatementCall {
  /** The file of the database; ':memory:' for one without. */
  readonly file: string;
  /** In one line. */
  readonly sql: string;
  readonly database: Database;
}

/** Called before a statement. What it throws, the statement throws; what it returns takes the place of a result. */
export type Watch = (call: StatementCall) => { readonly result: unknown } | undefined;

const METHODS = ['run', 'get', 'all'] as const;

const oneLine = (sql: string): string => sql.replaceAll(/\s+/g, ' ').trim();

function prototypes(): { readonly database: object; readonly statement: object } {
  const database = openDatabase(':memory:');
  try {
    return {
      database: Reflect.getPrototypeOf(database) ?? {},
      statement: Reflect.getPrototypeOf(database.prepare('SELECT 1')) ?? {},
    };
  } finally {
    database.close();
  }
}

const isDatabase = (value: unknown): value is Database =>
  typeof value === 'object' && value !== null && 'exec' in value && 'inTransaction' in value;

/** The call of a method of a database or of a statement. */
function callOf(self: object, sql: unknown): StatementCall {
  const database: unknown = isDatabase(self) ? self : Reflect.get(self, 'database');
  if (!isDatabase(database)) throw new TypeError('neither a database nor a statement');
  return { file: database.name, sql: oneLine(String(sql)), database };
}

/** Does the work with all statements watched that this thread runs, pragmas and those of transactions among them. */
export async function watched<T>(watch: Watch, work: () => Promise<T>): Promise<T> {
  const { database, statement } = prototypes();
  const originals: [object, string, unknown][] = [];
  const wrap = (prototype: object, name: string): void => {
    const original: unknown = Reflect.get(prototype, name);
    if (typeof original !== 'function') throw new TypeError(`the driver has no ${name}`);
    originals.push([prototype, name, original]);
    Reflect.set(prototype, name, function watchedCall(this: object, ...args: unknown[]): unknown {
      const sql: unknown = isDatabase(this) ? args[0] : Reflect.get(this, 'source');
      const instead = watch(callOf(this, sql));
      const result: unknown = instead === undefined ? Reflect.apply(original, this, args) : instead.result;
      return result;
    });
  };
  wrap(database, 'exec');
  for (const name of METHODS) wrap(statement, name);
  try {
    return await work();
  } finally {
    for (const [prototype, name, original] of originals) Reflect.set(prototype, name, original);
  }
}

/** Whether a statement only reads. */
export const isReading = ({ sql }: Pick<StatementCall, 'sql'>): boolean =>
  /^(SELECT|PRAGMA (application_id|user_version|quick_check))/.test(sql);
