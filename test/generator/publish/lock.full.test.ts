/** One builder for each tree: while the first lives nobody else touches it, and a dead one hinders nobody. */
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { writeSample } from '../../../data/sample.js';
import { Lock } from '../../../generator/lock.js';
import { Tree } from '../../../generator/tree/tree.js';
import { OPERATOR, published } from '../../support/build.js';
import { snapshot } from '../../support/cli.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { differing, inState, isSibling } from '../../support/tree.js';
import {
  ROWS,
  buildWith,
  contentOf,
  damageOf,
  documentsOf,
  errorsOf,
  expectAtRest,
  failureOf,
  fresh,
  inProcess,
  indexOf,
  interruptCommit,
  manifestOf,
  pair,
  start,
  startBuild,
  stateOf,
  temporary,
  until,
} from './support.js';

const path = temporary();

const register = writeRegister(path('register.sqlite'), ROWS);

// Enough to render for a while.
const big = path('big.sqlite');
beforeAll(() => writeSample({ file: big, records: 3000, seed: 2 }));

/** A build that has been stopped by SIGSTOP while it renders into a published tree. */
async function heldUp() {
  const out = path('dist');
  await published({ register, out });
  const first = startBuild(big, out);
  const pidFile = `${new Tree(out).lock}.pid`;
  await until(
    () =>
      readFileSync(pidFile, 'utf8') === String(first.pid) && existsSync(inState(out, 'stage/tree/api/v1')),
    'the build renders',
  );
  first.child.kill('SIGSTOP');
  return { out, first };
}

describe('a tree that is being built', () => {
  it('is refused to every other command with exit 75 and the process that has it, and is free when that was killed', async () => {
    const { out, first } = await heldUp();
    const before = stateOf(out);
    for (const args of [
      ['build', '--register', register, '--operator', OPERATOR],
      ['rollback'],
      ['verify'],
      ['verify', '--repair', '--register', register, '--operator', OPERATOR],
    ]) {
      const { code, stderr } = await snapshot([...args, '--quiet', '--out', out]);
      // A first build keeps nothing to go back to, which a rollback may notice first.
      if (args[0] === 'rollback' && code === 1) continue;
      expect([args, code, errorsOf({ stderr })]).toEqual([
        args,
        75,
        [expect.stringMatching(new RegExp(`another process .*process ${first.pid}\\)`))],
      ]);
      expect(differing(stateOf(out), before)).toEqual([]);
    }
    expect(existsSync(inState(out, 'stage/tree'))).toBe(true);
    first.child.kill('SIGKILL');
    expect((await first.done).signal).toBe('SIGKILL');
    expect(differing(stateOf(out), before)).toEqual([]);
    expect(await damageOf(out)).toEqual([]);
    // The stage of the dead build is still there; the next one clears it away.
    const { sequence, changes } = await published({ register, out });
    expect([sequence, changes.added + changes.changed + changes.removed]).toEqual([1, 0]);
    await expectAtRest(out);
  });

  it('goes on when its builder does', async () => {
    const { out, first } = await heldUp();
    first.child.kill('SIGCONT');
    expect((await first.done).code).toBe(0);
    expect(manifestOf(out).sequence).toBe(2);
    await expectAtRest(out);
  });

  it('can be compared by diff meanwhile, which only reads', async () => {
    const out = path('dist');
    // By the same code: another would write the downloads anew.
    expect((await startBuild(register, out).done).code).toBe(0);
    const lock = Lock.take(new Tree(out).lock);
    const { code, stdout } = await snapshot([
      'diff',
      '--quiet',
      '--register',
      register,
      '--operator',
      OPERATOR,
      '--out',
      out,
    ]);
    lock.release();
    expect([code, stdout]).toEqual([0, expect.stringContaining('would change nothing')]);
  });

  it('refuses a rollback too', async () => {
    const { registers } = await pair(path);
    const out = path('dist');
    await published({ register: registers[0], out });
    await buildWith({ register: registers[1], out });
    const before = stateOf(out);
    const lock = Lock.take(new Tree(out).lock);
    const { code, stderr } = await snapshot(['rollback', '--quiet', '--out', out]);
    lock.release();
    expect([code, stderr]).toEqual([75, expect.stringContaining(`process ${process.pid}`)]);
    expect(differing(stateOf(out), before)).toEqual([]);
  });

  it('is free again after a build that failed', async () => {
    const out = path('dist');
    await published({ register, out });
    const empty = writeRegister(path('empty.sqlite'), {});
    await failureOf(buildWith({ register: empty, out, acceptRemovals: false }));
    expect(() => Lock.take(new Tree(out).lock).release()).not.toThrow();
  });
});

describe('four builds started at once', () => {
  it.each(['into an empty folder', 'over a published tree'])(
    '%s publish one after the other or are refused',
    async (where) => {
      const { registers, trees } = await pair(path);
      const out = path('dist');
      if (where === 'over a published tree') await published({ register: registers[0], out });
      const all = Array.from({ length: 4 }, () => startBuild(registers[1], out));
      const ended = await Promise.all(all.map(({ done }) => done));
      const codes = ended.map(({ code }) => code);
      for (const { code, stderr } of ended) {
        expect([0, 75]).toContain(code);
        expect(stderr).toMatch(code === 75 ? /another process is at work/ : /^$/);
      }
      expect(codes).toContain(0);
      expect(differing(contentOf(out), trees[1])).toEqual([]);
      expect(manifestOf(out).sequence).toBe(where === 'over a published tree' ? 2 : 1);
      expect(indexOf(out).changes).toHaveLength(manifestOf(out).sequence);
      await expectAtRest(out);
    },
  );
});

describe('--wait', () => {
  it.each([
    ['build', '--accept-removals', '--register', register, '--operator', OPERATOR],
    ['verify', '--repair', '--accept-removals', '--register', register, '--operator', OPERATOR],
    ['rollback'],
  ])('has %s wait for the other process, and say for which', async (...args) => {
    const { registers } = await pair(path);
    const out = path('dist');
    await published({ register: registers[0], out });
    await buildWith({ register: registers[1], out });
    const lock = Lock.take(new Tree(out).lock);
    const waiting = start([...args, '--wait', '--out', out]);
    await until(() => waiting.output.stderr.includes('waiting'), 'it waits');
    lock.release();
    const { code, stderr } = await waiting.done;
    expect(code).toBe(0);
    const told = `waiting for process ${process.pid}, which is at work on this tree\n`;
    expect(stderr.split(told)).toHaveLength(2);
    expect(await damageOf(out)).toEqual([]);
  });

  it('waits for a process that uses the key, and says so once', async () => {
    const out = path('dist');
    const key = path('log.key');
    await inProcess('keygen', '--name', 'register.example/log', '--write', key);
    await published({ register, out });
    const lock = Lock.take(`${key}.lock`, `uses the key "${key}"`);
    const args = ['--accept-removals', '--register', register, '--operator', OPERATOR, '--key', key];
    const waiting = start(['build', '--wait', '--out', out, ...args]);
    await until(() => waiting.output.stderr.includes('waiting'), 'it waits');
    await sleep(2000);
    lock.release();
    const { code, stderr } = await waiting.done;
    expect(code).toBe(0);
    expect(stderr.split(`waiting for process ${process.pid}, which uses the key "${key}"\n`)).toHaveLength(2);
    expect(stderr.split('waiting')).toHaveLength(2);
  });

  it('ends with 130 at a signal, and leaves the tree as it was', async () => {
    const out = path('dist');
    await published({ register, out });
    const before = stateOf(out);
    const lock = Lock.take(new Tree(out).lock);
    const waiting = startBuild(register, out, '--wait');
    await sleep(1500);
    waiting.child.kill('SIGINT');
    const { code, stderr } = await waiting.done;
    lock.release();
    // Quiet: it doesn't say that it waits.
    expect([code, stderr]).toEqual([130, 'error: stopped by SIGINT\n']);
    expect(differing(stateOf(out), before)).toEqual([]);
  });

  it('lets four builds that are started at once all end with 0', async () => {
    const out = path('dist');
    const all = Array.from({ length: 4 }, () => startBuild(register, out, '--wait'));
    const ended = await Promise.all(all.map(({ done }) => done));
    expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual(ended.map(() => [0, '']));
    expect(manifestOf(out).sequence).toBe(1);
    await expectAtRest(out);
  });
});

describe('what an earlier build left behind', () => {
  it('in the stage is cleared away, whatever it is', async () => {
    const out = path('dist');
    await published({ register, out });
    const stage = inState(out, 'stage');
    mkdirSync(join(stage, 'tree/api/v1/group'), { recursive: true });
    writeFileSync(join(stage, 'tree/api/v1/group/999.json'), 'stale');
    mkdirSync(join(stage, 'lists/group'), { recursive: true });
    writeFileSync(join(stage, 'lists/group/removed'), 'api/v1/group/1.json\n');
    expect(await damageOf(out)).toEqual([]);
    await buildWith({ register, out });
    await expectAtRest(out);
    expect(existsSync(join(out, 'api/v1/group/999.json'))).toBe(false);
    expect(existsSync(join(out, 'api/v1/group/1.json'))).toBe(true);
  });

  it('can’t be seen in the published tree but for the empty .gitignore of a clone', async () => {
    const out = path('dist');
    mkdirSync(out);
    writeFileSync(join(out, '.gitignore'), '*\n!.gitignore\n');
    const again = writeRegister(path('again.sqlite'), ROWS);
    await published({ register: again, out });
    changeRegister(again, 'UPDATE items SET price = 50 WHERE id = 1');
    expect(await published({ register: again, out })).toMatchObject({ sequence: 2 });
    expect(readFileSync(join(out, '.gitignore'), 'utf8')).toBe('*\n!.gitignore\n');
    await expectAtRest(out);
    const routed = manifestOf(out).routes.map(({ file }) => file.split('/')[0] ?? '');
    const found = readdirSync(out).filter((name) => !isSibling(name));
    expect(found.toSorted()).toEqual(['.gitignore', ...new Set(routed)].toSorted());
  });
});

describe('a tree that somebody deleted', () => {
  it('but for its state is built from nothing', async () => {
    const out = path('dist');
    const wanted = await fresh(register, out);
    rmSync(out, { recursive: true });
    const { sequence, changes } = await published({ register, out });
    expect([sequence, changes.added]).toEqual([1, documentsOf(wanted).length]);
    expect(differing(contentOf(out), wanted)).toEqual([]);
    await expectAtRest(out);
  });

  it('but for its state with a sealed stage in it is found out, and mended', async () => {
    const { registers, trees } = await pair(path);
    const out = path('dist');
    await published({ register: registers[0], out });
    await interruptCommit({ register: registers[1], out });
    rmSync(out, { recursive: true });
    const repaired = await start([
      'verify',
      '--repair',
      '--quiet',
      '--register',
      registers[1],
      '--operator',
      OPERATOR,
      '--out',
      out,
    ]).done;
    expect([repaired.code, repaired.stderr]).toEqual([0, '']);
    expect(differing(contentOf(out), trees[1])).toEqual([]);
    await expectAtRest(out);
  });

  it('of its state alone is taken on as it is', async () => {
    const out = path('dist');
    const wanted = await fresh(register, out);
    rmSync(inState(out), { recursive: true });
    const before = stateOf(out);
    const verified = await start(['verify', '--quiet', '--out', out]).done;
    expect.soft([verified.code, errorsOf(verified)]).toEqual([1, []]);
    const { changes } = await published({ register, out });
    expect(changes).toMatchObject({ added: 0, changed: 0, removed: 0 });
    expect(differing(contentOf(out), wanted)).toEqual([]);
    expect(differing(stateOf(out), before)).toEqual(['snapshot.json is another']);
    await expectAtRest(out);
  });

  it('of its snapshot.json alone becomes exactly what the register says, withheld and removed records gone', async () => {
    const { registers, trees } = await pair(path);
    const out = path('dist');
    await published({ register: registers[0], out });
    rmSync(join(out, 'snapshot.json'));
    await buildWith({ register: registers[1], out });
    expect(differing(contentOf(out), trees[1])).toEqual([]);
    await expectAtRest(out);
  });

  it('of its snapshot.json after some snapshots has change lists that lead nowhere no longer', async () => {
    const { registers } = await pair(path);
    const out = path('dist');
    for (const which of [0, 1, 0] as const) await buildWith({ register: registers[which], out });
    rmSync(join(out, 'snapshot.json'));
    await buildWith({ register: registers[0], out });
    const { sequence } = manifestOf(out);
    const index = indexOf(out);
    expect([index.sequence, index.oldest]).toEqual([sequence, sequence]);
    expect(readdirSync(join(out, 'changes'))).toEqual(['index.json']);
    await expectAtRest(out);
  });
});
