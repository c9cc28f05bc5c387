/**
 * Exports as a process to be measured: all rows of some tables, as CSV that is thrown away, or in every format. As in
 * a build, two threads write them, and each takes the next table when it is done with one: the costly ones come first.
 *
 *     node build/test/system/bench/exports-child.js csv|everything REGISTER FOLDER TABLE...
 */
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { Worker, isMainThread, parentPort } from 'node:worker_threads';

import { CsvEncoder } from '../../../generator/exports/csv.js';
import { batchesOf } from '../../../generator/exports/rows.js';
import { EXPORTS } from '../../../generator/exports/tables.js';
import { writeTable } from '../../../generator/exports/write-table.js';
import { Register } from '../../../generator/register/database.js';
import { markWithheld } from '../../../generator/register/overview.js';

const THREADS = 2;

/** As the threads of a build have it. */
const YOUNG_MB = 8;

const [, , mode, file = '', folder = '', ...names] = argv;

if (isMainThread) {
  for (let started = 0; started < Math.min(THREADS, names.length); started += 1) {
    const thread = new Worker(fileURLToPath(import.meta.url), {
      argv: argv.slice(2),
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    const next = (): void => thread.postMessage(names.shift());
    thread.on('message', next);
    next();
  }
} else {
  const register = Register.join(file);
  markWithheld(register);
  parentPort?.on('message', (name: string | undefined) => {
    if (name === undefined) parentPort?.close();
    else parentPort?.postMessage(write(register, name));
  });
}

/** @returns how many rows there were */
function write(register: Register, name: string): number {
  const table = EXPORTS.find((candidate) => candidate.name === name);
  if (table === undefined) throw new TypeError(`no export is named "${name}"`);
  let rows = 0;
  if (mode === 'csv') {
    const csv = new CsvEncoder(table.columns.map(({ value }) => value));
    for (const batch of batchesOf(register, table)) rows += csv.lines(batch).length > 0 ? batch.length : 0;
  } else {
    writeTable({ register, advance: (steps) => (rows += steps) }, { table: name, folder });
  }
  return rows;
}
