/** Folders that several threads make at the same moment, files of lines, and gzip files in pieces. */
import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { LineWriter, linesOf } from '../../../generator/base/files.js';
import { GzipFile } from '../../../generator/base/gzip.js';
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

/** The file that is written in these pieces. */
function compressed(pieces: readonly Uint8Array[]): Buffer {
  const file = path('file.gz');
  const gzip = new GzipFile(file);
  for (const piece of pieces) gzip.write(piece);
  gzip.finish();
  return readFileSync(file);
}

// Exactly what is compressed at once, nothing, less and more of it, and zeros after something else.
it.each([[256 * 1024], [], [1, 150_000, 0, 300_000, 7], [256 * 1024, 300_000]])(
  'pieces of %i, … bytes are what gunzip makes whole again, and always the same bytes, without a time',
  (...sizes) => {
    const written = sizes.map((size, index) =>
      Buffer.from(Array.from({ length: size }, (_, at) => (index === 1 ? 0 : (at * 3) % 251))),
    );
    const [whole, file] = [Buffer.concat(written), compressed(written)];
    expect(gunzipSync(file).equals(whole)).toBe(true);
    expect(compressed([whole]).equals(file)).toBe(true);
    expect(file.subarray(0, 10)).toEqual(Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]));
  },
);
