/** What must not go wrong by an operator's slip, or because two misfortunes meet. */
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rollback } from '../../../generator/build/rollback.js';
import { OPERATOR, effectsAt, published } from '../../support/build.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import {
  ROWS,
  buildWith,
  contentOf,
  damageOf,
  failureOf,
  flat,
  fresh,
  inProcess,
  interruptCommit,
  leftovers,
  manifestOf,
  pair,
  stateOf,
  temporary,
  listOf,
} from './support.js';
import { differing, inState } from '../../support/tree.js';
import { Tree } from '../../../generator/tree/tree.js';

const path = temporary();
const LATER = effectsAt('2026-12-02T00:00:00Z');

const repair = (register: string, out: string, ...more: string[]) =>
  inProcess(
    'verify',
    '--repair',
    ...more,
    '--operator',
    OPERATOR,
    '--register',
    register,
    '--out',
    out,
    '--quiet',
  );

describe('an interrupted commit', () => {
  it('is completed although the register can be published no more', async () => {
    const { registers, trees } = await pair(path);
    const out = path('dist');
    await published({ register: registers[0], out });
    await interruptCommit({ register: registers[1], out });
    expect(await damageOf(out)).not.toEqual([]);
    changeRegister(registers[1], 'PRAGMA user_version = 9');
    await failureOf(buildWith({ register: registers[1], out }));
    expect(differing(contentOf(out), trees[1])).toEqual([]);
    expect(await damageOf(out)).toEqual([]);
  });
});

describe('a document that changes', () => {
  const HISTORY = 'group/6/history.json';

  describe.each(['before the build', 'within its commit'])('%s', (when) => {
    it.each([
      ['its folder is gone', 'group/6', undefined],
      ['a file is in the place of its folder', 'group/6', 'file'],
      ['the folder of all like it is gone', 'group', undefined],
      ['a file is in the place of the folder of all like it', 'group', 'file'],
      ['a folder is in its place', HISTORY, 'folder'],
    ])('is published where it belongs, though %s', async (_, spoiled, left) => {
      const { registers, trees } = await pair(path);
      const out = path('dist');
      await published({ register: registers[0], out });
      if (when === 'within its commit') await interruptCommit({ register: registers[1], out }, 1);
      rmSync(join(out, spoiled), { recursive: true });
      if (left === 'file') writeFileSync(join(out, spoiled), 'in the way');
      if (left === 'folder') mkdirSync(join(out, spoiled, 'in the way'), { recursive: true });
      await buildWith({ register: registers[1], out });
      const found = contentOf(out);
      for (const file of [HISTORY, 'api/v1/group/6.json']) expect(found[file]).toBe(trees[1][file]);
      expect(leftovers(out)).toEqual([]);
    });
  });

  it('makes no folders but one for each route on its way', async () => {
    const { registers } = await pair(path);
    const out = path('dist');
    await published({ register: registers[0], out });
    await interruptCommit({ register: registers[1], out }, 1);
    const stage = inState(out, 'stage');
    for (const folder of ['replacing', 'previous/files']) {
      const found = readdirSync(join(stage, folder), { recursive: true, encoding: 'utf8' });
      expect(found).toContain(flat('group-history', HISTORY));
      expect(found.filter((name) => name.split('/').length > 2)).toEqual([]);
    }
  });
});

describe('a rollback', () => {
  it.each(['', '/item'])('without the kept index%s is refused, and deletes nothing', async (part) => {
    const { registers } = await pair(path);
    const out = path('dist');
    for (const register of registers) await published({ register, out, acceptRemovals: true });
    rmSync(inState(out, `previous/index${part}`), { recursive: true });
    const before = stateOf(out);
    expect((await failureOf(rollback(new Tree(out), LATER))).message).toContain('damaged');
    expect(differing(stateOf(out), before)).toEqual([]);
  });
});

describe('a repair', () => {
  it('that meets a record withheld by now removes it, and the change list says so', async () => {
    const register = writeRegister(path('register.sqlite'), ROWS);
    const out = path('dist');
    await published({ register, out });
    const file = join(out, 'api/v1/item/1.json');
    writeFileSync(file, '{}');
    changeRegister(register, `INSERT INTO withheld VALUES ('item', 1, '2026-01-01T00:00:00Z')`);
    await repair(register, out, '--accept-removals');
    expect(existsSync(file)).toBe(false);
    expect(differing(contentOf(out), await fresh(register, path('fresh')))).toEqual([]);
    expect(listOf(out, 2).delete).toContain('/api/v1/item/1');
  });

  it('of a broken snapshot.json is refused where the register would empty the tree', async () => {
    const out = path('dist');
    await published({ register: writeRegister(path('full.sqlite'), ROWS), out });
    writeFileSync(join(out, 'snapshot.json'), 'x');
    const before = contentOf(out);
    const empty = writeRegister(path('empty.sqlite'), {});
    const { code } = await repair(empty, out);
    expect(code).toBe(1);
    expect(differing(contentOf(out), before)).toEqual([]);
  });

  it('heals an index of changes that can’t be read: everybody starts over from the published snapshot', async () => {
    const { registers } = await pair(path);
    const out = path('dist');
    for (const register of registers) await published({ register, out, acceptRemovals: true });
    writeFileSync(join(out, 'changes/index.json'), 'x');
    expect(await damageOf(out)).not.toEqual([]);
    await repair(registers[1], out);
    expect(await damageOf(out)).toEqual([]);
    expect(JSON.parse(readFileSync(join(out, 'changes/index.json'), 'utf8'))).toMatchObject({
      sequence: manifestOf(out).sequence,
      oldest: manifestOf(out).sequence,
    });
  });
});

describe('a list', () => {
  it.each(['--purge-list', '--files-from'])(
    '%s is never written over the register or into the tree',
    async (option) => {
      const register = writeRegister(path('register.sqlite'), ROWS);
      const out = path('dist');
      const before = readFileSync(register);
      for (const list of [register, join(out, 'list.txt')]) {
        const { code } = await inProcess('build', '--register', register, '--out', out, option, list);
        expect(code, list).toBe(2);
      }
      expect(readFileSync(register).equals(before)).toBe(true);
    },
  );
});

describe('the bookkeeping of a tree', () => {
  it('can be read by its owner alone, since it keeps what is withheld by now', async () => {
    const out = path('dist');
    await published({ register: writeRegister(path('register.sqlite'), ROWS), out });
    expect(statSync(inState(out)).mode & 0o777).toBe(0o700);
  });
});
