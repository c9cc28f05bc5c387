/** `rollback`: the previous snapshot again, as a new one that mirrors follow like any other. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { rollback } from '../../../generator/build/rollback.js';
import { Tree } from '../../../generator/tree/tree.js';
import { effectsAt } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import {
  contentOf,
  digestOf,
  indexOf,
  listOf,
  manifestOf,
  mirrorOf,
  stateOf,
} from '../../support/published.js';
import { Site, buildWith, copyOf, failureOf, pair } from '../../support/site.js';
import type { Pair } from '../../support/site.js';
import { differing, inState, namesThatDiffer } from '../../support/tree.js';
import { damageOf, expectAtRest, expectTouched, flat, interruptCommit } from '../publish/support.js';

const path = temporary();
let both: Pair;
beforeAll(async () => {
  both = await pair(path);
});

const back = (out: string) => rollback(new Tree(out), effectsAt('2026-12-09T00:00:00Z'));

let pristine: Site;
beforeAll(async () => {
  pristine = new Site(both.registers[1], both.tree());
  await pristine.build();
});

/** A tree of two snapshots: first of one register, then of the other. */
const two = (): string => copyOf(pristine, path).out;

const flipped = (file: string): void => {
  const bytes = readFileSync(file);
  bytes[bytes.length - 5] = (bytes[bytes.length - 5] ?? 0) ^ 1;
  rmSync(file);
  writeFileSync(file, bytes);
};

describe('a rollback', () => {
  it('publishes the previous snapshot as a new one, touches only what the last one had changed, and has a change list', async () => {
    const out = two();
    const first = manifestOf(both.tree());
    const [mirror, before] = [mirrorOf(out), stateOf(out)];
    const { id } = manifestOf(out).tree;
    const { code, stdout } = await inProcess('rollback', '--out', out);
    expect([code, stdout]).toEqual([0, expect.stringContaining('Published snapshot 3')]);
    expect(stdout).toContain('the content of snapshot 1');
    expect(differing(contentOf(out), both.trees[0])).toEqual([]);
    const changed = namesThatDiffer(...both.trees);
    expect(changed).toEqual(expect.arrayContaining(['api/v1/group/3.json', 'downloads/groups.csv.gz']));
    expectTouched(out, before, 3, changed);
    const now = manifestOf(out);
    const { built_at, service } = now;
    const tree = { ...first.tree, id };
    expect(now).toEqual({ ...first, sequence: 3, built_at, generator: now['generator'], service, tree });
    const { put, delete: gone } = listOf(out, 3);
    expect([...put.map((each) => each.path), ...gone].toSorted()).toEqual(
      namesThatDiffer(Object.fromEntries(mirrorOf(out)), Object.fromEntries(mirror)).toSorted(),
    );
    for (const { path: url, sha256 } of put) mirror.set(url, sha256);
    for (const url of gone) mirror.delete(url);
    expect(differing(Object.fromEntries(mirror), Object.fromEntries(mirrorOf(out)))).toEqual([]);
    expect(now.digest).toBe(digestOf(mirror, now.routes));
    expect(indexOf(out)).toMatchObject({ sequence: 3, oldest: 1 });
    expect(await damageOf(out)).toEqual([]);
  });

  it('leaves a tree that the next build goes on from', async () => {
    const out = two();
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

  it('after a first build is refused with 1, and of a folder without a tree with 3', async () => {
    const out = both.tree();
    const before = stateOf(out);
    const { code, stderr, stdout } = await inProcess('rollback', '--quiet', '--out', out);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('keeps no previous snapshot')]);
    expect(differing(stateOf(out), before)).toEqual([]);
    expect((await inProcess('rollback', '--out', path('nowhere'))).code).toBe(3);
  });

  it('never leads back to another format of snapshot.json, which a build goes on from', async () => {
    const out = both.tree();
    const file = join(out, 'snapshot.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"format":4', '"format":1'));
    expect(await buildWith({ register: both.registers[1], out })).toMatchObject({ sequence: 2 });
    expect(readFileSync(file, 'utf8')).toContain('"format":4');
    const before = stateOf(out);
    const { exitCode, message } = await failureOf(back(out));
    expect([exitCode, message]).toEqual([1, expect.stringContaining('is of format 1, expected 4')]);
    expect(differing(stateOf(out), before)).toEqual([]);
  });

  it('after an interrupted commit leads to the snapshot before that one, in content and in what it says', async () => {
    const out = two();
    const { counts, routes } = manifestOf(out);
    // 1: a, 2: b, 3: a again, and interrupted.
    await interruptCommit({ register: both.registers[0], out });
    await back(out);
    expect.soft(manifestOf(out)).toMatchObject({ sequence: 4, counts, routes });
    expect.soft(differing(contentOf(out), both.trees[1])).toEqual([]);
    expect.soft(await damageOf(out)).toEqual([]);
  });

  const ITEM = `files/${flat('item', 'api/v1/item/5.json')}`;
  const DAMAGES: readonly [string, string, (file: string) => void][] = [
    ['a file that was altered', ITEM, flipped],
    ['an index that was altered', 'index/item', flipped],
    ['an index that lacks a route', 'index/item', rmSync],
  ];
  it.each(DAMAGES)('from %s is refused, and the tree stays', async (_, name, damage) => {
    const out = two();
    damage(inState(out, `previous/${name}`));
    const before = stateOf(out);
    expect((await failureOf(back(out))).exitCode).toBe(1);
    expect(differing(stateOf(out), before)).toEqual([]);
    await expectAtRest(out);
  });
});
