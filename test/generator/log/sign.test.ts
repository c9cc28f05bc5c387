/** Signing as a step of its own: after a build that died before it, and where the key is elsewhere. */
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { signingOf } from '../../../generator/config/signing.js';
import { sign } from '../../../generator/log/sign.js';
import { mirror } from '../../../generator/mirror/mirror.js';
import { progressFor } from '../../../generator/progress.js';
import { Tree } from '../../../generator/tree/tree.js';
import { Killed, survive, withFault } from '../publish/faults.js';
import {
  ROWS,
  STEP,
  buildWith,
  damageOf,
  inProcess,
  manifestOf,
  stateOf,
  temporary,
} from '../publish/support.js';
import { OPERATOR, effectsAt } from '../../support/build.js';
import { startProxy } from '../../support/proxy.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { differing, inState } from '../../support/tree.js';
import { checkpointOf, entriesOf, logOf, problemsOf } from './published.js';

const path = temporary();
const ORIGIN = 'register.example/log';

async function site() {
  const folder = path('site');
  mkdirSync(folder);
  const key = join(folder, 'log.key');
  const operator = join(folder, 'operator.json');
  const register = join(folder, 'register.sqlite');
  const out = join(folder, 'dist');
  expect((await inProcess('keygen', '--name', ORIGIN, '--write', key)).code).toBe(0);
  const vkey = readFileSync(`${key}.pub`, 'utf8').trimEnd();
  const declared = z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(OPERATOR, 'utf8')));
  writeFileSync(operator, JSON.stringify({ ...declared, log: [vkey] }));
  writeRegister(register, ROWS);
  const tree = ['--out', out, '--operator', operator];
  const build = (...more: readonly string[]) =>
    inProcess('build', '--quiet', '--accept-removals', '--register', register, ...tree, ...more);
  const sign = (...more: readonly string[]) => inProcess('sign', ...tree, '--key', key, ...more);
  return { folder, key, vkey, operator, register, out, build, sign };
}

const UNSIGNED = 'the snapshot is not signed yet: `sign --key FILE` signs it\n';
const sequencesOf = (out: string): number[] => {
  const { size } = checkpointOf(join(logOf(out), 'checkpoint'));
  return entriesOf(logOf(out), size).map((entry) => Number(/^sequence (\d+)$/m.exec(entry)?.[1]));
};

describe('a tree whose operator declares a log', () => {
  it('is built without its key, and signed by another command', async () => {
    const { register, out, vkey, build, sign } = await site();
    expect(await build()).toEqual({ code: 0, stdout: '', stderr: UNSIGNED });
    expect(manifestOf(out)).toMatchObject({ log: { origin: ORIGIN, keys: [vkey] } });
    expect(await damageOf(out)).toEqual([]);
    expect((await sign()).stdout).toBe(
      `Signed snapshot 1 of ${out}: the log register.example/log has 1 snapshot\n`,
    );
    expect(problemsOf(out, vkey)).toEqual([]);
    const signed = stateOf(out);
    expect((await sign()).stdout).toContain(`Snapshot 1 of ${out} is signed: the log`);
    expect(differing(stateOf(out), signed)).toEqual([]);
    changeRegister(register, STEP);
    expect((await build()).stderr).toBe(UNSIGNED);
    expect(sequencesOf(out)).toEqual([1]);
    expect(await damageOf(out)).toEqual([]);
    const { stdout } = await sign('--json');
    expect(JSON.parse(stdout)).toMatchObject({ origin: ORIGIN, sequence: 2, size: 2, signed: true });
    expect(problemsOf(out, vkey)).toEqual([]);
    expect(await damageOf(out)).toEqual([]);
  });

  it('has one unsigned snapshot at most', async () => {
    const { register, out, key, vkey, build } = await site();
    await build();
    changeRegister(register, STEP);
    const before = stateOf(out);
    const refused = await build();
    expect(`${refused.code} ${refused.stderr}`).toMatch(/^2 .*each snapshot must be in it: expected its key/);
    expect(differing(stateOf(out), before)).toEqual([]);
    expect(await build('--key', key)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(sequencesOf(out)).toEqual([1, 2]);
    expect(problemsOf(out, vkey)).toEqual([]);
  });

  it('is not signed with another key, and another key does not build it', async () => {
    const { folder, out, operator, build } = await site();
    await build();
    const other = join(folder, 'other.key');
    await inProcess('keygen', '--name', ORIGIN, '--write', other);
    const signed = await inProcess(
      'sign',
      '--out',
      out,
      '--operator',
      join(folder, 'none.json'),
      '--key',
      other,
    );
    expect(`${signed.code} ${signed.stderr}`).toMatch(
      /^2 .*snapshot 1 is not signed yet, and names other keys/,
    );
    const built = await build('--key', other);
    expect(`${built.code} ${built.stderr}`).toMatch(/^2 .*is not among those of "log" in the operator file/);
    writeFileSync(operator, readFileSync(operator, 'utf8').replace('+A', '+'));
    const misread = await build();
    expect(`${misread.code} ${misread.stderr}`).toMatch(/^2 .*log\.0 of the operator file/);
  });

  it('is signed only as it was committed', async () => {
    const { out, vkey, build, sign } = await site();
    await build();
    const file = join(out, 'snapshot.json');
    const committed = readFileSync(file, 'utf8');
    writeFileSync(file, committed.replace(/"as_of":"[^"]+"/, '"as_of":"2027-01-01T00:00:00Z"'));
    const refused = await sign();
    expect(`${refused.code} ${refused.stderr}`).toMatch(/^1 .*snapshot\.json" is not what was committed/);
    expect(existsSync(join(logOf(out), 'checkpoint'))).toBe(false);
    // Other files of the tree are not read: the digest that is signed was recorded by the build.
    writeFileSync(file, committed);
    const group = join(out, 'api/v1/group/1.json');
    writeFileSync(group, readFileSync(group, 'utf8').replace('{', '{ '));
    expect((await sign('--quiet')).code).toBe(0);
    expect(await damageOf(out)).toEqual([{ file: 'api/v1/group/1.json', what: 'altered' }]);
    expect(checkpointOf(join(logOf(out), 'checkpoint')).size).toBe(1);
    expect(vkey).toContain(ORIGIN);
  });
});

describe('the step of the log', () => {
  it.each(['build', 'sign', 'mirror'])(
    'of %s waits for no signal: one ends the process at once',
    async (by) => {
      const { key, operator, register, out, build } = await site();
      const copy = path('copy');
      const written = by === 'mirror' ? copy : out;
      const checkpoints = (): number =>
        existsSync(join(written, 'log'))
          ? readdirSync(join(written, 'log')).filter((id) =>
              existsSync(join(written, 'log', id, 'checkpoint')),
            ).length
          : 0;
      const steps: (readonly [before: number, after: number])[] = [];
      const unheard = async <T>(work: () => T | Promise<T>): Promise<T> => {
        const before = checkpoints();
        const result = await work();
        steps.push([before, checkpoints()]);
        return result;
      };
      const progress = progressFor(
        'quiet',
        { signal: new AbortController().signal, unheard },
        () => undefined,
      );
      if (by === 'build') await buildWith({ register, out, operator, key: [key] }, { progress });
      else await build(...(by === 'mirror' ? ['--key', key] : []));
      const signing = signingOf([key], []);
      if (by === 'sign' && signing !== undefined)
        await sign(new Tree(out), signing, () => undefined, progress);
      if (by === 'mirror') {
        const proxy = await startProxy(out, ['--page-tokens', '1000000']);
        const effects = { ...effectsAt('2026-12-02T00:00:00Z'), progress };
        await mirror(new URL(proxy.base), new Tree(copy), effects);
        await proxy.stop();
      }
      expect(steps).toContainEqual([0, 1]);
    },
  );
});

describe('a tree without a log', () => {
  it('is not signed', async () => {
    const { folder, register, key } = await site();
    const out = join(folder, 'plain');
    await buildWith({ register, out });
    const { code, stderr } = await inProcess('sign', '--out', out, '--operator', OPERATOR, '--key', key);
    expect(`${code} ${stderr}`).toMatch(/^2 .*declares no log, expected "log" in the operator file/);
    const without = await inProcess('sign', '--out', out, '--operator', OPERATOR);
    expect(`${without.code} ${without.stderr}`).toMatch(/^2 .*expected one \(--key, SNAPSHOT_KEY or "key"\)/);
  });
});

it('signs the same entry wherever it dies, and also if the tree is moved meanwhile', async () => {
  const { folder, register, out, key, vkey, build } = await site();
  await build('--key', key);
  changeRegister(register, STEP);
  let isDead = false;
  await withFault(
    ({ name, path: file }) => {
      if (isDead) return new Killed('dead');
      isDead = name === 'renameSync' && file.endsWith('log.key.last.partial');
      return undefined;
    },
    () => survive(buildWith({ register, out, key: [key], at: '2026-12-24T00:00:00Z' })),
  );
  const { root } = checkpointOf(`${key}.last`);
  expect(manifestOf(out)).toMatchObject({ sequence: 2 });
  expect(sequencesOf(out)).toEqual([1]);
  const moved = join(folder, 'moved');
  cpSync(out, moved, { recursive: true, preserveTimestamps: true });
  cpSync(inState(out), inState(moved), { recursive: true, preserveTimestamps: true });
  const { code, stderr } = await inProcess(
    'sign',
    '--out',
    moved,
    '--operator',
    join(folder, 'none.json'),
    '--key',
    key,
  );
  expect([code, stderr]).toEqual([0, '']);
  expect(checkpointOf(join(logOf(moved), 'checkpoint')).root).toBe(root);
  expect(problemsOf(moved, vkey)).toEqual([]);
});
