/** The brake: a register that lost more of a kind than is plausible is not published. */
import { describe, expect, it } from 'vitest';
import { OPERATOR, published } from '../../support/build.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import {
  buildWith,
  contentOf,
  expectAtRest,
  failureOf,
  fresh,
  inProcess,
  manifestOf,
  stateOf,
  temporary,
} from '../publish/support.js';
import { differing, inState } from '../../support/tree.js';

const path = temporary();

const KINDS = { groups: 'group', users: 'user', games: 'game', items: 'item' } as const;
type Kind = keyof typeof KINDS;
const EVERY = ['groups', 'users', 'games', 'items'] as const;
const records = (count: number) => Array.from({ length: count }, (_, index) => ({ id: index + 1 }));

/** A tree with so many records of a kind, and five of every other. */
async function tree(kind: Kind, count: number) {
  const rows = Object.fromEntries(EVERY.map((each) => [each, records(each === kind ? count : 5)]));
  const register = writeRegister(path('register.sqlite'), rows);
  const out = path('dist');
  await published({ register, out });
  return { register, out };
}

const build = (place: { register: string; out: string }) => buildWith({ ...place, acceptRemovals: false });

async function refused(place: { register: string; out: string }, numbers: string): Promise<boolean> {
  const before = stateOf(place.out);
  const { exitCode, message } = await failureOf(build(place));
  expect(exitCode).toBe(1);
  expect(message).toContain(numbers);
  expect(message).toContain('--accept-removals');
  expect(message).toContain('the published tree is what it was');
  expect(differing(stateOf(place.out), before)).toEqual([]);
  await expectAtRest(place.out);
  return true;
}

describe.each(EVERY)('of %s', (kind) => {
  it('exactly 10 % may go', async () => {
    const place = await tree(kind, 110);
    changeRegister(place.register, `DELETE FROM ${kind} WHERE id <= 11`);
    expect(await build(place)).toMatchObject({ published: true, sequence: 2 });
    await expectAtRest(place.out);
  });

  it('more than 10 % may not', async () => {
    const place = await tree(kind, 109);
    changeRegister(place.register, `DELETE FROM ${kind} WHERE id <= 11`);
    expect(await refused(place, `11 of 109 rows of ${kind} would be gone`)).toBe(true);
  });

  it('10 may go, however many that are', async () => {
    const place = await tree(kind, 11);
    changeRegister(place.register, `DELETE FROM ${kind} WHERE id <= 10`);
    expect(await build(place)).toMatchObject({ published: true, sequence: 2 });
  });

  it('all may not, even if there was only one, and with --accept-removals may', async () => {
    const place = await tree(kind, 1);
    changeRegister(place.register, `DELETE FROM ${kind}`);
    expect(await refused(place, `1 of 1 rows of ${kind} would be gone`)).toBe(true);
    const args = [
      'build',
      '--quiet',
      '--register',
      place.register,
      '--out',
      place.out,
      '--operator',
      OPERATOR,
    ];
    expect((await inProcess(...args)).code).toBe(1);
    expect(await inProcess(...args, '--accept-removals')).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(differing(contentOf(place.out), await fresh(place.register, path('fresh')))).toEqual([]);
  });

  it('what is withheld does not count, and what is removed besides does', async () => {
    const place = await tree(kind, 40);
    const withheld = `INSERT INTO withheld SELECT '${KINDS[kind]}', id, measured_at FROM ${kind} WHERE id`;
    changeRegister(place.register, `${withheld} <= 20`);
    expect(await build(place)).toMatchObject({ sequence: 2 });
    changeRegister(
      place.register,
      `${withheld} BETWEEN 21 AND 25; DELETE FROM ${kind} WHERE id BETWEEN 26 AND 36`,
    );
    expect(await refused(place, `11 of 15 rows of ${kind} would be gone`)).toBe(true);
  });
});

describe('the brake', () => {
  it('stops an empty register over a full tree', async () => {
    const place = await tree('items', 40);
    const empty = writeRegister(path('empty.sqlite'), {});
    expect(
      await refused(
        { register: empty, out: place.out },
        '5 of 5 rows of groups, 5 of 5 rows of users, 5 of 5 rows of games and 1 more would be gone',
      ),
    ).toBe(true);
  });

  it('counts what is gone, not what is new', async () => {
    const place = await tree('items', 20);
    changeRegister(place.register, 'UPDATE items SET id = id + 100 WHERE id <= 11');
    expect(await refused(place, '11 of 20 items would be removed')).toBe(true);
  });

  it('lets any number change, and any number come', async () => {
    const place = await tree('items', 20);
    changeRegister(
      place.register,
      `UPDATE items SET price = 7;
      INSERT INTO items (id, first_measured_at, measured_at, measurements) SELECT id + 500, first_measured_at, measured_at, 2 FROM items`,
    );
    expect(await build(place)).toMatchObject({ published: true, changes: { removed: 0 } });
  });

  it('looks at each build by itself: step by step more may go', async () => {
    const place = await tree('items', 20);
    for (const id of [8, 16]) {
      changeRegister(place.register, `DELETE FROM items WHERE id <= ${id}`);
      await build(place);
    }
    expect(manifestOf(place.out).sequence).toBe(3);
  });

  it('minds neither a first build, nor one that follows a refused one', async () => {
    const place = await tree('items', 20);
    const whole = contentOf(place.out);
    changeRegister(
      place.register,
      'CREATE TABLE kept AS SELECT * FROM items; DELETE FROM items WHERE id > 5',
    );
    expect(await refused(place, '15 of 20 rows of items')).toBe(true);
    changeRegister(place.register, 'INSERT INTO items SELECT * FROM kept WHERE id > 5');
    expect(await build(place)).toMatchObject({ sequence: 1, changes: { added: 0, changed: 0, removed: 0 } });
    expect(differing(contentOf(place.out), whole)).toEqual([]);
  });

  it('knows what was published though the index is lost', async () => {
    const place = await tree('items', 20);
    changeRegister(place.register, 'DELETE FROM items WHERE id > 5');
    const { rmSync } = await import('node:fs');
    rmSync(inState(place.out, 'index'), { recursive: true });
    expect(await refused(place, '15 of 20 items would be removed')).toBe(true);
  });

  it('also stops what --skip-invalid leaves out', async () => {
    const register = writeRegister(path('register.sqlite'), { items: records(20) }, 'loose');
    const out = path('dist');
    await published({ register, out });
    changeRegister(register, `UPDATE items SET measured_at = 'yesterday' WHERE id <= 11`);
    const { message } = await failureOf(
      buildWith({ register, out, acceptRemovals: false, skipInvalid: true }),
    );
    expect(message).toContain('11 of 20 rows of items');
  });

  it('stops a --repair too, and leaves the tree repairable', async () => {
    const place = await tree('items', 20);
    changeRegister(
      place.register,
      'CREATE TABLE kept AS SELECT * FROM items; DELETE FROM items WHERE id > 5',
    );
    const args = [
      'verify',
      '--repair',
      '--quiet',
      '--register',
      place.register,
      '--out',
      place.out,
      '--operator',
      OPERATOR,
    ];
    expect((await inProcess(...args)).code).toBe(1);
    changeRegister(place.register, 'INSERT INTO items SELECT * FROM kept WHERE id > 5');
    expect((await inProcess(...args)).code).toBe(0);
    await expectAtRest(place.out);
  });
});
