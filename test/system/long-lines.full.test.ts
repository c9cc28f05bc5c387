/** The longest line that the typed client reads takes a time, and memory, that grow as it does. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { temporary } from '../support/folder.js';
import { PROJECT } from '../support/project.js';
import { sha256 } from '../support/published.js';

const path = temporary();

/** 64 MB, of the 64 MiB that a line may have. */
const LINE_BYTES = 64_000_000;
/** What a program that reads such a line may take: 1 GB, since buffers wait for the garbage collector. */
const MOST_BYTES = 1_000_000_000;
/** Linear in the length, it takes some seconds; joined again and again, many minutes: 60000 ms (= 1 minute). */
const MOST_MS = 60_000;
const PIECE = 'a text of a record, not all of it ASCII: ß. '.repeat(50_000);

const PIECES = Math.ceil(LINE_BYTES / Buffer.byteLength(PIECE));
const TEXT_BYTES = PIECES * Buffer.byteLength(PIECE);

/** Something, the long text in pieces, and something else. */
function* around(before: string, after: string): Generator<string, void, undefined> {
  yield before;
  for (let piece = 0; piece < PIECES; piece += 1) yield PIECE;
  yield after;
}

const module = (file: string): string => JSON.stringify(pathToFileURL(join(PROJECT, 'build', file)).href);

const resultShape = z.object({ found: z.unknown(), peak: z.number() });

/** Runs a script that sets `found`. @returns that, once it took no more time and memory than it may */
async function foundBy(script: string): Promise<unknown> {
  const code = `${script}
    console.log(JSON.stringify({ found, peak: 1024 * process.resourceUsage().maxRSS }));`;
  const args = ['--input-type=module', '--eval', code];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: MOST_MS });
  const { found, peak } = resultShape.parse(JSON.parse(stdout));
  expect(peak).toBeLessThan(MOST_BYTES);
  return found;
}

it('the typed client reads the lines of a bundle, one of them of 64 MB', async () => {
  const file = path('bundle.ndjson.gz');
  const digest = createHash('sha256');
  for (const piece of around('', '')) digest.update(piece);
  const step = { tree: 'a', from: 1, to: 2, from_digest: 'b', to_digest: 'c' };
  const start = `${JSON.stringify(step)}\n{"path":"/long","sha256":"${digest.digest('hex')}","body":"`;
  const lines = around(start, '"}\n{"path":"/gone","deleted":true}\n');
  await pipeline(lines, createGzip({ level: 1 }), createWriteStream(file));
  const index = {
    tree: 'a',
    sequence: 2,
    digest: 'c',
    oldest: 1,
    changes: [
      {
        sequence: 2,
        digest: 'c',
        from: 1,
        from_digest: 'b',
        bundle: { file: '/2.gz', bytes: statSync(file).size, sha256: sha256(readFileSync(file)) },
      },
    ],
  };
  const found = await foundBy(`
    import { readFileSync } from 'node:fs';
    import { changesSince } from ${module('clients/typescript/changes.js')};
    const client = {
      get: async () => (${JSON.stringify(index)}),
      fetch: async () => new Response(readFileSync(${JSON.stringify(file)})),
    };
    const found = [];
    for await (const { kind, path, body } of changesSince(client, { tree: 'a', sequence: 1, digest: 'b' }))
      found.push([kind, path ?? '', Buffer.byteLength(body ?? '')]);`);
  expect(found).toEqual([
    ['put', '/long', TEXT_BYTES],
    ['deleted', '/gone', 0],
    ['reached', '', 0],
  ]);
});
