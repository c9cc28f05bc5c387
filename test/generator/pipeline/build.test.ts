/** What a build does to the tree that is there: nothing that the register doesn't ask for. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { published, run } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { writeRegister, type Rows } from '../../support/register.js';
import { changedBy, snapshotOf, stateOf } from '../../support/published.js';
import { siteOf } from '../../support/site.js';
import { always, isThorough, it } from '../../support/thorough.js';
import { json, namesThatDiffer, readTree } from '../../support/tree.js';
import { containing } from '../../support/values.js';
import { damageOf } from '../publish/support.js';

const path = temporary();

it('security.txt says where to report a problem, and changes once a month', async () => {
  const file = '.well-known/security.txt';
  const measured_at = '2024-11-20T08:00:00Z';
  const users = [{ id: 1, first_measured_at: measured_at, measured_at }];
  const [register, out] = [writeRegister(path('register.sqlite'), { users }), path('dist')];
  const lines = () => readFileSync(join(out, file), 'utf8').split('\n');
  await published({ register, out, at: '2026-11-01T00:00:00Z' });
  const contact = 'Contact: mailto:golden@golden.example';
  const canonical = `Canonical: https://api.golden.example/${file}`;
  // Of a year after the month began, whenever something was measured.
  const expected = [contact, 'Expires: 2027-11-01T00:00:00Z', canonical];
  expect(lines()).toEqual(expect.arrayContaining(expected));
  const [before, state] = [snapshotOf(out), stateOf(out)];
  const still = await published({ register, out, at: '2026-11-30T23:59:59Z' });
  expect([still.sequence, namesThatDiffer(stateOf(out), state)]).toEqual([1, ['snapshot.json']]);
  expect(await published({ register, out })).toMatchObject({ sequence: 2 });
  expect(lines()).toContain('Expires: 2027-12-01T00:00:00Z');
  const put = changedBy(out, 2).put.map((each) => each.path);
  expect(put.filter((each) => !each.startsWith('/downloads'))).toEqual([`/${file}`]);
  expect(snapshotOf(out).digest).not.toBe(before.digest);
  expect(await damageOf(out)).toEqual([]);
});

const LIMIT = Number.MAX_SAFE_INTEGER;
const of = (table: string, column: string, values: readonly (number | null)[]): Rows => ({
  [table]: values.map((value, index) => ({ id: index + 1, [column]: value })),
});

it('totals are exact up to 2^53-1, and beyond refuse the build, by name', async () => {
  const [exact, out] = [path('dist'), path('dist')];
  await published({
    register: writeRegister(path('register.sqlite'), of('games', 'visits', [LIMIT - 1, null, 1, 0])),
    out: exact,
  });
  expect(readTree(exact).get('api/v1/stats.json')?.text).toContain(
    '"visits":{"total":9007199254740991,"measured":3},"playing":{"total":null,"measured":0}',
  );
  const register = writeRegister(path('register.sqlite'), of('groups', 'member_count', [LIMIT - 1, 2]));
  await expect(run({ register, out })).rejects.toMatchObject({
    exitCode: 1,
    message: containing('the total of groups.member_count is 9007199254740992'),
  });
  expect(existsSync(out)).toBe(false);
});

/** Any Unicode text: NUL, controls, noncharacters, all planes; lone surrogates are no text. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 10 }),
  fc.string({
    unit: fc.constantFrom('"', '\\', '/', '\0', '\n', '\u001f', '\u007f', '\u2028', '{', '\uFFFF', "'"),
  }),
);

always('text of any kind survives the way through SQLite, JSON and UTF-8 exactly', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyText, { minLength: 40, maxLength: 80 }), async (names) => {
      const seen = { first_measured_at: '2026-11-20T08:00:00Z', last_measured_at: '2026-11-20T08:00:00Z' };
      const ids = names.map((name, index) => ({ id: index + 1, name }));
      const { out } = await siteOf(path, {
        groups: ids.map(({ id, name }) => ({ id, name, owner_name: name, member_count: id })),
        group_names: ids.map(({ id, name }) => ({ group_id: id, position: 1, name, ...seen })),
        items: ids.map(({ id, name }) => ({ id, description: name })),
      });
      const tree = readTree(out);
      for (const { id, name } of ids) {
        expect(json(tree, `api/v1/group/${id}.json`)).toMatchObject({ name, owner: { id: null, name } });
        expect(json(tree, `group/${id}/history.json`)).toMatchObject({ name, names: [{ name }] });
        expect(json(tree, `api/v1/item/${id}.json`)).toMatchObject({ description: name });
      }
      expect(json(tree, 'api/v1/largest/1.json')).toMatchObject({ groups: [{ name: names.at(-1) }] });
      // Compact, and written as every JSON writer would: JSON.stringify finds nothing to change.
      const documents = [...tree].filter(([file]) => file.endsWith('.json'));
      for (const [file, { text }] of documents) {
        expect(text).toBe(JSON.stringify(JSON.parse(text)));
        // Neither a byte order mark nor bytes that are no UTF-8.
        expect(Buffer.from(text).equals(readFileSync(join(out, file)))).toBe(true);
      }
    }),
    { numRuns: isThorough ? 4 : 1 },
  );
});
