/** File systems that answer with other errors than those of Linux: Windows, macOS, some network ones. */
import fs, { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { flushOne, makePrivate } from '../../../generator/files.js';
import { readKey } from '../../../generator/keys.js';
import { deleteFile, move, moveFile } from '../../../generator/publish/moves.js';
import { inProcess } from './support.js';
import { temporary } from '../../support/folder.js';
import { withFault } from './faults.js';

const path = temporary();

/** Does work in which the first call of this name fails with this error. */
async function withError(name: string, code: string, work: () => void): Promise<void> {
  let isFirst = true;
  await withFault(
    (call) => {
      if (call.name !== name || !isFirst) return undefined;
      isFirst = false;
      return Object.assign(new Error(code), { code });
    },
    async () => work(),
    ['chmodSync'],
  );
  expect(isFirst).toBe(false);
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

/** A new folder. */
function folder(): string {
  const made = path('folder');
  mkdirSync(made);
  return made;
}

/** Writes a file in a folder, which is made. */
function written(root: string, name: string): string {
  const file = join(root, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, name);
  return file;
}

describe('to flush', () => {
  it.each(['EINVAL', 'EISDIR', 'EPERM'])('a folder is left to a system that answers %s', async (code) => {
    await expect(withError('fsyncSync', code, () => flushOne(folder()))).resolves.toBeUndefined();
  });

  it('a file is opened for writing where reading is not enough', async () => {
    const file = written(folder(), 'file');
    await expect(withError('fsyncSync', 'EPERM', () => flushOne(file))).resolves.toBeUndefined();
  });

  it.each(['EIO', 'ENOSPC'])('fails with %s', async (code) => {
    const root = folder();
    for (const place of [root, written(root, 'file')])
      await expect(withError('fsyncSync', code, () => flushOne(place))).rejects.toThrow(code);
  });
});

describe.each(['EISDIR', 'EPERM', 'EACCES'])('where a folder is in the way, and the answer is %s', (code) => {
  it('puts a file in its place', async () => {
    const root = folder();
    const file = written(root, 'new');
    written(root, 'target/deep');
    await withError('renameSync', code, () => moveFile(file, join(root, 'target')));
    expect(readFileSync(join(root, 'target'), 'utf8')).toBe('new');
  });

  it('deletes the folder in place of a file', async () => {
    const root = folder();
    written(root, 'target/deep');
    await withError('unlinkSync', code, () => deleteFile(root, 'target'));
    expect(existsSync(join(root, 'target'))).toBe(false);
  });

  it('keeps a file that cannot be deleted', async () => {
    const root = folder();
    const file = written(root, 'file');
    await expect(withError('unlinkSync', code, () => deleteFile(root, 'file'))).rejects.toThrow(code);
    expect(existsSync(file)).toBe(true);
  });
});

it.each(['ENOTEMPTY', 'EEXIST', 'EPERM', 'EACCES'])(
  'files join those of a folder that is there, where the answer is %s',
  async (code) => {
    const root = folder();
    written(root, 'from/kind/1.json');
    written(root, 'to/kind/2.json');
    await withError('renameSync', code, () => {
      for (const _ of move(join(root, 'from'), join(root, 'to')));
    });
    expect(readdirSync(join(root, 'to/kind'))).toEqual(['1.json', '2.json']);
    expect(existsSync(join(root, 'from'))).toBe(false);
  },
);

it('a folder that can’t be moved where nothing is in the way says why', async () => {
  const root = folder();
  written(root, 'from/kind/1.json');
  mkdirSync(join(root, 'to'));
  const moving = withError('renameSync', 'EACCES', () => {
    for (const _ of move(join(root, 'from'), join(root, 'to')));
  });
  await expect(moving).rejects.toThrow('EACCES');
});

it('a link in the place of a folder is replaced, and nothing is written where it leads', () => {
  const [root, elsewhere] = [folder(), folder()];
  written(root, 'from/kind/1.json');
  mkdirSync(join(root, 'to'));
  symlinkSync(elsewhere, join(root, 'to/kind'));
  for (const _ of move(join(root, 'from'), join(root, 'to')));
  expect(readdirSync(join(root, 'to/kind'))).toEqual(['1.json']);
  expect(readdirSync(elsewhere)).toEqual([]);
});

describe('without modes', () => {
  it.each(['EPERM', 'ENOTSUP', 'ENOSYS'])(
    'a folder is left open to a system that answers %s',
    async (code) => {
      const root = folder();
      await withoutModes(() => withError('chmodSync', code, () => makePrivate(root)));
      expect(readdirSync(root)).toEqual([]);
    },
  );

  it('a key is used, with a warning', async () => {
    const key = join(folder(), 'log.key');
    const { stderr } = await withoutModes(() =>
      inProcess('keygen', '--name', 'register.example/log', '--write', key),
    );
    expect(stderr).toBe(`warning: key "${key}" can be read by others: its file system keeps no modes\n`);
    expect(await withoutModes(() => readKey(key).isOpen)).toBe(true);
    expect(readKey(key).isOpen).toBe(false);
    expect(readdirSync(dirname(key)).toSorted()).toEqual(['log.key', 'log.key.last', 'log.key.pub']);
  });
});

describe('where modes are kept', () => {
  it.each(['EPERM', 'EIO'])('a folder that can’t be closed to others fails with %s', async (code) => {
    const root = folder();
    await expect(withError('chmodSync', code, () => makePrivate(root))).rejects.toThrow(code);
  });
});
