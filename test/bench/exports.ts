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
import { fileURLToPath } from 'node:url';
import { blocks } from '../../generator/exports/blocks.js';
import { CsvEncoder } from '../../generator/exports/csv.js';
import { EXPORTS } from '../../generator/exports/tables.js';
import { writeExport } from '../../generator/exports/write.js';
import { Register } from '../../generator/register/open.js';
import { markWithheld } from '../../generator/register/published.js';

/** The register as the exports see it. */
function opened(file: string): Register {
  const register = Register.open(file);
  markWithheld(register);
  return register;
}

/** All rows of all tables in every format. */
export function everything(file: string, folder: string): number {
  const register = opened(file);
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
export function csvAlone(file: string): number {
  const register = opened(file);
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
const MODES: Readonly<Record<string, (file: string, folder: string) => number>> = {
  everything,
  csv: csvAlone,
};

export interface Figure {
  readonly seconds: number;
  /** Of one core, in the program and for it. */
  readonly cpuSeconds: number;
  readonly megabytes: number;
}

/** A command's time and peak memory, by GNU time. */
function timed(command: readonly string[]): Figure {
  const result = spawnSync('/usr/bin/time', ['-f', '%e %U %S %M', ...command], {
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (result.status !== 0) throw new Error(`${command.join(' ')}: ${result.stderr}`);
  const [seconds = 0, user = 0, system = 0, kilobytes = 0] = (result.stderr.trim().split('\n').at(-1) ?? '')
    .split(' ')
    .map(Number);
  return { seconds, cpuSeconds: user + system, megabytes: kilobytes / 1000 };
}

const SELF = fileURLToPath(import.meta.url);

/** Figures of the sqlite3 shell, of CSV alone, and of all formats, taken in turns. */
export function compare(file: string, folder: string, runs: number): ReadonlyMap<string, readonly Figure[]> {
  const queries = EXPORTS.map(({ name }) => `SELECT * FROM "${name}"`).join(';');
  const contenders: Readonly<Record<string, readonly string[]>> = {
    'sqlite3 -csv': ['sqlite3', '-csv', '-header', '-readonly', file, queries],
    'CSV alone': [execPath, SELF, file, folder, 'csv'],
    'CSV, gzip and Parquet': [execPath, SELF, file, folder, 'everything'],
  };
  const figures = new Map<string, Figure[]>();
  for (let run = 0; run < runs; run += 1) {
    for (const [name, command] of Object.entries(contenders)) {
      figures.set(name, [...(figures.get(name) ?? []), timed(command)]);
    }
  }
  return figures;
}

export function rowsOf(file: string): number {
  const register = Register.open(file);
  const count = EXPORTS.reduce(
    (sum, { name }) => sum + Number(register.integers(`SELECT count(*) FROM "${name}"`)[0]),
    0,
  );
  register.close();
  return count;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** The figures as a table in Markdown; `of sqlite3` is rows a second against the first contender. */
export function table(figures: ReadonlyMap<string, readonly Figure[]>, rows: number): string {
  const [first = []] = figures.values();
  const base = median(first.map(({ seconds }) => seconds));
  const lines = [...figures].map(([name, taken]) => {
    const seconds = taken.map((figure) => figure.seconds);
    const middle = median(seconds);
    const spread = `${Math.min(...seconds).toFixed(1)} to ${Math.max(...seconds).toFixed(1)} s`;
    const cpu = median(taken.map(({ cpuSeconds }) => cpuSeconds)).toFixed(1);
    const peak = Math.max(...taken.map(({ megabytes }) => megabytes)).toFixed(0);
    const rate = (rows / middle / 1000).toFixed(0);
    return `| ${name} | ${rate}k | ${(base / middle).toFixed(2)} | ${middle.toFixed(1)} s (${spread}) | ${cpu} s | ${peak} MB |`;
  });
  return `| | rows/s | of sqlite3 | time | CPU | peak memory |\n|---|---|---|---|---|---|\n${lines.join('\n')}\n`;
}

function main(file = '', folder = '', more = '5'): void {
  if (file === '' || folder === '') {
    stderr.write('usage: node build/test/bench/exports.js REGISTER FOLDER [RUNS]\n');
    throw new Error('two arguments are needed');
  }
  const mode = MODES[more];
  if (mode === undefined) {
    const rows = rowsOf(file);
    stdout.write(`${rows} rows, median of ${more}\n\n${table(compare(file, folder, Number(more)), rows)}`);
  } else mode(file, folder);
  rmSync(join(folder, 'downloads'), { recursive: true, force: true });
}

if (argv[1] === SELF) main(...argv.slice(2));
