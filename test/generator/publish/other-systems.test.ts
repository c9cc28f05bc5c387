/** File systems that answer with other errors than those of Linux: Windows, macOS, some network ones. */
import fs, { existsSync, readFileSync, readdirSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { flushOne } from '../../../generator/base/files.js';
import { makePrivate } from '../../../generator/base/modes.js';
import { deleteFile, move, moveFile } from '../../../generator/publish/moves.js';
import { temporary } from '../../support/folder.js';
import { writeFiles } from '../../support/operator.js';
import { hashesOf } from '../../support/published.js';
import { withFault } from './faults.js';

const path = temporary();

/** Does work in which the first call of this name fails with this error. */
async function withError(name: string, code: string, work: () => void): Promise<void> {
  let calls = 0;
  await withFault(
    (call) =>
      call.name === name && (calls += 1) === 1 ? Object.assign(new Error(code), { code }) : undefined,
    async () => work(),
    ['chmodSync'],
  );
  expect(calls).toBeGreaterThan(0);
}

/** Does work on a file system that keeps no modes: others may read everything. */
async function withoutModes<T>(work: () => T | Promise<T>): Promise<T> {
  const { statSync: original } = fs;
  Reflect.set(fs, 'statSync', (...args: Parameters<typeof original>) => {
    const found = Reflect.apply(original, fs, args);
    if (found !== undefined) found.mode = Number(found.mode) | 0o055;
    return found;
  });
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    Reflect.set(fs, 'statSync', original);
    syncBuiltinESMExports();
  }
}

/** A new folder with these files, each of which holds its name. */
function folder(...files: readonly string[]): string {
  const made = path('folder');
  writeFiles(made, Object.fromEntries(files.map((file) => [file, file])));
  return made;
}

describe('to flush', () => {
  it.each(['EINVAL', 'EISDIR', 'EPERM'])('a folder is left to a system that answers %s', async (code) => {
    await expect(withError('fsyncSync', code, () => flushOne(folder()))).resolves.toBeUndefined();
  });

  it('a file is opened for writing where reading is not enough', async () => {
    const file = join(folder('file'), 'file');
    await expect(withError('fsyncSync', 'EPERM', () => flushOne(file))).resolves.toBeUndefined();
  });

  it.each(['EIO', 'ENOSPC'])('fails with %s', async (code) => {
    const root = folder('file');
    for (const place of [root, join(root, 'file')])
      await expect(withError('fsyncSync', code, () => flushOne(place))).rejects.toThrow(code);
  });
});

describe.each(['EISDIR', 'EPERM', 'EACCES'])('where the answer is %s', (code) => {
  it('a folder in the way is replaced by a file, or deleted in place of one', async () => {
    const root = folder('new', 'target/deep', 'other/deep');
    await withError('renameSync', code, () => moveFile(join(root, 'new'), join(root, 'target')));
    expect(readFileSync(join(root, 'target'), 'utf8')).toBe('new');
    await withError('unlinkSync', code, () => deleteFile(root, 'other'));
    expect(readdirSync(root)).toEqual(['target']);
  });

  it('a file that cannot be deleted stays', async () => {
    const root = folder('file');
    await expect(withError('unlinkSync', code, () => deleteFile(root, 'file'))).rejects.toThrow(code);
    expect(existsSync(join(root, 'file'))).toBe(true);
  });
});

function moveAll(root: string): void {
  for (const _ of move(join(root, 'from'), join(root, 'to')));
}

it.each(['ENOTEMPTY', 'EEXIST', 'EPERM', 'EACCES', 'EXDEV'])(
  'files join those of a folder that is there, where the answer is %s',
  async (code) => {
    const root = folder('from/kind/1.json', 'to/kind/2.json');
    await withError('renameSync', code, () => moveAll(root));
    expect(readdirSync(join(root, 'to/kind'))).toEqual(['1.json', '2.json']);
    expect(existsSync(join(root, 'from'))).toBe(false);
  },
);

it('a folder that can’t be renamed (EXDEV) is made where there is none or a file, and its files are moved', async () => {
  for (const inTheWay of ['to/other', 'to/kind']) {
    const root = folder('from/kind/1.json', 'from/kind/deep/2.json', inTheWay);
    await withError('renameSync', 'EXDEV', () => moveAll(root));
    expect(Object.keys(hashesOf(join(root, 'to/kind'))).toSorted()).toEqual(['1.json', 'deep/2.json']);
    expect(existsSync(join(root, 'from'))).toBe(false);
  }
});

it('a folder is left open to a system without modes, and must be closed elsewhere', async () => {
  const root = folder();
  const closing = (code: string): Promise<void> => withError('chmodSync', code, () => makePrivate(root));
  for (const code of ['EPERM', 'ENOTSUP', 'ENOSYS']) await withoutModes(() => closing(code));
  await expect(closing('EPERM')).rejects.toThrow('EPERM');
  await expect(withoutModes(() => closing('EIO'))).rejects.toThrow('EIO');
});
