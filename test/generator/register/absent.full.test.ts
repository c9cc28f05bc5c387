/** What a register may lack: nullable columns, which are then not measured, and the list of what is withheld. */
import { expect, it } from 'vitest';
import { writeSample } from '../../../data/sample.js';
import { ROUTES } from '../../../generator/routes/routes.js';
import { TABLES } from '../../../generator/schema/schema.js';
import { published } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { contentOf } from '../../support/published.js';
import { changeRegister } from '../../support/register.js';

const path = temporary();

/** Pages, and the chart in other pages, leave out what a register lacks, and say what is NULL. */
const withoutPages = (content: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(content).filter(([file]) => !/\.html(\.\w+)?$|^developers\.json|^embed\.js/.test(file)),
  );

async function sample(): Promise<string> {
  const file = path('register.sqlite');
  await writeSample({ file, records: 100, seed: 23 });
  return file;
}

async function freshOf(register: string): Promise<Record<string, string>> {
  const out = path('fresh');
  await published({ register, out });
  return contentOf(out);
}

/** What has documents of its own. Without it there are none; if it is NULL, there are none of a record. */
const PUBLISHED_APART = new Set(ROUTES.flatMap(({ measures = [] }) => measures));

const NULLABLE = TABLES.flatMap(({ name, columns }) =>
  columns
    .filter((column) => column.nullable && !PUBLISHED_APART.has(`${name}.${column.name}`))
    .map((column) => ({ table: name, column: column.name })),
);
const DROP_ALL = NULLABLE.map(({ table, column }) => `ALTER TABLE ${table} DROP COLUMN ${column};`).join(' ');

it('without nullable columns and withheld list, a register gives the documents of one where they are NULL and empty', async () => {
  const register = await sample();
  changeRegister(register, 'DELETE FROM withheld');
  for (const { table, column } of NULLABLE) changeRegister(register, `UPDATE ${table} SET ${column} = NULL`);
  const whole = await freshOf(register);
  changeRegister(register, `${DROP_ALL} DROP TABLE withheld`);
  expect(withoutPages(await freshOf(register))).toEqual(withoutPages(whole));
});
