import { spawn } from 'node:child_process';

import { openDatabase } from '../../../generator/sqlite/index.js';
import { EXPORTS } from '../../../generator/exports/tables.js';
import { figure, type Context, type Prepared, type Sample, type Suite } from './frame/suite.js';
import { compiled } from './servers/process.js';
import { registerOf } from './trees.js';

/** The bulk downloads against the sqlite3 shell, which writes the same tables as CSV and nothing else. */

const RECORDS = 100_000;
const LIMIT_MB = 400;
const ROWS = 'rows/s';
const PEER = 'sqlite3/rate';

export const exportsSuite: Suite = {
  name: 'exports',
  description: 'the bulk downloads (--register)',
  figures: [
    figure('CSV alone, two threads, against sqlite3 -csv', ROWS, 'csv/rate', 'higher', PEER, 0.4),
    figure(
      'CSV, gzip and Parquet, two threads, against sqlite3 -csv',
      ROWS,
      'everything/rate',
      'higher',
      PEER,
    ),
    figure(
      'memory of a process with both threads, every format, against its bound',
      ...(['MB', 'everything/memory', 'lower', LIMIT_MB, 1] as const),
    ),
  ],
  programs: ['sqlite3', 'time'],
  prepare,
};

async function prepare({ folder, register, say }: Context): Promise<Prepared> {
  const file = await registerOf({ register, folder, records: RECORDS, say });
  const sizes = rowsOf(file);
  const rows = [...sizes.values()].reduce((sum, count) => sum + count, 0);
  const cells = ({ name, columns }: (typeof EXPORTS)[number]): number =>
    (sizes.get(name) ?? 0) * columns.length;
  const names = EXPORTS.toSorted((a, b) => cells(b) - cells(a)).map(({ name }) => name);
  const ours = (mode: string) => async (): Promise<Sample> => {
    const startedMs = performance.now();
    const memory = await megabytesOf([
      process.execPath,
      compiled('test/system/bench/exports-child.js'),
      mode,
      file,
      folder,
      ...names,
    ]);
    return { rate: (rows / (performance.now() - startedMs)) * 1000, memory };
  };
  const queries = [...sizes.keys()].map((name) => `SELECT * FROM "${name}"`).join(';');
  const shell = async (): Promise<Sample> => {
    const startedMs = performance.now();
    await megabytesOf(['sqlite3', '-csv', '-readonly', file, queries]);
    return { rate: (rows / (performance.now() - startedMs)) * 1000 };
  };
  return {
    contenders: [
      { name: 'sqlite3', run: shell },
      { name: 'csv', run: ours('csv') },
      { name: 'everything', run: ours('everything') },
    ],
    notes: [
      `${rows.toLocaleString('en-US')} rows in ${sizes.size} tables; a thread that is free takes the next of ${names.join(', ')}.`,
      'The columns of groups that are computed from their readings are part of it; the shell prints the stored ones alone.',
    ],
    close: async () => undefined,
  };
}

/** How many rows each table has. */
function rowsOf(file: string): ReadonlyMap<string, number> {
  const database = openDatabase(file, { readonly: true });
  try {
    return new Map(
      EXPORTS.map(({ name }) => [
        name,
        Number(database.prepare(`SELECT count(*) FROM "${name}"`).pluck().get()),
      ]),
    );
  } finally {
    database.close();
  }
}

/** Runs a command to its end. @returns its peak memory in MB, by GNU time */
async function megabytesOf(command: readonly string[]): Promise<number> {
  const child = spawn('time', ['-f', '%M', ...command], { stdio: ['ignore', 'ignore', 'pipe'] });
  let messages = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    messages += text;
  });
  const code = await new Promise((settle) => child.on('close', settle));
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${String(code)}: ${messages}`);
  return Number(messages.trim().split('\n').at(-1)) / 1000;
}
