/** The bulk downloads against the sqlite3 shell, which writes the same tables as CSV and nothing else. */
import { openDatabase } from '../../../generator/base/sqlite/sqlite.js';
import { EXPORTS } from '../../../generator/exports/tables.js';
import { registerOf, run } from './registers.js';
import { compiled } from './servers.js';
import { figure, type Context, type Prepared, type Suite } from './suite.js';

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
      ...([ROWS, 'everything/rate', 'higher', PEER] as const),
    ),
    figure(
      'memory of a process with both threads, every format, against its bound',
      ...(['MB', 'everything/memory', 'lower', LIMIT_MB, 1] as const),
    ),
  ],
  programs: ['sqlite3', 'time'],
  prepare,
};

async function prepare(context: Context): Promise<Prepared> {
  const file = await registerOf(context, RECORDS);
  const database = openDatabase(file, { readonly: true });
  const sizes = new Map(
    EXPORTS.map(({ name }) => [
      name,
      Number(database.prepare(`SELECT count(*) FROM "${name}"`).pluck().get()),
    ]),
  );
  database.close();
  const rows = [...sizes.values()].reduce((sum, count) => sum + count, 0);
  const cells = ({ name, columns }: (typeof EXPORTS)[number]): number =>
    (sizes.get(name) ?? 0) * columns.length;
  const names = EXPORTS.toSorted((a, b) => cells(b) - cells(a)).map(({ name }) => name);
  const contender = (name: string, ...command: string[]) => ({
    name,
    run: async () => {
      const startedMs = performance.now();
      // GNU time prints the peak memory in kB.
      const { stderr } = await run('sh', ['-c', 'exec time -f %M "$@" > /dev/null', 'sh', ...command]);
      const memory = Number(stderr.trim().split('\n').at(-1)) / 1000;
      return { rate: (rows / (performance.now() - startedMs)) * 1000, memory };
    },
  });
  const ours = [process.execPath, compiled('test/system/bench/exports-child.js')];
  const queries = [...sizes.keys()].map((name) => `SELECT * FROM "${name}"`).join(';');
  return {
    contenders: [
      contender('sqlite3', 'sqlite3', '-csv', '-readonly', file, queries),
      contender('csv', ...ours, 'csv', file, context.folder, ...names),
      contender('everything', ...ours, 'everything', file, context.folder, ...names),
    ],
    notes: [
      `${rows.toLocaleString('en-US')} rows in ${sizes.size} tables; a thread that is free takes the next of ${names.join(', ')}.`,
      'The columns of groups that are computed from their readings are part of it; the shell prints the stored ones alone.',
    ],
  };
}
