/** What words mean, and `owner_state` along with `owner`: the same in all that is said. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { RESOURCES } from '../../../../generator/schema/index.js';
import { published } from '../../../support/build.js';
import { PROJECT, temporary } from '../../../support/folder.js';
import { writeRegister } from '../../../support/register.js';
import { readTree } from '../../../support/tree.js';
import { fields } from '../../../support/values.js';
import { readDescription } from './support.js';

const path = temporary();

const out = path('dist');
beforeAll(() =>
  published({ register: writeRegister(path('register.sqlite'), { groups: [{ id: 1 }] }), out }),
);

/** The rows of a table in Markdown: `owner_state`, and what it means with an object and with null. */
const rowsIn = (markdown: string, first = '`owner_state`'): string[][] => {
  const [, table = ''] = new RegExp(`\n(\\| ${first}[^\n]+\n(?:\\|[^\n]+\n)+)`).exec(markdown) ?? [];
  const rows = table.trimEnd().split('\n').slice(2);
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
};

describe('owner_state and owner', () => {
  it('stand in the same table in the description, in the reference and in the docs', () => {
    const described = rowsIn(String(readDescription(out).info['description']));
    expect(described.map(([state]) => state)).toEqual(['`owned`', '`none`', '`null`']);
    // A group that has no owner can't have this one; all else may be.
    expect(described.map(([, ...cells]) => cells.map((cell) => cell === 'impossible'))).toEqual([
      [false, false],
      [true, false],
      [false, false],
    ]);
    expect(rowsIn(readFileSync(join(PROJECT, 'docs/api-clients.md'), 'utf8'))).toEqual(described);
    const page = readTree(out).get('developers/reference/groups.html')?.text ?? '';
    for (const [state = '', ...cells] of described)
      expect(page).toContain(
        `<tr><th scope="row"><code>${state.replaceAll('`', '')}</code></th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`,
      );
  });
});

describe('the words of a field', () => {
  it('stand in the docs, the description and in the reference with the same meanings', () => {
    const { schemas } = readDescription(out).components;
    const tree = readTree(out);
    const page = RESOURCES.map(({ plural }) => tree.get(`developers/reference/${plural}.html`)?.text).join(
      '',
    );
    const rows = rowsIn(readFileSync(join(PROJECT, 'docs/api-clients.md'), 'utf8'), 'Field');
    const listed = new Map<string, string[]>();
    for (const [field = '', word = '', meaning = ''] of rows) {
      listed.set(field, [...(listed.get(field) ?? []), `${word} (${meaning})`]);
      expect(page).toContain(`<code class="word">${word.replaceAll('`', '')}</code> (${meaning})`);
    }
    const described = new Map<string, string[]>();
    for (const name of ['Group', 'User', 'Game', 'Item']) {
      for (const [field, property] of Object.entries(fields(schemas[name]?.['properties']))) {
        const text = String(fields(property)['description']);
        const [, words] = / Words: (.+)\. Others may be added\./.exec(text) ?? [];
        if (words !== undefined) described.set(`${name.toLowerCase()}: \`${field}\``, words.split(/, (?=`)/));
      }
    }
    expect(listed).toEqual(described);
    expect(listed.size).toBe(7);
    expect(page).toContain('Others may be added.');
  });
});
