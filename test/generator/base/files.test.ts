/** Folders that several threads make at the same moment, and files of lines. */
import { once } from 'node:events';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { LineWriter, linesOf } from '../../../generator/base/files.js';
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

it('two threads make the same folders, and neither fails', async () => {
  const ready = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const module = pathToFileURL(join(PROJECT, 'build/generator/base/files.js')).href;
  const workerData = { root: path('folder'), folders: 2000, module, ready };
  mkdirSync(workerData.root);
  const workers = [1, 2].map(() => new Worker(CODE, { eval: true, workerData }));
  for (const failures of await Promise.all(workers.map((worker) => once(worker, 'message'))))
    expect(failures).toEqual([[]]);
});

it('long lines are written long before the last one, and read as they were, with letters on both sides of a chunk', () => {
  const file = path('lines');
  const lines = Array.from({ length: 5 }, (_, index) => `${index}${'é'.repeat(300_000)}`);
  const writer = new LineWriter(file);
  for (const line of lines) writer.write(line);
  expect(statSync(file).size).toBeGreaterThan(1024 * 1024);
  writer.end();
  const read = [...linesOf(file)];
  expect(read.map((line, index) => line === lines[index])).toEqual(lines.map(() => true));
});
