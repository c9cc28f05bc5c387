/** `rollback`: the previous snapshot again, as a new one that mirrors follow like any other. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { it, thorough } from '../../support/thorough.js';
import { apply } from '../../../generator/publish/commit.js';
import { completeCommit } from '../../../generator/publish/recover.js';
import { Tree } from '../../../generator/tree/tree.js';
import { Killed, survive } from '../publish/faults.js';
import { rollback } from '../../../generator/build/rollback.js';
import { OPERATOR, effectsAt, published, quiet } from '../../support/build.js';
import {
  buildWith,
  contentOf,
  damageOf,
  digestOf,
  expectAtRest,
  failureOf,
  flat,
  indexOf,
  inProcess,
  interruptCommit,
  listOf,
  manifestOf,
  mirrorOf,
  pair,
  progressThat,
  stateOf,
  temporary,
} from '../publish/support.js';
import type { Pair } from '../publish/support.js';
import { differing, inState, namesThatDiffer } from '../../support/tree.js';

const path = temporary();
let both: Pair;
beforeAll(async () => {
  both = await pair(path);
});

const back = (out: string) => rollback(new Tree(out), effectsAt('2026-12-09T00:00:00Z'));

/** A tree of two snapshots: first of one register, then of the other. */
async function two(): Promise<string> {
  const out = path('dist');
  await published({ register: both.registers[0], out });
  await buildWith({ register: both.registers[1], out });
  return out;
}

describe('a rollback', () => {
  it('publishes the previous snapshot as a new one, with a change list that leads there', async () => {
    const out = await two();
    const first = await (async () => {
      const other = path('dist');
      await published({ register: both.registers[0], out: other });
      return manifestOf(other);
    })();
    const mirror = mirrorOf(out);
    const { id } = manifestOf(out).tree;
    const { code, stdout } = await inProcess('rollback', '--out', out);
    expect([code, stdout]).toEqual([0, expect.stringContaining('Published snapshot 3')]);
    expect(stdout).toContain('the content of snapshot 1');
    expect(differing(contentOf(out), both.trees[0])).toEqual([]);
    const now = manifestOf(out);
    expect(now).toEqual({
      ...first,
      sequence: 3,
      built_at: now.built_at,
      generator: now['generator'],
      service: now['service'],
      tree: { ...first.tree, id },
    });
    const { put, delete: gone } = listOf(out, 3);
    for (const { path: url, sha256 } of put) mirror.set(url, sha256);
    for (const url of gone) mirror.delete(url);
    expect(differing(Object.fromEntries(mirror), Object.fromEntries(mirrorOf(out)))).toEqual([]);
    expect(now.digest).toBe(digestOf(mirror, now.routes));
    expect(indexOf(out)).toMatchObject({ sequence: 3, oldest: 1 });
    expect(await damageOf(out)).toEqual([]);
  });

  thorough('twice is back where it began', async () => {
    const out = await two();
    const { digest } = manifestOf(out);
    expect(await back(out)).toMatchObject({ sequence: 3, contentOf: 1 });
    expect(await back(out)).toMatchObject({ sequence: 4, contentOf: 2 });
    expect(differing(contentOf(out), both.trees[1])).toEqual([]);
    expect(manifestOf(out).digest).toBe(digest);
    expect(await damageOf(out)).toEqual([]);
  });

  it('touches only what the last snapshot had changed', async () => {
    const out = await two();
    const before = stateOf(out);
    const mirror = mirrorOf(out);
    await back(out);
    const touched = namesThatDiffer(stateOf(out), before);
    const changed = namesThatDiffer(...both.trees);
    expect(touched.toSorted()).toEqual(
      [
        ...changed,
        'changes/3.json',
        'changes/3.ndjson.gz',
        'changes/index.json',
        'feeds/snapshots.atom',
        'feeds/snapshots.json',
        'snapshot.json',
      ].toSorted(),
    );
    expect(changed).toEqual(expect.arrayContaining(['api/v1/group/3.json', 'downloads/groups.csv.gz']));
    const { put, delete: gone } = listOf(out, 3);
    expect([...put.map((each) => each.path), ...gone].toSorted()).toEqual(
      namesThatDiffer(Object.fromEntries(mirrorOf(out)), Object.fromEntries(mirror)).toSorted(),
    );
  });

  it('leaves a tree that the next build goes on from', async () => {
    const out = await two();
    await back(out);
    // No document changes, but snapshot.json says that the downloads are those of the newest snapshot.
    for (let times = 0; times < 2; times += 1) {
      expect(await buildWith({ register: both.registers[0], out })).toMatchObject({
        sequence: 4,
        changes: { added: 0, changed: 0, removed: 0 },
      });
    }
    expect(await buildWith({ register: both.registers[1], out })).toMatchObject({ sequence: 5 });
    expect(differing(contentOf(out), both.trees[1])).toEqual([]);
    await expectAtRest(out);
  });

  thorough('does not miss what a thread deletes that outlives an interrupted commit', async () => {
    const out = await two();
    await interruptCommit({ register: both.registers[0], out }, 1);
    const { progress } = progressThat('committing', () => {
      throw new Killed('dead within the commit');
    });
    progress.start('committing', 0, 'moves');
    const late: string[] = [];
    const discard = (folder: string) => {
      late.push(folder);
      return Promise.resolve();
    };
    await survive(apply(new Tree(out), progress, discard));
    expect(late.length).toBeGreaterThan(0);
    await completeCommit(new Tree(out), quiet());
    for (const folder of late) rmSync(folder, { recursive: true, force: true });
    expect(await back(out)).toMatchObject({ contentOf: 2 });
    expect(differing(contentOf(out), both.trees[1])).toEqual([]);
    expect(await damageOf(out)).toEqual([]);
  });

  thorough('after a build that changed nothing still leads to the snapshot before', async () => {
    const out = await two();
    await buildWith({ register: both.registers[1], out });
    expect(await back(out)).toMatchObject({ contentOf: 1 });
    expect(differing(contentOf(out), both.trees[0])).toEqual([]);
  });

  it('after a first build is refused with exit 1', async () => {
    const out = path('dist');
    await published({ register: both.registers[0], out });
    const before = stateOf(out);
    const { code, stderr, stdout } = await inProcess('rollback', '--quiet', '--out', out);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('keeps no previous snapshot')]);
    expect(differing(stateOf(out), before)).toEqual([]);
  });

  it('never leads back to another format of snapshot.json, which a build goes on from', async () => {
    const out = path('dist');
    await published({ register: both.registers[0], out });
    const file = join(out, 'snapshot.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"format":4', '"format":1'));
    const { sequence } = await published({ register: both.registers[1], out, acceptRemovals: true });
    expect(sequence).toBe(2);
    expect(readFileSync(file, 'utf8')).toContain('"format":4');
    const before = stateOf(out);
    const { exitCode, message } = await failureOf(back(out));
    expect([exitCode, message]).toEqual([1, expect.stringContaining('is of format 1, expected 4')]);
    expect(differing(stateOf(out), before)).toEqual([]);
  });

  it('of a folder without a tree ends with 3', async () => {
    expect((await inProcess('rollback', '--out', path('nowhere'))).code).toBe(3);
  });

  it('after an interrupted commit leads to the snapshot before that one, in content and in what it says', async () => {
    const out = await two();
    // 1: a, 2: b, 3: a again, and interrupted.
    await interruptCommit({ register: both.registers[0], out });
    await back(out);
    const other = path('dist');
    await published({ register: both.registers[1], out: other });
    expect
      .soft(manifestOf(out))
      .toMatchObject({ sequence: 4, counts: manifestOf(other).counts, routes: manifestOf(other).routes });
    expect.soft(differing(contentOf(out), both.trees[1])).toEqual([]);
    expect.soft(await damageOf(out)).toEqual([]);
  });

  it.each([
    ['file', `files/${flat('item', 'api/v1/item/5.json')}`],
    ['index', 'index/item'],
  ])('from a kept %s that was damaged is refused, and the tree stays', async (_, name) => {
    const out = await two();
    const kept = inState(out, `previous/${name}`);
    const bytes = readFileSync(kept);
    bytes[bytes.length - 5] = (bytes[bytes.length - 5] ?? 0) ^ 1;
    rmSync(kept);
    writeFileSync(kept, bytes);
    const before = stateOf(out);
    await failureOf(back(out));
    expect(differing(stateOf(out), before)).toEqual([]);
    await expectAtRest(out);
  });

  thorough('makes the compressed siblings anew, whatever became of the kept ones', async () => {
    const out = await two();
    rmSync(inState(out, `previous/files/${flat('item', 'api/v1/item/5.json.gz')}`));
    writeFileSync(inState(out, `previous/files/${flat('item', 'api/v1/item/5.json.br')}`), 'noise');
    await back(out);
    expect(await damageOf(out)).toEqual([]);
  });

  it('from a kept file that is missing is refused, and the tree stays', async () => {
    const out = await two();
    rmSync(inState(out, `previous/files/${flat('item', 'api/v1/item/5.json')}`));
    const before = stateOf(out);
    const { exitCode } = await failureOf(back(out));
    expect([1, 3]).toContain(exitCode);
    expect(differing(stateOf(out), before)).toEqual([]);
    await expectAtRest(out);
  });

  thorough('after a repair says that the snapshot before it was damaged', async () => {
    const out = await two();
    rmSync(join(out, 'api/v1/stats.json'));
    const [, register] = both.registers;
    const { code } = await inProcess(
      'verify',
      '--repair',
      '--quiet',
      '--operator',
      OPERATOR,
      '--register',
      register,
      '--out',
      out,
    );
    expect(code).toBe(0);
    const before = stateOf(out);
    const { stderr, ...refused } = await inProcess('rollback', '--out', out);
    expect([refused.code, stderr]).toEqual([
      1,
      `error: the previous snapshot of "${out}" can't be restored: files of it were damaged before ` +
        `the repair; the published tree is what it was\n`,
    ]);
    expect(differing(stateOf(out), before)).toEqual([]);
  });
});
