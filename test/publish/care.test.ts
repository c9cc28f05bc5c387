/** What must not go wrong by an operator's slip, or because two misfortunes meet. */
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rollback } from '../../generator/rollback.js';
import { OPERATOR, effectsAt, published } from '../support/build.js';
import { changeRegister, writeRegister } from '../support/register.js';
import {
  ROWS,
  buildWith,
  contentOf,
  damageOf,
  differing,
  failureOf,
  fresh,
  inProcess,
  interruptCommit,
  manifestOf,
  pair,
  stateOf,
  temporary,
} from './support.js';

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

describe('a rollback', () => {
  it.each(['', '/item'])('without the kept ledger%s is refused, and deletes nothing', async (part) => {
    const { registers } = await pair(path);
    const out = path('dist');
    for (const register of registers) await published({ register, out });
    rmSync(join(out, `.snapshot/previous/ledger${part}`), { recursive: true });
    const before = stateOf(out);
    expect((await failureOf(rollback(out, LATER))).message).toContain('damaged');
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
    expect(readFileSync(join(out, 'changes/2.json'), 'utf8')).toContain('"delete":[\n"/api/v1/item/1"');
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
    for (const register of registers) await published({ register, out });
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
    expect(statSync(join(out, '.snapshot')).mode & 0o777).toBe(0o700);
  });
});
