/** What words mean, and `owner_state` along with `owner`: the same in all that is said. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../../../generator/schema/index.js';
import { OPERATOR } from '../../../support/build.js';
import { PROJECT, temporary } from '../../../support/folder.js';
import { writeRegister } from '../../../support/register.js';
import { json, readTree } from '../../../support/tree.js';
import { fields } from '../../../support/values.js';
import { inProcess } from '../../publish/support.js';
import { readDescription } from './support.js';

const path = temporary();

const OWNER = { owner_id: 1042, owner_name: 'marlow' };

/** Worked out from the contract: a group that has none can't have this one. */
const CASES = [
  { state: 'owned', owner: OWNER, isPossible: true },
  { state: 'owned', owner: {}, isPossible: true },
  { state: 'none', owner: OWNER, isPossible: false },
  { state: 'none', owner: {}, isPossible: true },
  { state: null, owner: OWNER, isPossible: true },
  { state: null, owner: {}, isPossible: true },
];

const rowOf = ({ state, owner }: (typeof CASES)[number], at = 0) => ({
  id: at + 1,
  owner_state: state,
  ...owner,
});

async function built(groups: readonly Readonly<Record<string, string | number | null>>[]) {
  const register = writeRegister(path('register.sqlite'), { groups });
  const out = path('dist');
  const { code } = await inProcess('build', '--register', register, '--out', out, '--operator', OPERATOR);
  return { code, out };
}

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
  it('are published together as they can be', async () => {
    const [possible, impossible] = [true, false].map((is) => CASES.filter((each) => each.isPossible === is));
    const { code, out } = await built(possible?.map(rowOf) ?? []);
    expect(code).toBe(0);
    const tree = readTree(out);
    for (const [at, { state, owner }] of possible?.entries() ?? [])
      expect(json(tree, `api/v1/group/${at + 1}.json`)).toMatchObject({
        owner_state: state,
        owner: 'owner_id' in owner ? { id: 1042, name: 'marlow' } : null,
      });
    expect(impossible).toHaveLength(1);
    for (const each of impossible ?? []) expect((await built([rowOf(each)])).code).toBe(1);
  });

  it('stand in the same table in the description, in the reference and in the docs', async () => {
    const { out } = await built([{ id: 1 }]);
    const described = rowsIn(String(readDescription(out).info['description']));
    expect(described.map(([state]) => state)).toEqual(['`owned`', '`none`', '`null`']);
    for (const [index, cells] of described.entries()) {
      const [withOwner, without] = CASES.slice(2 * index, 2 * index + 2);
      expect(cells[1] === 'impossible').toBe(withOwner?.isPossible === false);
      expect(cells[2] === 'impossible').toBe(without?.isPossible === false);
    }
    expect(rowsIn(readFileSync(join(PROJECT, 'docs/api-clients.md'), 'utf8'))).toEqual(described);
    const page = readTree(out).get('developers/reference/groups.html')?.text ?? '';
    for (const [state = '', ...cells] of described)
      expect(page).toContain(
        `<tr><th scope="row"><code>${state.replaceAll('`', '')}</code></th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`,
      );
  });
});

describe('the words of a field', () => {
  it('stand in the docs, the description and in the reference with the same meanings', async () => {
    const { out } = await built([{ id: 1 }]);
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
