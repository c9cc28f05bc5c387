/**
 * Golden trees: a folder is a case, its `register.sql` gives the tree `expected`, byte for byte. The expected
 * files were written from the decisions, not copied from the generator. `_every` holds what all cases share;
 * of the 200 lists of the largest three are kept, the others follow from the longest by rule.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Published } from '../../generator/pipeline/build.js';
import { OPERATOR, published } from '../support/build.js';
import { PROJECT, temporary } from '../support/folder.js';
import { writeRegister } from '../support/register.js';
import { isAlias, isAnnouncement, isEndpoint, json, readTree, type Tree } from '../support/tree.js';
import { urlsOf } from '../support/published.js';
import { fields } from '../support/values.js';

const GOLDEN = join(PROJECT, 'test/system/golden');
const EVERY = readTree(join(GOLDEN, '_every'));
const BUILT_AT = '2027-01-02T03:04:05Z';
const CASES = readdirSync(GOLDEN, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== '_every')
  .map(({ name }) => name);

const path = temporary();

const isList = (file: string): boolean => /^api\/v1\/largest\/\d+\.json$/.test(file);

const list = z.looseObject({
  as_of: z.string().nullable(),
  // As they are: an object of the schema would have its members in another order.
  groups: z.array(z.custom<{ measured_at: string }>((each) => 'measured_at' in fields(each))),
});

/** The list for a limit, cut from the longest as decisions.md says. */
function cut(longest: z.infer<typeof list>, limit: number): string {
  const groups = longest.groups.slice(0, limit);
  const times = groups.map(({ measured_at }) => measured_at).toSorted();
  return JSON.stringify({
    limit,
    as_of: longest.as_of,
    oldest_measured_at: times[0] ?? null,
    newest_measured_at: times.at(-1) ?? null,
    groups,
  });
}

describe.each(CASES)('the golden tree "%s"', (name) => {
  const folder = join(GOLDEN, name);
  const out = path(name);
  const expected: Tree = new Map([...EVERY, ...readTree(join(folder, 'expected'))]);
  let tree: Tree;
  let result: Published;
  beforeAll(async () => {
    const operator = join(folder, 'operator.json');
    const sql = readFileSync(join(folder, 'register.sql'), 'utf8');
    result = await published({
      register: writeRegister(path('register.sqlite'), sql),
      operator: existsSync(operator) ? operator : OPERATOR,
      out,
      at: BUILT_AT,
    });
    tree = readTree(out);
  });

  it('has the expected files and no others, with the expected bytes', () => {
    const files = [...tree.keys()].filter((at) => expected.has(at) || (isEndpoint(at) && !isList(at)));
    expect(files.toSorted()).toEqual([...expected.keys()].toSorted());
    const values = (from: Tree, of: 'text' | 'sha256') =>
      Object.fromEntries([...expected.keys()].map((file) => [file, from.get(file)?.[of]]));
    // Text hides bytes that are no UTF-8.
    for (const of of ['text', 'sha256'] as const) expect(values(tree, of)).toEqual(values(expected, of));
  });

  it('has one list of the largest for each limit from 1 to 200, all cut from one', () => {
    const longest = list.parse(json(expected, 'api/v1/largest/200.json'));
    expect([...tree.keys()].filter(isList)).toHaveLength(200);
    for (let limit = 1; limit <= 200; limit += 1) {
      expect(tree.get(`api/v1/largest/${limit}.json`)?.text).toBe(cut(longest, limit));
    }
  });

  it('is described by snapshot.json: times, counts, files and bytes', () => {
    // One more name of a record counts as nothing.
    const rest = [...tree].flatMap(([path, file]) => (isAnnouncement(path) || isAlias(path) ? [] : [file]));
    const records = (kind: string): number =>
      [...tree.keys()].filter((file) => file.startsWith(`api/v1/${kind}/`) && !isAlias(file)).length;
    const kinds = ['group', 'user', 'game', 'item'];
    const counts = Object.fromEntries(kinds.map((kind) => [`${kind}s`, records(kind)]));
    const sums = { files: rest.length, bytes: rest.reduce((sum, { bytes }) => sum + bytes, 0) };
    const snapshot = json(tree, 'snapshot.json');
    expect(snapshot).toMatchObject({
      format: 5,
      sequence: 1,
      built_at: BUILT_AT,
      generator: { name: 'test', version: '0.0.0' },
      counts,
      tree: sums,
    });
    expect(snapshot).toHaveProperty('as_of', fields(json(tree, 'api/v1/stats.json')).as_of);
    expect(result).toMatchObject({ sequence: 1, records: counts, ...sums });
  });

  it('has a route in snapshot.json for every file', () => {
    const urlOf = urlsOf(out);
    expect([...tree.keys()].filter((file) => urlOf(file) === undefined)).toEqual([]);
  });
});
