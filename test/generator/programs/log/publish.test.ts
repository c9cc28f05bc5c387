/** Signed trees, through the real command line: what each build signs, and what it refuses to sign. */
import { appendFileSync, cpSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { always, it, some } from '../../../support/thorough.js';
import { createKey } from '../../../../generator/programs/log/key-file.js';
import { STEP, damageOf, inProcess, manifestOf, stateOf, temporary } from '../../publish/support.js';
import { differing, inState } from '../../../support/tree.js';
import { containing } from '../../../support/values.js';
import { base64, rootOf } from './naive.js';
import { checkpointIn } from './published.js';
import { ORIGIN } from './signed.js';
import { newSite, type Site } from './site.js';

const path = temporary();
let withOne: Site;
let withTwo: Site;

beforeAll(async () => {
  withTwo = newSite(path);
  await withTwo.built();
  withOne = withTwo.copy();
  withTwo.change(STEP);
  await withTwo.built();
});

const keygen = (file: string, name = ORIGIN) => inProcess('keygen', '--name', name, '--write', file);

/** A file that holds this. */
function written(content: Buffer, mode = 0o600): string {
  const file = path('key');
  writeFileSync(file, content, { mode });
  return file;
}

describe('a key', () => {
  it('is made once, for its owner alone, with its verifier key and an empty log next to it', async () => {
    const file = path('key');
    expect(await keygen(file)).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(`${file}.pub`, 'utf8')).toMatch(/^register\.example\/log\+[0-9a-f]{8}\+A.*\n$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(checkpointIn(`${file}.last`)).toEqual({ size: 0, root: base64(rootOf([])) });
    const secret = readFileSync(file, 'utf8');
    expect(await keygen(file)).toMatchObject({ code: 3, stderr: containing('exists') });
    expect(readFileSync(file, 'utf8')).toBe(secret);
    for (const name of [
      '',
      'two words',
      'a+b',
      'a\u{2028}b',
      '\u{0}',
      '\u{d800}',
      'https://register.example/log',
    ]) {
      const other = path('key');
      expect(await keygen(other, name)).toMatchObject({ code: 2, stderr: containing('name') });
      expect(existsSync(other)).toBe(false);
    }
  });

  it('that others can read, that is none or that lies in the tree is refused', async () => {
    const of = withOne;
    for (const [key, reason] of [
      [written(readFileSync(of.key), 0o644), /^2 .*can be read by others/],
      [`${of.key}.pub`, /^2 .*the private key is invalid/],
      [written(Buffer.from('no key\n')), /^2 .*key ".*" *: the private key is invalid/],
      [written(Buffer.from('clé', 'latin1')), /^2 .*key ".*" is not UTF-8 at line 1, column 3/],
      [path('none'), /^3 .*does not exist/],
    ] as const)
      expect(await of.refusal(of.run('build', '--key', key))).toMatch(reason);
    const inside = join(of.copy().out, 'log.key');
    cpSync(of.key, inside);
    const ended = await of.run('build', '--key', inside, '--out', join(inside, '..'));
    expect(`${ended.code} ${ended.stderr}`).toMatch(/^2 .*lies in the folder .*published/);
  });
});

describe('a signed tree', () => {
  it('leads from each document to the key, snapshot after snapshot, and forgets the lines of what is withheld', async () => {
    expect(withOne.signed()).toEqual([1]);
    expect(withTwo.signed()).toEqual([1, 2]);
    // What was not changed was not touched: games by id have one chunk, the looked-up names another.
    const of = withOne.copy();
    const before = stateOf(of.log);
    of.change(`${STEP} INSERT INTO withheld (kind, id, since) VALUES ('user', 3007, '2026-11-20T08:00:00Z')`);
    await of.built();
    expect(of.signed()).toEqual([1, 2]);
    const after = stateOf(of.log);
    expect(after['index/owners-user/0.txt']).toBe(before['index/owners-user/0.txt']);
    expect(after['index/group/1.txt']).not.toBe(before['index/group/1.txt']);
    // The partial tiles of the first checkpoint stay.
    expect(after['tile/0/000.p/1']).toBe(before['tile/0/000.p/1']);
    const holding = Object.keys(after).filter((file) => readFileSync(join(of.log, file)).includes('/3007'));
    expect(holding).toEqual([]);
    expect(await damageOf(of.out)).toEqual([]);
    // Without a change there is no new entry.
    await of.built();
    expect(differing(stateOf(of.log), after)).toEqual([]);
  });

  it('is not built or repaired without its key', async () => {
    const of = withTwo.copy();
    of.change(`UPDATE groups SET name = 'later' WHERE id = 2`);
    const refused = async (command: string, ...more: string[]): Promise<void> =>
      expect(await of.refusal(of.run(command, ...more))).toMatch(/^2 .*has a signed log.*expected its key/);
    await refused('build');
    // A repair, too, before it deletes what is damaged.
    appendFileSync(join(of.log, 'checkpoint'), 'junk\n');
    await refused('verify', '--repair');
    rmSync(join(of.out, 'log'), { recursive: true });
    await refused('build');
    await refused('verify', '--repair');
  });
});

it('nothing is signed if KEY.last is missing or damaged', async () => {
  const of = withTwo.copy();
  const refusal = () => of.refusal(of.run('build', '--key', of.key));
  const last = of.last;
  rmSync(`${of.key}.last`);
  expect(await refusal()).toMatch(/^3 .*log\.key\.last" is missing.*newest that its log has published/);
  writeFileSync(`${of.key}.last`, last.replace('2\n', '1\n'));
  expect(await refusal()).toMatch(/^1 .*log\.key\.last" is damaged/);
  // What the message says helps.
  cpSync(join(of.log, 'checkpoint'), `${of.key}.last`);
  await of.next('third');
  expect(of.signed()).toEqual([1, 2, 3]);
});

it('keys are changed by signing with both, then with the new one alone', async () => {
  const of = withTwo.copy();
  const next = join(of.folder, 'next.key');
  const vkey = createKey(ORIGIN, next);
  await of.built('--key', next);
  for (const each of [of.vkey, vkey]) expect(of.signed(each)).toEqual([1, 2, 3]);
  expect(manifestOf(of.out)).toMatchObject({ log: { keys: [of.vkey, vkey] } });
  of.change(`UPDATE groups SET name = 'third' WHERE id = 2`);
  await of.succeed('build', '--key', next);
  expect(of.signed(vkey)).toEqual([1, 2, 3, 4]);
  expect(checkpointIn(`${of.key}.last`).size).toBe(3);
});

describe('verify', () => {
  const files = [
    'checkpoint',
    'tile/0/000.p/2',
    'index/routes.txt',
    'index/group/1.txt',
    'index/group/chunks.txt',
    'index/user/chunks-0.txt',
  ];
  always.each(some(files, 1))('names a damaged or missing %s, which a repair restores', async (file) => {
    for (const what of ['altered', 'missing'] as const) {
      const of = withTwo.copy();
      const place = join(of.log, file);
      const content = readFileSync(place);
      const altered = Buffer.from(content);
      altered[content.length - 3]! ^= 1;
      if (what === 'missing') rmSync(place);
      else writeFileSync(place, altered);
      expect(await damageOf(of.out)).toEqual([{ file: relative(of.out, place), what }]);
      expect(await of.run('verify', '--repair', '--key', of.key)).toMatchObject({ code: 0, stderr: '' });
      expect(of.signed()).toEqual([1, 2]);
      expect(readFileSync(place)).toEqual(content);
    }
  });

  it('names damaged or missing entries, and says that a copy has them', async () => {
    const of = withTwo.copy();
    const place = join(of.log, 'tile/entries/000.p/2');
    const content = readFileSync(place);
    for (const damage of ['altered', 'missing']) {
      rmSync(place);
      if (damage === 'altered') writeFileSync(place, content.subarray(0, -1));
      const { code, stdout } = await inProcess('verify', '--out', of.out);
      expect([code, stdout]).toEqual([1, containing(`${damage}: ${relative(of.out, place)}\n`)]);
      expect(stdout).toContain('restore them from a copy (see docs/signed-log.md)');
      const repair = of.run('verify', '--repair', '--key', of.key);
      expect(await of.refusal(repair)).toMatch(/^1 .*the log is damaged.*see docs\/signed-log\.md/);
    }
    writeFileSync(place, content);
    expect(await damageOf(of.out)).toEqual([]);
  });

  it('notices another history than it has verified before', async () => {
    const [of, backup] = [withTwo.copy(), withTwo.copy()];
    await of.next('third');
    expect(await damageOf(of.out)).toEqual([]);
    cpSync(inState(of.out, 'checkpoint'), inState(backup.out, 'checkpoint'));
    const file = `${relative(backup.out, backup.log)}/checkpoint`;
    expect(await damageOf(backup.out)).toEqual([{ file, what: 'rewritten' }]);
  });
});
