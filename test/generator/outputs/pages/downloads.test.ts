/** The downloads page of a published tree: each file once, with the size and rows that it has. */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { writeSample } from '../../../../data/sample.js';
import { published } from '../../../support/build.js';
import { parseCsv } from '../../../support/csv.js';
import { temporary } from '../../../support/folder.js';
import { between, textOf } from './site.js';

const path = temporary();
const out = path('dist');
const folder = join(out, 'downloads');
let html: string;

beforeAll(async () => {
  const register = path('register.sqlite');
  await writeSample({ file: register, records: 300, seed: 5 });
  await published({ register, out });
  html = readFileSync(join(out, 'downloads.html'), 'utf8');
});

/** `12,345` -> 12345 */
const numberOf = (text: string): number => Number(text.replaceAll(/[^\d]/g, ''));

const DESCRIBING = ['README.txt', 'SHA256SUMS', 'datapackage.json'];

/** All files of the folder but compressed siblings. */
const files = (): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => statSync(join(folder, name)).isFile() && !/\.(?:json|txt|SUMS)\.(?:br|gz)$/.test(name),
  );

/** Text of the cells in the row of a table. */
const cellsOf = (table: string): string[] =>
  between(between(html, `<tr id="${table}">`, '</tr>')[0] ?? '', '<td class="number">', '</td>').map(textOf);

const recordsOf = (table: string): readonly (readonly unknown[])[] =>
  parseCsv(readFileSync(join(folder, `${table}.csv`), 'utf8')).slice(1);

const TABLES = [
  ['groups', 'group_member_readings', 'group_names', 'group_owners', 'users', 'usernames', 'games'],
  ['items'],
].flat();

describe('the downloads page', () => {
  it('links each file once, with its exact size', () => {
    expect(files()).toHaveLength(8 * 3 + 8 + DESCRIBING.length);
    for (const file of files()) {
      expect(html.split(`href="/downloads/${file}"`), file).toHaveLength(2);
      if (DESCRIBING.includes(file)) continue;
      const { size } = statSync(join(folder, file));
      const shown = file.startsWith('register')
        ? between(html, '<p class="figure size" title="', ' bytes"')[0]
        : between(html, `href="/downloads/${file}" title="`, ' bytes"')[0];
      expect(numberOf(shown ?? ''), file).toBe(size);
    }
  });

  it('has the rows of each table, and of all of them', () => {
    let all = 0;
    for (const table of TABLES) {
      const rows = recordsOf(table).length;
      expect(numberOf(cellsOf(table)[0] ?? ''), table).toBe(rows);
      all += rows;
    }
    const [total = ''] = between(
      between(html, '<tfoot>', '</tfoot>')[0] ?? '',
      '<td class="number">',
      '</td>',
    );
    expect(numberOf(textOf(total))).toBe(all);
    expect(html).toMatch(new RegExp(`<dd>${String(all).replace(/\B(?=(\d{3})+$)/, ',')} in 8 tables</dd>`));
  });

  it('has the lines of each file of documents', () => {
    for (const file of readdirSync(join(folder, 'documents'))) {
      const lines =
        gunzipSync(readFileSync(join(folder, 'documents', file)))
          .toString()
          .split('\n').length - 1;
      const row =
        html.split('<tr>').find((each) => each.includes(`href="/downloads/documents/${file}"`)) ?? '';
      expect(numberOf(textOf(between(row, '<td class="number">', '</td>')[0] ?? '')), file).toBe(lines);
    }
  });

  it('has the checksums of all files, as in SHA256SUMS', () => {
    const [shown = ''] = between(html, '<pre class="code sums"><code>', '</code>');
    const sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8')
      .split('\n')
      .filter((line) => !DESCRIBING.some((name) => line.endsWith(` ${name}`)));
    expect(shown.split('\n')).toEqual(sums);
  });
});
