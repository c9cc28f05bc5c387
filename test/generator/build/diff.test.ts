/** `diff`: what a build would do, told without doing anything. */
import { existsSync, rmSync } from 'node:fs';
import { beforeAll, describe, expect } from 'vitest';
import { it, thorough } from '../../support/thorough.js';
import { z } from 'zod';
import { OPERATOR, published } from '../../support/build.js';
import { containing } from '../../support/values.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { differing, inState, isEndpoint, isForFinding } from '../../support/tree.js';
import {
  buildWith,
  contentOf,
  documentsOf,
  indexOf,
  inProcess,
  interruptCommit,
  pair,
  ROWS,
  temporary,
  wholeOf,
} from '../publish/support.js';
import type { Pair } from '../publish/support.js';

const path = temporary();
let both: Pair;
beforeAll(async () => {
  both = await pair(path);
});

const changes = z.object({ added: z.int(), changed: z.int(), removed: z.int(), unchanged: z.int() });
const schema = z.object({
  sequence: z.int().nullable(),
  changes,
  by_route: z.record(z.string(), changes),
  exports: z.array(z.string()),
  examples: z.array(
    z.object({
      what: z.enum(['added', 'changed', 'removed']),
      url: z.string(),
      fields: z
        .array(
          z.union([
            z.strictObject({ field: z.string(), removed: z.array(z.unknown()), added: z.array(z.unknown()) }),
            z.strictObject({ field: z.string(), from: z.unknown(), to: z.unknown() }),
          ]),
        )
        .optional(),
    }),
  ),
});

/** A dry run, which must leave everything as it is: the tree, its bookkeeping, its times. */
async function diff(register: string, out: string, ...more: string[]) {
  const before = existsSync(out) ? wholeOf(out) : {};
  const result = await inProcess(
    'diff',
    '--register',
    register,
    '--operator',
    OPERATOR,
    '--out',
    out,
    '--quiet',
    ...more,
  );
  expect(differing(existsSync(out) ? wholeOf(out) : {}, before)).toEqual([]);
  return result;
}
const json = async (register: string, out: string, ...more: string[]) => {
  const { code, stdout } = await diff(register, out, '--json', ...more);
  expect(code).toBe(0);
  return schema.parse(JSON.parse(stdout));
};

/** The documents that a diff compares: endpoints, documents for finding records, and feeds. Downloads, description and pages follow from those. */
const comparedOf = (content: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    documentsOf(content)
      .filter((file) => isEndpoint(file) || isForFinding(file) || file.startsWith('feeds/'))
      .map((file) => [file, content[file] ?? '']),
  );

async function tree(): Promise<string> {
  const out = path('dist');
  await published({ register: both.registers[0], out });
  return out;
}

describe('a diff', () => {
  it('tells what a build would add, change and remove, with old and new values', async () => {
    const out = await tree();
    const { examples, sequence } = await json(both.registers[1], out);
    expect(sequence).toBe(1);
    expect(examples).toContainEqual({ what: 'added', url: '/api/v1/item/77', fields: undefined });
    expect(examples).toContainEqual({ what: 'removed', url: '/api/v1/game/4', fields: undefined });
    expect(examples).toContainEqual({ what: 'removed', url: '/user/9007/usernames.json', fields: undefined });
    expect(examples).toContainEqual({
      what: 'changed',
      url: '/api/v1/item/5',
      fields: [{ field: 'price', from: 5, to: 99 }],
    });
    expect(examples).toContainEqual({
      what: 'changed',
      url: '/api/v1/group/3',
      fields: [{ field: 'description', from: null, to: 'changed' }],
    });
    const reading = { measured_at: '2026-11-19T08:00:00Z', member_count: 59 };
    expect(examples).toContainEqual({
      what: 'changed',
      url: '/group/6/history.json',
      fields: [{ field: 'members', removed: [], added: [reading] }],
    });
    const { stdout } = await diff(both.registers[1], out);
    expect(stdout).toContain('changed /api/v1/item/5\n    price: 5 -> 99\n');
    expect(stdout).toContain(`changed /group/6/history.json\n    members: + ${JSON.stringify(reading)}\n`);
    expect(stdout).toContain('  added /api/v1/item/77\n');
  });

  it('counts exactly what the build then does', async () => {
    const out = await tree();
    const before = comparedOf(contentOf(out));
    const told = await json(both.registers[1], out);
    const result = await buildWith({ register: both.registers[1], out });
    if (!result.published) throw new Error('refused');
    const after = comparedOf(contentOf(out));
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    const verdicts = names.map((name) => {
      if (before[name] === undefined) return 'added';
      if (after[name] === undefined) return 'removed';
      return before[name] === after[name] ? 'unchanged' : 'changed';
    });
    const count = (verdict: string) => verdicts.filter((each) => each === verdict).length;
    expect(told.changes).toEqual({
      added: count('added'),
      changed: count('changed'),
      removed: count('removed'),
      unchanged: count('unchanged'),
    });
    expect(told.changes.changed).toBeGreaterThan(0);
    const written = Object.entries(result.exports).filter(([, each]) => each.written);
    expect(told.exports.toSorted()).toEqual(written.map(([name]) => name).toSorted());
    expect(told.exports).toEqual(expect.arrayContaining(['groups', 'users', 'games', 'items']));
    const counts = indexOf(out).changes[0]?.counts;
    for (const [kind, route] of [
      ['groups', 'group'],
      ['users', 'user'],
      ['games', 'game'],
      ['items', 'item'],
    ] as const) {
      expect(told.by_route[route]).toMatchObject(counts?.[kind] ?? {});
    }
    const { stdout } = await diff(both.registers[1], out);
    expect(stdout).toBe('A build would change nothing in snapshot 2\n');
  });

  it('of a folder that is not there yet adds everything, and does not make it', async () => {
    const { sequence, changes: told } = await json(both.registers[0], path('dist'));
    expect(sequence).toBeNull();
    expect(told).toMatchObject({
      changed: 0,
      removed: 0,
      unchanged: 0,
      added: Object.keys(comparedOf(both.trees[0])).length,
    });
  });

  it('gives at most three examples of each sort for each route', async () => {
    const out = await tree();
    const register = writeRegister(path('register.sqlite'), ROWS);
    changeRegister(register, 'UPDATE items SET price = price + 1; DELETE FROM users');
    const { examples, changes: told } = await json(register, out);
    // The items, the totals and the list of ids; the users, 13 shards of their names and the page of their ids.
    expect(told).toMatchObject({ changed: 12 + 1 + 1, removed: 40 + 13 + 1 });
    expect(examples.filter(({ url }) => url.startsWith('/api/v1/item/'))).toHaveLength(3);
    expect(examples.filter(({ url }) => url.startsWith('/api/v1/user/'))).toHaveLength(3);
  });

  thorough('tells of a build that the removal guard would refuse, too', async () => {
    const out = await tree();
    const register = writeRegister(path('register.sqlite'), { ...ROWS, users: [] });
    const { changes: told } = await json(register, out);
    expect(told.removed).toBe(40 + 13 + 1);
  });

  it('of a register that breaks the contract ends with 1', async () => {
    const out = await tree();
    const register = writeRegister(path('register.sqlite'), ROWS, 'loose');
    changeRegister(register, `UPDATE items SET measured_at = 'yesterday' WHERE id = 5`);
    const { code, stderr } = await diff(register, out);
    expect([code, stderr]).toEqual([1, expect.stringContaining('publish nothing')]);
    expect((await json(register, out, '--skip-invalid')).changes).toMatchObject({ removed: 1 });
  });

  thorough(
    'of a tree whose commit was interrupted, or without an index, ends with 1 and says what helps',
    async () => {
      const out = await tree();
      await interruptCommit({ register: both.registers[1], out });
      expect(await diff(both.registers[1], out)).toMatchObject({
        code: 1,
        stderr: containing('verify --repair'),
      });
      await buildWith({ register: both.registers[1], out });
      rmSync(inState(out, 'index'), { recursive: true });
      expect(await diff(both.registers[1], out)).toMatchObject({
        code: 1,
        stderr: containing('verify --repair'),
      });
    },
  );
});
