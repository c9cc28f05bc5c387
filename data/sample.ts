import fs from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '../generator/sqlite/index.js';
import { Dice } from './sample/dice.js';
import { DAY, NOW } from './sample/events.js';
import { writeGame } from './sample/games.js';
import { writeGroup } from './sample/groups.js';
import { writeItem } from './sample/items.js';
import { idOf, isWithheld, type Kind, KINDS, type Register, registerOf } from './sample/register.js';
import { Tables } from './sample/tables.js';
import { timeText } from './sample/times.js';
import { writeUser } from './sample/users.js';

export interface SampleOptions {
  /** The register to write; the caller has checked that it doesn't exist. */
  readonly file: string;
  /** Number of groups, users, games and items together: an integer from 0. */
  readonly records: number;
  /** Any safe integer; another seed gives another register. */
  readonly seed: number;
  /** Called every few milliseconds and at the end; if it rejects, writing stops. */
  readonly onProgress?: (done: number, total: number) => void | Promise<void>;
}

export interface SampleSummary {
  readonly groups: number;
  readonly users: number;
  readonly games: number;
  readonly items: number;
  /** Rows in all tables. */
  readonly rows: number;
  /** Size of the file, in bytes. */
  readonly bytes: number;
}

/** The ranges of ids don't suffice for more. */
export const MOST_RECORDS = 100_000_000;

/**
 * Records per transaction and per turn of the event loop, about 10 ms. A number of records instead
 * of milliseconds, because SQLite counts transactions in the file's header.
 */
const BATCH = 500;

const WRITERS: Readonly<Record<Kind, (register: Register, index: number, tables: Tables) => void>> = {
  group: writeGroup,
  user: writeUser,
  game: writeGame,
  item: writeItem,
};

/**
 * Writes a fictional register: 30 % groups, 40 % users, 10 % games, 20 % items, with histories. The
 * same records and seed give the same bytes on any machine and any day (with the same version of
 * SQLite, which is in the file). The file is written as `FILE.partial`, which is renamed when
 * complete, and removed if writing fails.
 */
export async function writeSample(options: SampleOptions): Promise<SampleSummary> {
  const { file, records, seed } = options;
  if (!Number.isInteger(records) || records < 0 || records > MOST_RECORDS) {
    throw new RangeError(
      `Cannot write "${records}" records: expected a whole number from 0 to ${MOST_RECORDS}`,
    );
  }
  if (!Number.isSafeInteger(seed)) {
    throw new RangeError(`Cannot use the seed "${seed}": expected a whole number`);
  }
  const partial = `${file}.partial`;
  fs.rmSync(partial, { force: true });
  try {
    const register = registerOf(records, seed);
    const rows = await fill(partial, register, async (done) => options.onProgress?.(done, records));
    const { size: bytes } = fs.statSync(partial);
    fs.renameSync(partial, file);
    const { group: groups, user: users, game: games, item: items } = register.counts;
    return { groups, users, games, items, rows, bytes };
  } catch (error) {
    fs.rmSync(partial, { force: true });
    throw error;
  }
}

/** Fills a new database. @returns the number of rows */
async function fill(
  file: string,
  register: Register,
  onProgress: (done: number) => Promise<void>,
): Promise<number> {
  const db = openDatabase(file);
  try {
    // A half-written sample is discarded, so there is nothing to protect
    db.pragma('journal_mode = OFF');
    db.pragma('synchronous = OFF');
    db.exec(fs.readFileSync(path.join(packageRoot(), 'data', 'schema.sql'), 'utf8'));
    const tables = new Tables(db);
    const writeBatch = db.transaction((kind: Kind, from: number, to: number) => {
      for (let index = from; index < to; index++) {
        WRITERS[kind](register, index, tables);
        if (isWithheld(index)) withhold(register, kind, index, tables);
      }
    });
    let done = 0;
    for (const kind of KINDS) {
      const count = register.counts[kind];
      for (let from = 0; from < count; from += BATCH) {
        const to = Math.min(from + BATCH, count);
        writeBatch(kind, from, to);
        done += to - from;
        await onProgress(done);
        await setImmediate();
      }
    }
    return tables.rows;
  } finally {
    db.close();
  }
}

function withhold(register: Register, kind: Kind, index: number, tables: Tables): void {
  const age = new Dice(register.seed, `${kind} withheld`, index).below(600 * DAY);
  tables.insert('withheld', { kind, id: idOf(register, kind, index), since: timeText(NOW - age) });
}

/** The folder of package.json. Compiled, this file runs from build/data/, without schema.sql. */
function packageRoot(): string {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  while (!fs.existsSync(path.join(folder, 'package.json'))) {
    const parent = path.dirname(folder);
    if (parent === folder) throw new Error(`Cannot find package.json above "${import.meta.url}"`);
    folder = parent;
  }
  return folder;
}
