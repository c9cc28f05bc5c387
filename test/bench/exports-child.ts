/**
 * Exports as a process to be measured: all rows of some tables, as CSV that is thrown away, or in every format.
 *
 *     node build/test/bench/exports-child.js csv|everything REGISTER FOLDER TABLE...
 */
import { argv } from 'node:process';

import { blocks } from '../../generator/exports/blocks.js';
import { CsvEncoder } from '../../generator/exports/csv.js';
import { EXPORTS } from '../../generator/exports/tables.js';
import { writeExport } from '../../generator/exports/write.js';
import { Register } from '../../generator/register/open.js';
import { markWithheld } from '../../generator/register/published.js';

const [, , mode, file = '', folder = '', ...names] = argv;
const register = Register.open(file);
markWithheld(register);
for (const table of EXPORTS.filter(({ name }) => names.includes(name))) {
  if (mode === 'csv') {
    const csv = new CsvEncoder(table.columns.map(({ value }) => value));
    for (const block of blocks(register, table)) csv.lines(block);
  } else {
    const writing = writeExport(register, table, folder);
    while (writing.next().done !== true);
  }
}
