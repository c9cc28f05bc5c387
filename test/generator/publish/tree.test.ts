/** Which folder is a tree, and that it has one lock and one state, however it is named. */
import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Tree } from '../../../generator/tree/tree.js';
import { published } from '../../support/build.js';
import { newFolder, temporary } from '../../support/folder.js';
import { writeFiles } from '../../support/operator.js';
import { contentOf, indexOf, snapshotOf } from '../../support/published.js';
import { changeRegister } from '../../support/register.js';
import { buildWith, failureOf, site } from '../../support/site.js';
import { inState } from '../../support/tree.js';
import { containing } from '../../support/values.js';
import { damageOf, expectTree, interruptCommit, wholeOf } from './support.js';

const path = temporary();
const SINCE = '2026-12-02T00:00:00Z';

describe('a tree that is reached through a symbolic link', () => {
  it('has the same state: a build goes on from it, and knows what is withheld', async () => {
    const { register, out } = await site(path);
    // From another folder.
    const link = join(path('links'), 'current');
    mkdirSync(dirname(link));
    symlinkSync(out, link);
    changeRegister(register, `INSERT INTO withheld VALUES ('group', 1, '${SINCE}')`);
    const { sequence, changes } = await published({ register, out: link, acceptRemovals: true });
    expect(sequence).toBe(2);
    expect(changes.unchanged).toBeGreaterThan(0);
    expect(readdirSync(dirname(link))).toEqual(['current']);
    changeRegister(register, 'DELETE FROM withheld');
    const message = containing('group 1 would be published again');
    expect(await failureOf(published({ register, out }))).toMatchObject({ exitCode: 1, message });
    expect(await damageOf(link)).toEqual([]);
  });

  it('has the same lock and state before it exists', () => {
    const folder = newFolder(path('folder'));
    const link = path('link');
    symlinkSync(folder, link);
    for (const below of ['dist', 'not/yet/dist']) {
      const { lock, state } = new Tree(join(folder, below));
      expect(new Tree(join(link, below))).toMatchObject({ lock, state });
    }
  });
});

describe('a folder with a state next to it', () => {
  it('is not ours because of that: what somebody else has put there stays', async () => {
    const { register, out } = await site(path);
    rmSync(out, { recursive: true });
    writeFiles(out, { 'index.html': 'of somebody else', 'robots.txt': 'of somebody else' });
    const before = wholeOf(out);
    const message = containing('holds no snapshot.json (found "');
    expect(await failureOf(buildWith({ register, out }))).toMatchObject({ exitCode: 3, message });
    expect(wholeOf(out)).toEqual(before);
  });

  it('is ours if it is empty or lost nothing but snapshot.json, and goes on with its number', async () => {
    const { register, out } = await site(path);
    const content = contentOf(out);
    const { id } = snapshotOf(out).tree;
    rmSync(join(out, 'snapshot.json'));
    expect(await buildWith({ register, out })).toMatchObject({ published: true });
    expect(indexOf(out)).toMatchObject({ sequence: 2, oldest: 2, changes: [{ sequence: 2 }] });
    await expectTree(out, content);
    for (const name of readdirSync(out)) rmSync(join(out, name), { recursive: true });
    await buildWith({ register, out });
    expect(snapshotOf(out)).toMatchObject({ sequence: 3, tree: { id } });
    await expectTree(out, content);
  });

  it('is refused with what to do if a first build was interrupted in it and its state is lost', async () => {
    const { register } = await site(path);
    const flags = { register, out: path('dist') };
    const { out } = flags;
    await interruptCommit(flags, 20);
    // The file system decides what is moved first.
    for (const folder of [inState(out), join(out, 'changes')])
      rmSync(folder, { recursive: true, force: true });
    const before = wholeOf(out);
    expect((await failureOf(buildWith(flags))).message).toContain(
      `expected an empty folder or a published tree: if an interrupted first build has left this, delete "${out}" ` +
        'and build again, otherwise choose another --out',
    );
    expect(wholeOf(out)).toEqual(before);
  });
});
