/** Folders that several threads make at the same moment. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { makeFolder } from '../../../generator/base/files.js';
import { temporary } from '../../support/folder.js';
import { PROJECT } from '../../support/project.js';

const path = temporary();

/** What each of two threads does once both are there: make folders four levels deep. */
const CODE = `
  const { parentPort, workerData: { root, folders, module, ready } } = require('node:worker_threads');
  import(module).then(({ makeFolder }) => {
    const failures = [];
    if (Atomics.add(ready, 0, 1) === 1) Atomics.notify(ready, 0);
    else Atomics.wait(ready, 0, 1);
    for (let at = 0; at < folders; at += 1) {
      try {
        makeFolder(root + '/' + at + '/b/c/d');
      } catch (error) {
        failures.push(error.code);
      }
    }
    parentPort.postMessage(failures);
  });`;

const failuresOf = async (root: string, folders: number): Promise<string[]> => {
  const ready = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const module = pathToFileURL(join(PROJECT, 'build/generator/base/files.js')).href;
  const threads = [1, 2].map(
    () =>
      new Promise<string[]>((resolve, reject) => {
        const worker = new Worker(CODE, { eval: true, workerData: { root, folders, module, ready } });
        worker.on('message', (message) => resolve(z.array(z.string()).parse(message)));
        worker.on('error', reject);
      }),
  );
  return (await Promise.all(threads)).flat();
};

it('two threads make the same folders, and neither fails', async () => {
  const root = path('folder');
  mkdirSync(root);
  expect(await failuresOf(root, 2000)).toEqual([]);
});

it('a folder is not made in the place of a file, nor where the system lets nobody make any', () => {
  const file = path('file');
  writeFileSync(file, 'content');
  expect(() => makeFolder(file)).toThrow('EEXIST');
  expect(() => makeFolder(join(file, 'folder'))).toThrow('ENOTDIR');
  expect(() => makeFolder('/proc/register/folder')).toThrow('ENOENT');
  expect(readFileSync(file, 'utf8')).toBe('content');
});
