/**
 * How fast the bulk downloads are written, and in how much memory, against the sqlite3 shell, which writes the same
 * rows as CSV and nothing else. Prints a table in Markdown.
 *
 *     node build/test/bench/exports.js REGISTER FOLDER [RUNS]
 *
 * Needs sqlite3 and GNU time. Each figure is the median of RUNS (5) runs, taken in turns.
 */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { argv, execPath, stderr, stdout } from 'node:process';
import { blocks } from '../../generator/exports/blocks.js';
import { CsvEncoder } from '../../generator/exports/csv.js';
import { EXPORTS } from '../../generator/exports/tables.js';
import { writeExport } from '../../generator/exports/write.js';
import { Register } from '../../generator/register/open.js';
import { markWithheld } from '../../generator/register/published.js';

const [, self = '', file = '', folder = '', more = '5'] = argv;
if (file === '' || folder === '') {
  stderr.write('usage: node build/test/bench/exports.js REGISTER FOLDER [RUNS]\n');
  throw new Error('two arguments are needed');
}

/** All rows of all tables in every format. */
function everything(): number {
  const register = Register.open(file);
  markWithheld(register);
  let count = 0;
  for (const table of EXPORTS) {
    const writing = writeExport(register, table, folder);
    let step = writing.next();
    while (step.done !== true) step = writing.next();
    count += step.value.rows;
  }
  return count;
}

/** All rows of all tables as CSV, thrown away. */
function csvAlone(): number {
  const register = Register.open(file);
  markWithheld(register);
  let count = 0;
  for (const table of EXPORTS) {
    const csv = new CsvEncoder(table.columns.map(({ value }) => value));
    for (const block of blocks(register, table)) {
      csv.lines(block);
      count += block.rows;
    }
  }
  return count;
}

/** The same, as a child, so that each has its own memory. */
const MODES: Readonly<Record<string, () => number>> = { everything, csv: csvAlone };

interface Figure {
  readonly seconds: number;
  readonly megabytes: number;
}

/** A command's time and peak memory, by GNU time. */
function timed(command: readonly string[]): Figure {
  const result = spawnSync('/usr/bin/time', ['-f', '%e %M', ...command], {
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [seconds = Number.NaN, kilobytes = Number.NaN] = (result.stderr.trim().split('\n').at(-1) ?? '')
    .split(' ')
    .map(Number);
  if (result.status !== 0) throw new Error(`${command.join(' ')}: ${result.stderr}`);
  return { seconds, megabytes: kilobytes / 1000 };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function compare(): void {
  const runs = Number(more);
  const queries = EXPORTS.map(({ name }) => `SELECT * FROM "${name}"`).join(';');
  const contenders: Readonly<Record<string, readonly string[]>> = {
    'sqlite3 -csv': ['sqlite3', '-csv', '-header', '-readonly', file, queries],
    'CSV alone': [execPath, self, file, folder, 'csv'],
    'CSV, gzip and Parquet': [execPath, self, file, folder, 'everything'],
  };
  const figures = new Map<string, Figure[]>();
  for (let run = 0; run < runs; run += 1) {
    for (const [name, command] of Object.entries(contenders)) {
      figures.set(name, [...(figures.get(name) ?? []), timed(command)]);
    }
  }
  const register = Register.open(file);
  const count = EXPORTS.reduce(
    (sum, { name }) => sum + Number(register.integers(`SELECT count(*) FROM "${name}"`)[0]),
    0,
  );
  register.close();
  const lines = [...figures].map(([name, taken]) => {
    const seconds = taken.map((figure) => figure.seconds);
    const rate = (count / median(seconds) / 1000).toFixed(0);
    const spread = `${Math.min(...seconds).toFixed(1)} to ${Math.max(...seconds).toFixed(1)} s`;
    const peak = Math.max(...taken.map(({ megabytes }) => megabytes)).toFixed(0);
    return `| ${name} | ${rate}k | ${median(seconds).toFixed(1)} s (${spread}) | ${peak} MB |`;
  });
  stdout.write(
    `${count} rows, median of ${runs}\n\n| | rows/s | time | peak memory |\n|---|---|---|---|\n${lines.join('\n')}\n`,
  );
}

const mode = MODES[more];
if (mode === undefined) compare();
else mode();
rmSync(join(folder, 'downloads'), { recursive: true, force: true });
