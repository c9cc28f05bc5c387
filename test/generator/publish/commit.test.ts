/** The commit by itself: what it flushes and waits for, and in which order it works. */
import fs, {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { replaceFileDurably } from '../../../generator/base/files.js';
import { apply, flush } from '../../../generator/publish/commit.js';
import { isCommitting } from '../../../generator/state/published.js';
import { stagePaths } from '../../../generator/publish/stage.js';
import { State } from '../../../generator/state/state.js';
import { Tree } from '../../../generator/tree/tree.js';
import { quiet } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { contentOf, hashesOf } from '../../support/published.js';
import { failureOf } from '../../support/site.js';
import { allRows } from '../../support/state.js';
import { deadOnceCommitted, survive, withFault } from './faults.js';
import { LONG, publish, route, type Version } from './small.js';

const path = temporary();

/** The open files of this process, on Linux. */
const DESCRIPTORS = '/proc/self/fd';
const hasDescriptors = existsSync(DESCRIPTORS);

const ROUTES = [route('a', '/a/{id}', 'a/{id}.json'), route('b', '/b/{id}', 'b/{id}.json')];
const FIRST: Version = { routes: ROUTES, documents: { a: { 1: 'one', 2: LONG, 3: 'three' }, b: { 1: 'x' } } };
const SECOND: Version = {
  routes: ROUTES,
  documents: { a: { 1: 'two', 2: LONG, 3: 'three' }, b: { 1: 'y' } },
};
const THIRD: Version = {
  routes: ROUTES,
  documents: { a: { 1: 'three', 2: 'short', 4: LONG }, b: { 1: 'z' } },
};

/** A tree to which versions were published, one after the other. */
async function treeOf(...versions: readonly Version[]): Promise<Tree> {
  const out = join(path('site'), 'dist');
  mkdirSync(join(out, '..'));
  for (const version of versions) await publish(out, version);
  return new Tree(out);
}

/** A tree in which a commit has passed its point of no return, and no more. */
async function committed(next: Version, ...before: readonly Version[]): Promise<Tree> {
  const tree = await treeOf(...before);
  await survive(withFault(deadOnceCommitted(tree.out), () => publish(tree.out, next)));
  expect(isCommitting(tree)).toBe(true);
  return tree;
}

/** Carries out the commit of a tree. */
async function carryOut(tree: Tree): Promise<void> {
  using state = State.open(tree.database);
  await apply(tree, state, quiet());
}

/** A stage with two files, one of them in a folder, and a link that leads nowhere. */
function stage(): Tree {
  const tree = new Tree(join(path('site'), 'dist'));
  mkdirSync(join(tree.stage, 'folder'), { recursive: true });
  writeFileSync(join(tree.stage, 'file'), 'content');
  writeFileSync(join(tree.stage, 'folder/file'), 'content');
  symlinkSync('nowhere', join(tree.stage, 'link'));
  return tree;
}

/** Does something while `sync` is a shell script, or missing. @returns what the script logged */
async function withSync(script: string | undefined, work: (log: string) => unknown): Promise<string[]> {
  const folder = path('bin');
  const log = path('log');
  mkdirSync(folder);
  if (script !== undefined)
    writeFileSync(join(folder, 'sync'), `#!/bin/sh\necho "$*" >> ${log}\n${script}\n`);
  if (script !== undefined) chmodSync(join(folder, 'sync'), 0o755);
  const before = process.env['PATH'];
  process.env['PATH'] = folder;
  try {
    await work(log);
  } finally {
    process.env['PATH'] = before;
  }
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : [];
}

/** The files and folders flushed one by one, and what is renamed and deleted. */
async function flushedBy(work: () => unknown): Promise<string[]> {
  const events: string[] = [];
  await withFault(
    ({ name, path: file }) => {
      if (name === 'fsyncSync') events.push(readlinkSync(`${DESCRIPTORS}/${file}`));
      else if (name === 'renameSync' || name === 'unlinkSync') events.push(`${name} ${file}`);
      return undefined;
    },
    async () => void (await work()),
  );
  return events;
}

describe('flush', () => {
  it.each([
    ['flushes the file system of the stage', 'test $# -eq 2', 1],
    ['flushes all file systems if sync does not know one', 'test $# -eq 0', 2],
  ])('%s', async (_, script, calls) => {
    const tree = stage();
    const log = await withSync(script, () => flush(tree.stage));
    expect(log).toEqual([`-f ${tree.stage}`, ''].slice(0, calls));
  });

  it('fails with 3 if sync fails, and a build leaves the tree as it was', async () => {
    const { out, stage: folder } = await treeOf(FIRST);
    const before = [hashesOf(out), allRows(out)];
    const log = await withSync('exit 1', async () => {
      const { exitCode, message } = await failureOf(publish(out, SECOND));
      const expected = `the file system of "${folder}" can't be flushed`;
      expect([exitCode, message]).toEqual([3, expected]);
    });
    expect(log).toEqual([`-f ${folder}`, '']);
    expect([hashesOf(out), allRows(out)]).toEqual(before);
  });

  it.skipIf(!hasDescriptors)('flushes each file and folder of the stage where there is no sync', async () => {
    const tree = stage();
    const events = await flushedBy(() => withSync(undefined, () => flush(tree.stage)));
    const all = ['', '/file', '/folder', '/folder/file'].map((file) => tree.stage + file);
    expect(events.toSorted()).toEqual(all);
    expect(events.at(-1)).toBe(tree.stage);
  });
});

describe('what must outlast a power failure', () => {
  it.skipIf(!hasDescriptors)('is a list for operators, and its folder once it is renamed', async () => {
    const file = join(stage().state, 'list');
    expect(await flushedBy(() => replaceFileDurably(file, ''))).toEqual([
      `${file}.partial`,
      `renameSync ${file}.partial`,
      dirname(file),
      dirname(dirname(file)),
    ]);
  });

  it.each([
    ['a first commit', []],
    ['the next commit', [FIRST]],
  ])(
    'of %s is the stage, before its point of no return, and all moves, before it is over',
    async (_, before) => {
      const { out, stage: folder, state } = await treeOf(...before);
      const published = before.length === 0 ? {} : hashesOf(out);
      const copies = path('copies');
      mkdirSync(copies);
      // Keeps the tree and the state as they are at each flush.
      const script = `/bin/cp -r ${out} ${copies}/ && /bin/cp -r ${state} ${copies}/.dist-state && /bin/mv ${copies} ${copies}-\${2##*/} && /bin/mkdir ${copies}`;
      const log = await withSync(script, () => publish(out, SECOND));
      expect(log).toEqual([`-f ${folder}`, `-f ${out}`]);
      const at = (flushed: string): Tree => new Tree(join(`${copies}-${flushed}`, 'dist'));
      expect([isCommitting(at('stage')), hashesOf(at('stage').out)]).toEqual([false, published]);
      expect([isCommitting(at('dist')), hashesOf(at('dist').out)]).toEqual([true, hashesOf(out)]);
      expect(isCommitting(new Tree(out))).toBe(false);
    },
  );
});

describe('apply', () => {
  it('moves what a file system skips while a folder is read that changes', async () => {
    const whole = contentOf((await treeOf(FIRST, SECOND)).out);
    const tree = await committed(SECOND, FIRST);
    const { opendirSync } = fs;
    Reflect.set(fs, 'opendirSync', (folder: string) => {
      const found = opendirSync(folder);
      const readSync = (): unknown => {
        const entry = found.readSync();
        found.readSync();
        return entry;
      };
      return { readSync, closeSync: () => found.closeSync() };
    });
    syncBuiltinESMExports();
    try {
      await carryOut(tree);
    } finally {
      Reflect.set(fs, 'opendirSync', opendirSync);
      syncBuiltinESMExports();
    }
    expect(contentOf(tree.out)).toEqual(whole);
    expect(existsSync(tree.stage)).toBe(false);
  });

  it.skipIf(!hasDescriptors)('frees the reserved space before the first move, for good', async () => {
    const tree = await committed(SECOND, FIRST);
    const { reserve } = stagePaths(tree);
    const events = await flushedBy(() => carryOut(tree));
    const freed = events.indexOf(`unlinkSync ${reserve}`);
    expect(events.slice(freed, freed + 2)).toEqual([`unlinkSync ${reserve}`, tree.stage]);
    expect(events.findIndex((event) => event.startsWith(`renameSync ${tree.stage}`))).toBeGreaterThan(
      freed + 1,
    );
  });

  it('notes that it is done before it deletes the rest of the stage, which it needs until then', async () => {
    const tree = await committed(SECOND, FIRST);
    const { reserve } = stagePaths(tree);
    for (let count = 0; count < 20; count += 1) writeFileSync(join(tree.stage, `later-${count}`), '');
    const whileCommitting: string[] = [];
    let deleted = 0;
    await withFault(
      ({ name, path: file }) => {
        if (name !== 'unlinkSync') return undefined;
        deleted += 1;
        if (isCommitting(tree)) whileCommitting.push(file);
        return undefined;
      },
      () => carryOut(tree),
    );
    expect([whileCommitting, deleted]).toEqual([[reserve], 21]);
  });
});

it('no file is missing before any call of a commit that changes the disk, and none of the new snapshot once snapshot.json names it', async () => {
  const { out } = await treeOf(SECOND);
  const manifest = readFileSync(join(out, 'snapshot.json'));
  const before = Object.keys(hashesOf(out));
  const seen: { readonly isNew: boolean; readonly files: ReadonlySet<string> }[] = [];
  await withFault(
    () => {
      const isThere = existsSync(join(out, 'snapshot.json'));
      const isNew = isThere && !readFileSync(join(out, 'snapshot.json')).equals(manifest);
      seen.push({ isNew, files: new Set(Object.keys(hashesOf(out))) });
      return undefined;
    },
    () => publish(out, THIRD),
  );
  const after = Object.keys(hashesOf(out));
  const both = before.filter((file) => after.includes(file));
  const missing = seen.flatMap(({ isNew, files }, call) =>
    (isNew ? after : both)
      .filter((file) => !files.has(file))
      .map((file) => `${file} before call ${call + 1}`),
  );
  expect(missing).toEqual([]);
  expect(both.length).toBeGreaterThan(3);
  expect(new Set(seen.map(({ isNew }) => isNew)).size).toBe(2);
});
