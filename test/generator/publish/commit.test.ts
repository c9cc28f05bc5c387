/** The commit by itself: what it flushes and waits for, and how it ends wherever it is cut off. */
import fs, {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Failure } from '../../../generator/errors.js';
import { rememberSeen, seenFile } from '../../../generator/log/record.js';
import { keepContradiction, knownLogFile, writeKnownLog } from '../../../generator/mirror/log-state.js';
import type { Progress } from '../../../generator/progress.js';
import { apply } from '../../../generator/publish/commit.js';
import type { Discard } from '../../../generator/publish/commit.js';
import { flush } from '../../../generator/publish/flush.js';
import { isPrepared, writeJournal } from '../../../generator/publish/journal.js';
import { recordCopies } from '../../../generator/publish/copied.js';
import { completeCommit } from '../../../generator/publish/recover.js';
import { stagePaths } from '../../../generator/publish/stage.js';
import { Tree } from '../../../generator/tree/tree.js';
import { quiet } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { contentOf, hashesOf, manifestOf, sha256 } from '../../support/published.js';
import { failureOf } from '../../support/site.js';
import { some } from '../../support/thorough.js';
import { inState } from '../../support/tree.js';
import { callsOf, deadFrom, lowerLayer, survive, withFault, type Call } from './faults.js';
import { LONG, publish, route } from './small.js';
import type { Version } from './small.js';

const path = temporary();

/** The open files of this process, on Linux. */
const DESCRIPTORS = '/proc/self/fd';
const hasDescriptors = existsSync(DESCRIPTORS);

/** Those of them that lie in a folder, or did before it was deleted. */
const openIn = (folder: string): string[] =>
  readdirSync(DESCRIPTORS)
    .map(targetOf)
    .filter((file) => file.startsWith(folder));

function targetOf(descriptor: string): string {
  try {
    return readlinkSync(join(DESCRIPTORS, descriptor));
  } catch {
    // The one by which they were listed is closed by now.
    return '';
  }
}

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
const TAKEDOWN: Version = { ...THIRD, withheld: { a: [3] } };

/** A tree to which versions were published, one after the other. */
async function treeOf(...versions: readonly Version[]): Promise<Tree> {
  const out = join(path('site'), 'dist');
  mkdirSync(join(out, '..'));
  for (const version of versions) await publish(out, version);
  return new Tree(out);
}

function copyOf({ out }: Tree): Tree {
  const copy = path('copy');
  cpSync(join(out, '..'), copy, { recursive: true, preserveTimestamps: true });
  return new Tree(join(copy, 'dist'));
}

/** A tree in which a commit is prepared and no more. */
async function prepared(next: Version, ...before: readonly Version[]): Promise<Tree> {
  const tree = await treeOf(...before);
  const calls = await callsOf(() => publish(copyOf(tree).out, next));
  await survive(withFault(deadFrom(journaled(calls) + 1), () => publish(tree.out, next)));
  expect(isPrepared(tree)).toBe(true);
  return tree;
}

/** The call that completes the journal. */
const journaled = (calls: readonly Call[]): number =>
  calls.find(({ name, path: file }) => name === 'renameSync' && file.endsWith('COMMIT.partial'))?.number ?? 0;

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

/** The files and folders flushed one by one, and the journal's renaming. */
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

function prepareCommit(tree: Tree, sequence: number): void {
  flush(tree.stage);
  writeJournal(tree, sequence);
}

describe('flush and writeJournal', () => {
  it.each([
    ['flushes the file system of the stage', 'test ! -e "$2/COMMIT" && test ! -e "$2/COMMIT.partial"', 1],
    ['flushes all file systems if sync does not know one', 'test $# -eq 0', 2],
  ])('%s, and only then writes the journal with the sequence', async (_, script, calls) => {
    const tree = stage();
    const { journal } = stagePaths(tree);
    const log = await withSync(script, () => prepareCommit(tree, 7));
    expect(log).toEqual([`-f ${tree.stage}`, ''].slice(0, calls));
    expect(JSON.parse(readFileSync(journal, 'utf8'))).toEqual({ sequence: 7 });
    expect(readdirSync(tree.stage)).not.toContain('COMMIT.partial');
  });

  it('fails with 3 and writes no journal if sync fails', async () => {
    const tree = stage();
    const log = await withSync('exit 1', async () => {
      const { exitCode, message } = await failureOf((async () => prepareCommit(tree, 7))());
      expect([exitCode, message]).toEqual([3, `the file system of "${tree.stage}" can't be flushed`]);
    });
    expect(log).toEqual([`-f ${tree.stage}`, '']);
    expect(isPrepared(tree)).toBe(false);
  });

  it.skipIf(!hasDescriptors)('flushes each file and folder of the stage where there is no sync', async () => {
    const tree = stage();
    const { journal } = stagePaths(tree);
    const events = await flushedBy(() => withSync(undefined, () => prepareCommit(tree, 7)));
    const all = ['', '/file', '/folder', '/folder/file'].map((file) => tree.stage + file);
    expect(events.slice(0, -4).toSorted()).toEqual(all);
    expect(events.slice(-4)).toEqual([
      `${journal}.partial`,
      `renameSync ${journal}.partial`,
      tree.stage,
      tree.state,
    ]);
    expect(openIn(tree.stage)).toEqual([]);
  });
});

describe('what must outlast a power failure', () => {
  it.each([
    ['the journal', ({ journal }: Tree) => journal, (tree: Tree) => writeJournal(tree, 7)],
    [
      'which trees are copies',
      ({ mirror }: Tree) => `${mirror}/copied.json`,
      (tree: Tree) => recordCopies(tree, []),
    ],
    ['the log of an origin', knownLogFile, (tree: Tree) => writeKnownLog(tree, [], 'a note')],
    [
      'a contradiction',
      ({ mirror }: Tree) => `${mirror}/contradiction`,
      (tree: Tree) => keepContradiction(tree, ''),
    ],
    ['the checkpoint that was verified last', seenFile, (tree: Tree) => rememberSeen(tree, 'a note')],
  ])('%s is flushed, and its folder once it is renamed', async (_, fileOf, write) => {
    if (!hasDescriptors) return;
    const tree = stage();
    const file = fileOf(tree);
    expect(await flushedBy(() => write(tree))).toEqual([
      `${file}.partial`,
      `renameSync ${file}.partial`,
      dirname(file),
      dirname(dirname(file)),
    ]);
  });

  it.skipIf(!hasDescriptors).each([
    ['a first commit', []],
    ['the next commit', [FIRST]],
  ])(
    'of %s is the journal, before the first move, and all moves, before it is deleted',
    async (_, before) => {
      const { out, stage: folder, state, journal } = await treeOf(...before);
      const moved = path('moved');
      const script = `test ! -e ${journal} || test -e ${folder}/snapshot.json || echo moved >> ${moved}`;
      const log: string[] = [];
      const events = await flushedBy(async () => {
        log.push(...(await withSync(script, () => publish(out, SECOND))));
      });
      const renamed = events.indexOf(`renameSync ${journal}.partial`);
      expect(events.slice(renamed + 1, renamed + 3)).toEqual([folder, state]);
      const moves = events.map((event) => event.startsWith(`renameSync ${folder}/`));
      expect(moves.indexOf(true)).toBe(renamed);
      expect(log).toEqual([`-f ${folder}`, `-f ${out}`]);
      expect(readFileSync(moved, 'utf8')).toBe('moved\n');
      expect(events.indexOf(`unlinkSync ${journal}`)).toBeGreaterThan(moves.lastIndexOf(true));
    },
  );
});

/** Progress that does something at each step, which may be to wait or to throw. */
function progressThat(advance: () => Promise<void> | undefined): Progress {
  return { ...quiet(), start: () => undefined, finish: () => undefined, stop: () => undefined, advance };
}

describe('apply', () => {
  it('has the parts of the old rollback data deleted meanwhile, and is done only after that', async () => {
    const tree = await prepared(THIRD, FIRST, SECOND);
    const discarded: string[] = [];
    const discard: Discard = async (folder) => {
      expect(readdirSync(folder).length).toBeGreaterThan(0);
      await sleep(50);
      // A thread may fail: what remains is deleted with the stage.
      expect(existsSync(folder)).toBe(true);
      discarded.push(folder);
      throw new Error('no thread');
    };
    await apply(tree, quiet(), discard);
    const { outdated } = stagePaths(tree);
    expect(discarded.toSorted()).toEqual([join(outdated, 'files/a'), join(outdated, 'files/b')]);
    expect(existsSync(tree.stage)).toBe(false);
  });

  it('says of a failure that the commit had begun, and leaves a defect as it is', async () => {
    const tree = await prepared(SECOND, FIRST);
    const stopped = progressThat(() => Promise.reject(Failure.environment('stopped')));
    expect((await failureOf(apply(tree, stopped))).message).toBe(
      'stopped; the commit had begun, and the next build or verify --repair completes it',
    );
    const defect = new TypeError('a defect');
    const broken = progressThat(() => Promise.reject(defect));
    await expect(apply(await prepared(SECOND, FIRST), broken)).rejects.toBe(defect);
  });

  it('moves what a file system skips while a folder is read that changes', async () => {
    const whole = contentOf((await treeOf(FIRST, SECOND)).out);
    const tree = await prepared(SECOND, FIRST);
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
      await apply(tree, quiet());
    } finally {
      Reflect.set(fs, 'opendirSync', opendirSync);
      syncBuiltinESMExports();
    }
    expect(contentOf(tree.out)).toEqual(whole);
    expect(existsSync(tree.stage)).toBe(false);
  });

  it.skipIf(!hasDescriptors)('frees the reserved space before the first move, for good', async () => {
    const tree = await prepared(SECOND, FIRST);
    const { reserve } = stagePaths(tree);
    const events = await flushedBy(() => apply(tree, quiet()));
    const freed = events.indexOf(`unlinkSync ${reserve}`);
    expect(events.slice(freed, freed + 2)).toEqual([`unlinkSync ${reserve}`, tree.stage]);
    expect(events.findIndex((event) => event.startsWith(`renameSync ${tree.stage}`))).toBeGreaterThan(
      freed + 1,
    );
    expect(openIn(tree.stage)).toEqual([]);
  });

  it('deletes the journal before the rest of the stage, which the commit needs as long as there is one', async () => {
    const tree = await prepared(SECOND, FIRST);
    const { journal, reserve } = stagePaths(tree);
    // Some of them come before the journal in the order of the folder.
    for (let count = 0; count < 20; count += 1) writeFileSync(join(tree.stage, `later-${count}`), '');
    const calls = await callsOf(() => apply(tree, quiet()));
    const deleted = calls.filter(({ name }) => name === 'unlinkSync').map(({ path: file }) => file);
    expect(deleted.slice(0, 2)).toEqual([reserve, journal]);
    expect(deleted.length).toBeGreaterThan(20);
  });

  it('completes a commit of a version whose journal had no operations', async () => {
    for (const next of [THIRD, TAKEDOWN]) {
      const tree = await prepared(next, FIRST, SECOND);
      const copy = copyOf(tree);
      await apply(tree, quiet());
      const { journal } = stagePaths(copy);
      const { sequence } = z.object({ sequence: z.int() }).parse(JSON.parse(readFileSync(journal, 'utf8')));
      writeFileSync(journal, JSON.stringify({ sequence }));
      await apply(copy, quiet());
      expect(wholeOf(copy)).toEqual(wholeOf(tree));
    }
  });
});

/** The tree and its state: what is published, the index, the rollback data, the change lists. Each tree has its id. */
function wholeOf(tree: Tree): Record<string, string> {
  const { id } = manifestOf(tree.out).tree;
  // The hash of snapshot.json, which has the id, and the one over that.
  const ofId = /(?<=^\{"sha256":"|"manifest":")[0-9a-f]{64}/g;
  const hashes = (folder: string): [string, string][] =>
    Object.keys(hashesOf(folder)).map((file) => [
      file,
      sha256(readFileSync(join(folder, file), 'latin1').replaceAll(id, 'ID').replaceAll(ofId, '')),
    ]);
  return Object.fromEntries([
    ...hashes(tree.out),
    ...hashes(inState(tree.out)).map(([file, hash]) => [`state/${file}`, hash] as const),
  ]);
}

describe.each([
  { title: 'a commit', before: [FIRST, SECOND], next: THIRD },
  { title: 'a commit that withholds', before: [FIRST, SECOND], next: TAKEDOWN },
  { title: 'a commit over a lower layer of an overlay', before: [FIRST, SECOND], next: THIRD, lowerLayer },
])('$title', ({ before, next, lowerLayer: faultOf }) => {
  it('leads to one and the same tree and state, at whatever call it was cut off', async () => {
    const old = await treeOf(...before);
    const whole = copyOf(old);
    const calls = await callsOf(() => publish(whole.out, next), faultOf?.(dirname(whole.out)));
    const expected = wholeOf(whole);
    expect(contentOf(whole.out)).toEqual(contentOf((await treeOf(next)).out));
    const begun = calls.filter(({ number }) => number > journaled(calls));
    for (const { number, name, path: file } of some(begun, 12)) {
      const tree = copyOf(old);
      const fault = faultOf?.(dirname(tree.out));
      const dead = deadFrom(number);
      await survive(
        withFault(
          (call) => dead(call) ?? fault?.(call),
          () => publish(tree.out, next),
        ),
      );
      await withFault(
        (call) => fault?.(call),
        () => completeCommit(tree, quiet()),
      );
      expect(wholeOf(tree), `dead at ${number}, ${name} ${file}`).toEqual(expected);
      expect(isPrepared(tree)).toBe(false);
    }
    expect(begun.length).toBeGreaterThan(5);
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
