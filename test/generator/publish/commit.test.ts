/** The commit by itself: what it flushes, in which order it works, and where it puts files that somebody is in the way of. */
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { flush } from '../../../generator/publish/commit.js';
import { deleteFolder } from '../../../generator/publish/moves.js';
import { writeFiles } from '../../support/operator.js';
import { changeRegister } from '../../support/register.js';
import { pair, buildWith, failureOf } from '../../support/site.js';
import { always, some } from '../../support/thorough.js';
import { flushing } from '../../support/without-sync.js';
import { differing, inState } from '../../support/tree.js';
import { withFault, type Call } from './faults.js';
import { newFolder, temporary } from '../../support/folder.js';
import { contentOf, hashesOf, stateOf } from '../../support/published.js';
import { expectTree, expectAtRest, interruptCommit, isCommitting, leftovers } from './support.js';

const path = temporary();
flushing();
const both = await pair(path);

/** Does something while `sync` is a shell script, or missing. @returns what the script logged */
async function withSync(script: string | undefined, work: () => unknown): Promise<string[]> {
  const folder = newFolder(path('bin'));
  const log = path('log');
  const content = `#!/bin/sh\necho "$*" >> ${log}\n${script}\n`;
  if (script !== undefined) writeFileSync(join(folder, 'sync'), content, { mode: 0o755 });
  vi.stubEnv('PATH', folder);
  await Promise.resolve(work()).finally(() => vi.unstubAllEnvs());
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : [];
}

describe('flush', () => {
  it('is of the file system of the stage, or of all if sync does not know one', async () => {
    expect(await withSync('test $# -eq 2', () => flush('/a/stage'))).toEqual(['-f /a/stage']);
    expect(await withSync('test $# -eq 0', () => flush('/a/stage'))).toEqual(['-f /a/stage', '']);
  });

  it('is of each file and folder where there is no sync', async () => {
    const stage = path('stage');
    mkdirSync(join(stage, 'folder'), { recursive: true });
    for (const file of ['file', 'folder/file']) writeFileSync(join(stage, file), '');
    symlinkSync('nowhere', join(stage, 'link'));
    let flushed = 0;
    const count = ({ name }: Call) => void (flushed += Number(name === 'fsyncSync'));
    await withFault(count, () => withSync(undefined, () => flush(stage)));
    expect(flushed).toBe(4);
  });

  it('that fails ends a build with 3 and leaves the tree as it was', async () => {
    const out = both.tree();
    const before = stateOf(out);
    await withSync('exit 1', async () => {
      expect(await failureOf(buildWith({ register: both.registers[1], out }))).toMatchObject({
        exitCode: 3,
        message: `the file system of "${inState(out, 'stage')}" can't be flushed; the published tree is what it was`,
      });
    });
    expect(differing(stateOf(out), before)).toEqual([]);
    await expectAtRest(out);
  });
});

it('a stage is deleted with all that is in it, or as far as there is time', () => {
  const stage = path('stage');
  writeFiles(stage, { 'a/b/c': '', 'a/d': '', 'e/f': '', g: '' });
  deleteFolder(stage, 0);
  expect(['a/b/c', 'a/d', 'e/f', 'g'].filter((file) => existsSync(join(stage, file)))).toHaveLength(4);
  deleteFolder(stage);
  expect(existsSync(stage)).toBe(false);
});

it('a power failure keeps the whole stage once the commit has begun, and all moves once it is over', async () => {
  const out = both.tree();
  const [published, copies] = [hashesOf(out), path('copies')];
  mkdirSync(copies);
  // Keeps the tree and the state as they are at each flush.
  const script = `/bin/mkdir ${copies}/\${2##*/}; /bin/cp -r ${out} ${inState(out)} ${copies}/\${2##*/}`;
  const log = await withSync(script, () => buildWith({ register: both.registers[1], out }));
  expect(log).toEqual([`-f ${inState(out, 'stage')}`, `-f ${out}`]);
  const name = out.slice(out.lastIndexOf('/') + 1);
  const [before, after] = [join(copies, 'stage', name), join(copies, name, name)];
  expect([isCommitting(before), hashesOf(before)]).toEqual([false, published]);
  expect([isCommitting(after), hashesOf(after)]).toEqual([true, hashesOf(out)]);
  // The name of the commit is on the disk before anything is moved.
  const flushed: string[] = [];
  await withFault(
    ({ name: call, path: file }) => {
      if (call === 'fsyncSync' || (call === 'renameSync' && /state\/(stage|commit\/tree)/.test(file)))
        flushed.push(call === 'fsyncSync' ? call : file.slice(file.lastIndexOf('state/')));
      return undefined;
    },
    () => buildWith({ register: both.registers[0], out }),
  );
  const sealed = flushed.indexOf('state/stage');
  expect(flushed.slice(sealed, sealed + 2)).toEqual(['state/stage', 'fsyncSync']);
});

/** Whether a server, which takes a sibling of the millisecond of its document for that, sends what is of that. */
function isOfItsDocument(out: string, sibling: string): boolean {
  const [file, document] = [join(out, sibling), join(out, sibling.replace(/\.(gz|br)$/, ''))];
  if (!existsSync(file)) return true;
  const [own, other] = [file, document].map((each) => Math.trunc(statSync(each).mtimeMs));
  const decode = file.endsWith('.br') ? brotliDecompressSync : gunzipSync;
  return own !== other || decode(readFileSync(file)).equals(readFileSync(document));
}

it('no file is missing or half another before any call of a commit, and all are new once snapshot.json is', async () => {
  const out = both.tree();
  const manifest = readFileSync(join(out, 'snapshot.json'));
  const before = Object.keys(hashesOf(out));
  const moments: { readonly isNew: boolean; readonly missing: readonly string[] }[] = [];
  const after = Object.keys(both.trees[1]);
  const siblings = [5, 8].flatMap((id) => [`api/v1/item/${id}.json.gz`, `api/v1/item/${id}.json.br`]);
  // Or nothing would be looked at.
  expect(before).toEqual(expect.arrayContaining(siblings));
  expect(after).toEqual(expect.arrayContaining(siblings.slice(0, 2)));
  const lasting = before.filter((file) => after.includes(file));
  await withFault(
    () => {
      if (!isCommitting(out)) return undefined;
      const isNew = !readFileSync(join(out, 'snapshot.json')).equals(manifest);
      const missing = (isNew ? after : lasting).filter((file) => !existsSync(join(out, file)));
      moments.push({
        isNew,
        missing: [...missing, ...siblings.filter((file) => !isOfItsDocument(out, file))],
      });
      return undefined;
    },
    // A build has a time of its own.
    () => buildWith({ register: both.registers[1], out, at: '2026-12-02T00:00:00Z' }),
  );
  expect(moments.flatMap(({ missing }) => missing)).toEqual([]);
  expect(new Set(moments.map(({ isNew }) => isNew)).size).toBe(2);
});

it('an interrupted commit is completed although the register can be published no more, or the tree is gone', async () => {
  const out = both.tree();
  await interruptCommit({ register: both.registers[1], out });
  const broken = path('broken.sqlite');
  copyFileSync(both.registers[1], broken);
  changeRegister(broken, 'PRAGMA user_version = 9');
  expect((await failureOf(buildWith({ register: broken, out }))).message).not.toContain('is what it was');
  expect(differing(contentOf(out), both.trees[1])).toEqual([]);
  await interruptCommit({ register: both.registers[0], out });
  rmSync(out, { recursive: true });
  await buildWith({ register: both.registers[0], out });
  await expectTree(out, both.trees[0]);
});

it('a commit that was begun on another tree is not gone on with: where the tree was lost, or restored', async () => {
  const [first, out, copy] = [path('first'), both.tree(), path('copy')];
  await interruptCommit({ register: both.registers[0], out: first });
  rmSync(first, { recursive: true });
  await buildWith({ register: both.registers[0], out: first });
  await expectTree(first, both.trees[0]);
  cpSync(out, copy, { recursive: true, preserveTimestamps: true });
  await interruptCommit({ register: both.registers[1], out });
  rmSync(out, { recursive: true });
  renameSync(copy, out);
  await buildWith({ register: both.registers[1], out });
  expect(differing(contentOf(out), both.trees[1])).toEqual([]);
  await expectAtRest(out);
});

it('files are copied into a folder that another file system is mounted on', async () => {
  const out = both.tree();
  await withFault(
    ({ name, path: file }) =>
      name === 'renameSync' && /commit\/tree\/(downloads|group)/.test(file)
        ? Object.assign(new Error('EXDEV'), { code: 'EXDEV' })
        : undefined,
    () => buildWith({ register: both.registers[1], out }),
  );
  expect(differing(contentOf(out), both.trees[1])).toEqual([]);
  await expectAtRest(out);
});

const HISTORY = 'group/6/history.json';
const SPOILED: readonly (readonly [what: string, place: string, left: 'file' | 'folder' | undefined])[] = [
  ['a file is in the place of its folder', 'group/6', 'file'],
  ['the folder of all like it is gone', 'group', undefined],
  ['a folder is in its place', HISTORY, 'folder'],
];

always.each(some(SPOILED, 1))('a document that changes is published, though %s', async (_, spoiled, left) => {
  const flags = { register: both.registers[1], out: both.tree() };
  const { out } = flags;
  // One of them comes within the commit.
  if (left === 'file') await interruptCommit(flags, 1);
  rmSync(join(out, spoiled), { recursive: true, force: true });
  if (left === 'file') writeFileSync(join(out, spoiled), 'in the way');
  if (left === 'folder') mkdirSync(join(out, spoiled, 'in the way'), { recursive: true });
  await buildWith(flags);
  const found = contentOf(out);
  for (const file of [HISTORY, 'api/v1/group/6.json']) expect(found[file]).toBe(both.trees[1][file]);
  expect(leftovers(out)).toEqual([]);
});
