/** Signing as a step of its own: after a build that died before it, and where the key is elsewhere. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '../../../../generator/programs/log/key-file.js';
import { changedFilesBetween, snapshotIdOf } from '../../../../generator/publish/changed-files.js';
import { State } from '../../../../generator/state/state.js';
import { readManifest } from '../../../../generator/tree/manifest.js';
import { Tree } from '../../../../generator/tree/tree.js';
import {
  STEP,
  damageOf,
  hashesOf,
  inProcess,
  manifestOf,
  stateOf,
  temporary,
} from '../../publish/support.js';
import { OPERATOR } from '../../../support/build.js';
import { site } from '../../../support/site.js';
import { differing, namesThatDiffer } from '../../../support/tree.js';
import { containing, fields } from '../../../support/values.js';
import { newKey } from './naive.js';
import { sequencesOf } from './published.js';
import { ORIGIN } from './signed.js';
import { newSite, type Site } from './site.js';

const path = temporary();
const UNSIGNED = 'the snapshot is not signed yet: `sign --key FILE` signs it\n';

/** Its operator declares the log, and its first snapshot is not signed. */
let unsigned: Site;
beforeAll(async () => {
  unsigned = newSite(path, true);
  await unsigned.run('build');
});

const signed = ({ out, operator, key }: Pick<Site, 'out' | 'operator' | 'key'>, ...more: readonly string[]) =>
  inProcess('sign', '--out', out, '--operator', operator, '--key', key, ...more);

describe('a tree whose operator declares a log', () => {
  it('is built without its key, and signed by another command', async () => {
    const of = unsigned.copy();
    const { out, vkey } = of;
    expect(manifestOf(out)).toMatchObject({ log: { origin: ORIGIN, keys: [vkey] } });
    expect(await damageOf(out)).toEqual([]);
    expect((await signed(of)).stdout).toBe(
      `Signed snapshot 1 of ${out}: the log register.example/log has 1 snapshot\n`,
    );
    expect(of.signed()).toEqual([1]);
    const state = stateOf(out);
    expect((await signed(of)).stdout).toContain(`Snapshot 1 of ${out} is signed: the log`);
    expect(differing(stateOf(out), state)).toEqual([]);
    of.change(STEP);
    expect((await of.run('build')).stderr).toBe(UNSIGNED);
    expect(sequencesOf(out)).toEqual([1]);
    expect(await damageOf(out)).toEqual([]);
    const { stdout } = await signed(of, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ origin: ORIGIN, sequence: 2, size: 2, signed: true });
    expect(of.signed()).toEqual([1, 2]);
    expect(await damageOf(out)).toEqual([]);
  });

  it('has what is signed later in the lists of the next build, and among what the snapshot changed', async () => {
    const of = unsigned.copy();
    const { out } = of;
    const list = path('files');
    const reported = (): string[] => readFileSync(list, 'utf8').split('\n');
    const idOf = () => snapshotIdOf(readManifest(join(out, 'snapshot.json'))!);
    await signed(of);
    const before = idOf();
    of.change(STEP);
    await of.run('build', '--files-from', list);
    const held = hashesOf(out);
    expect(reported()).toContain('changes/2.ndjson.gz');
    expect((await signed(of)).code).toBe(0);
    const added = namesThatDiffer(hashesOf(out), held);
    const tiles = added.filter((file) => file.includes('/tile/'));
    expect([tiles.length, reported().filter((file) => tiles.includes(file))]).toEqual([2, []]);
    using state = State.open(new Tree(out).database);
    const changed = changedFilesBetween(state, before, idOf());
    expect([...(changed ?? [])]).toEqual(expect.arrayContaining([...added]));
    await of.built('--files-from', list);
    expect(reported()).toEqual(expect.arrayContaining([...added]));
  });

  it('has one unsigned snapshot at most', async () => {
    const of = unsigned.copy();
    of.change(STEP);
    expect(await of.refusal(of.run('build'))).toMatch(/^2 .*each snapshot must be in it: expected its key/);
    await of.built();
    expect(of.signed()).toEqual([1, 2]);
  });

  it('is not signed with another key, and another key does not build it', async () => {
    const of = unsigned.copy();
    const other = join(of.folder, 'other.key');
    createKey(ORIGIN, other);
    const operator = join(of.folder, 'none.json');
    expect(await of.refusal(signed({ out: of.out, operator, key: other }))).toMatch(
      /^2 .*snapshot 1 is not signed yet, and names other keys/,
    );
    expect(await of.refusal(of.run('build', '--key', other))).toMatch(
      /^2 .*is not among those of "log" in the operator file/,
    );
    writeFileSync(of.operator, readFileSync(of.operator, 'utf8').replace('+A', '+'));
    expect(await of.refusal(of.run('build'))).toMatch(/^2 .*log\.0 of the operator file/);
  });

  it('is signed only as it was committed', async () => {
    const of = unsigned.copy();
    const file = join(of.out, 'snapshot.json');
    const committed = readFileSync(file, 'utf8');
    writeFileSync(file, committed.replace(/"as_of":"[^"]+"/, '"as_of":"2027-01-01T00:00:00Z"'));
    expect(await of.refusal(signed(of))).toMatch(/^1 .*snapshot\.json" is not what was committed/);
    expect(existsSync(join(of.log, 'checkpoint'))).toBe(false);
    // Other files of the tree are not read: the digest that is signed was recorded by the build.
    writeFileSync(file, committed);
    const group = join(of.out, 'api/v1/group/1.json');
    writeFileSync(group, readFileSync(group, 'utf8').replace('{', '{ '));
    expect((await signed(of, '--quiet')).code).toBe(0);
    expect(await damageOf(of.out)).toEqual([{ file: 'api/v1/group/1.json', what: 'altered' }]);
    expect(sequencesOf(of.out)).toEqual([1]);
  });
});

it('a tree without a log is not signed', async () => {
  const { key } = unsigned;
  const { out } = await site(path);
  const { code, stderr } = await signed({ out, operator: OPERATOR, key });
  expect(`${code} ${stderr}`).toMatch(/^2 .*declares no log, expected "log" in the operator file/);
  const without = await inProcess('sign', '--out', out, '--operator', OPERATOR);
  expect(`${without.code} ${without.stderr}`).toMatch(/^2 .*expected one \(--key, SNAPSHOT_KEY or "key"\)/);
});

it.each<[string, (vkey: string) => readonly string[], string]>([
  ['of two names', (vkey) => [vkey, newKey('other.example/log', 1).vkey], 'has keys named'],
  [
    'of another kind',
    () => [newKey('witness.example', 4).vkey],
    'log.0 of the operator file: the public key is invalid: expected one of Ed25519',
  ],
])('an operator file with keys %s is refused', async (_, keys, message) => {
  const of = unsigned.copy();
  const operator = fields(JSON.parse(readFileSync(of.operator, 'utf8')));
  writeFileSync(of.operator, JSON.stringify({ ...operator, log: keys(of.vkey) }));
  expect(await of.refusal(of.run('build'))).toContain(message);
});

it('a build with a key twice, or with keys of two names, is refused before it reads the register', async () => {
  const other = path('other.key');
  createKey('other.example/log', other);
  const { key } = unsigned;
  const args = [
    '--register',
    path('none.sqlite'),
    '--out',
    path('dist'),
    '--operator',
    OPERATOR,
    '--key',
    key,
  ];
  for (const [next, message] of [
    [key, 'a key is given twice'],
    [other, `key "${other}" is named "other.example/log", expected "${ORIGIN}" as "`],
  ] as const)
    expect(await inProcess('build', ...args, '--key', next)).toMatchObject({
      code: 2,
      stderr: containing(message),
    });
});
