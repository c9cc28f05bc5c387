/** File systems that answer with other errors than those of Linux: Windows, macOS, some network ones. */
import fs, { readFileSync, readdirSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { flushOne } from '../../../generator/base/files.js';
import { makePrivate } from '../../../generator/base/modes.js';
import { deleteFile, moveFile } from '../../../generator/publish/moves.js';
import { temporary } from '../../support/folder.js';
import { writeFiles } from '../../support/operator.js';
import { withFault } from './faults.js';

const path = temporary();

/** Does work in which the first call of this name fails with this error. */
async function withError(name: string, code: string, work: () => void): Promise<void> {
  let calls = 0;
  await withFault(
    (call) =>
      call.name === name && (calls += 1) === 1 ? Object.assign(new Error(code), { code }) : undefined,
    async () => work(),
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

const flushing = (code: string, place: string): Promise<void> =>
  withError('fsyncSync', code, () => flushOne(place));

it('a folder is not flushed where the system answers that it can’t be, and a file is by another descriptor', async () => {
  const root = folder('file');
  for (const code of ['EINVAL', 'EISDIR', 'EPERM']) await flushing(code, root);
  await flushing('EPERM', join(root, 'file'));
  for (const code of ['EIO', 'ENOSPC'])
    for (const place of [root, join(root, 'file')]) await expect(flushing(code, place)).rejects.toThrow(code);
});

it.each(['EISDIR', 'EPERM', 'EACCES'])('a folder in the way is replaced or deleted: %s', async (code) => {
  const root = folder('new', 'target/deep', 'other/deep', 'file');
  await withError('renameSync', code, () => moveFile(join(root, 'new'), join(root, 'target')));
  expect(readFileSync(join(root, 'target'), 'utf8')).toBe('new');
  await withError('unlinkSync', code, () => deleteFile(root, 'other'));
  await expect(withError('unlinkSync', code, () => deleteFile(root, 'file'))).rejects.toThrow(code);
  expect(readdirSync(root)).toEqual(['file', 'target']);
});

it('a folder is left open to a system without modes, and must be closed elsewhere', async () => {
  const root = folder();
  const closing = (code: string): Promise<void> => withError('chmodSync', code, () => makePrivate(root));
  for (const code of ['EPERM', 'ENOTSUP', 'ENOSYS']) await withoutModes(() => closing(code));
  await expect(closing('EPERM')).rejects.toThrow('EPERM');
  await expect(withoutModes(() => closing('EIO'))).rejects.toThrow('EIO');
});
