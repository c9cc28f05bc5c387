/** The longest line that the typed client reads takes a time that grows as it does. */
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { changesSince } from '../../clients/typescript/changes.js';
import { RegisterClient } from '../../clients/typescript/client.js';
import { sha256 } from '../support/published.js';

/** 60 MB, of the 64 MiB that a line may have. */
const BODY = 'a text of a record, not all of it ASCII: ß. '.repeat(1_333_333);
/** Linear in the length, it takes some seconds; joined again and again, many minutes: 60000 ms (= 1 minute). */
const MOST_MS = 60_000;

it('the typed client reads the lines of a bundle, one of them of 60 MB', { timeout: MOST_MS }, async () => {
  const step = { tree: 'a', from: 1, to: 2, from_digest: 'b', to_digest: 'c' };
  const lines = [step, { path: '/long', sha256: sha256(BODY), body: BODY }, { path: '/gone', deleted: true }];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const file = gzipSync(text, { level: 1 });
  const bundle = { file: '/2.gz', bytes: file.length, sha256: sha256(file) };
  const changes = [{ sequence: 2, digest: 'c', from: 1, from_digest: 'b', bundle }];
  const index = { tree: 'a', sequence: 2, digest: 'c', oldest: 1, changes };
  const client = new RegisterClient('https://register.example', {
    fetch: async (input) =>
      new Request(input).url.endsWith('/2.gz') ? new Response(file) : Response.json(index),
  });
  const found: unknown[] = [];
  for await (const change of changesSince(client, { tree: 'a', sequence: 1, digest: 'b' }))
    found.push([change.kind, 'body' in change && change.body === BODY]);
  expect(found).toEqual([
    ['put', true],
    ['deleted', false],
    ['reached', false],
  ]);
});
