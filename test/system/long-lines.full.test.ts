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
import * as z from 'zod';
import { PROJECT, temporary } from '../support/folder.js';
import { sha256 } from '../support/published.js';

const path = temporary();

/** 64 MB, of the 64 MiB that a line may have. */
const LINE_BYTES = 64_000_000;
/** What a program that reads such a line may take: 1 GB, since buffers wait for the garbage collector. */
const MOST_BYTES = 1_000_000_000;
/** Linear in the length, it takes some seconds; joined again and again, many minutes: 60000 ms (= 1 minute). */
const MOST_MS = 60_000;
const PIECE = 'a text of a record, not all of it ASCII: ß. '.repeat(50_000);
const PIECES = Array.from({ length: Math.ceil(LINE_BYTES / Buffer.byteLength(PIECE)) }, () => PIECE);

const module = join(PROJECT, 'build/clients/typescript/changes.js');
const printed = z.object({ found: z.unknown(), peak: z.number() });

it('the typed client reads the lines of a bundle, one of them of 64 MB', async () => {
  const file = path('bundle.ndjson.gz');
  const digest = createHash('sha256');
  for (const piece of PIECES) digest.update(piece);
  const step = { tree: 'a', from: 1, to: 2, from_digest: 'b', to_digest: 'c' };
  const start = `${JSON.stringify(step)}\n{"path":"/long","sha256":"${digest.digest('hex')}","body":"`;
  const end = '"}\n{"path":"/gone","deleted":true}\n';
  await pipeline([start, ...PIECES, end], createGzip({ level: 1 }), createWriteStream(file));
  const bundle = { file: '/2.gz', bytes: statSync(file).size, sha256: sha256(readFileSync(file)) };
  const changes = [{ sequence: 2, digest: 'c', from: 1, from_digest: 'b', bundle }];
  const index = { tree: 'a', sequence: 2, digest: 'c', oldest: 1, changes };
  const script = `
    import { readFileSync } from 'node:fs';
    import { changesSince } from ${JSON.stringify(pathToFileURL(module).href)};
    const client = {
      get: async () => (${JSON.stringify(index)}),
      fetch: async () => new Response(readFileSync(${JSON.stringify(file)})),
    };
    const found = [];
    for await (const { kind, path, body } of changesSince(client, { tree: 'a', sequence: 1, digest: 'b' }))
      found.push([kind, path ?? '', Buffer.byteLength(body ?? '')]);
    console.log(JSON.stringify({ found, peak: 1024 * process.resourceUsage().maxRSS }));`;
  const args = ['--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: MOST_MS });
  const { found, peak } = printed.parse(JSON.parse(stdout));
  expect(peak).toBeLessThan(MOST_BYTES);
  expect(found).toEqual([
    ['put', '/long', PIECES.length * Buffer.byteLength(PIECE)],
    ['deleted', '/gone', 0],
    ['reached', '', 0],
  ]);
});
