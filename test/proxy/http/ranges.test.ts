import { assert as check, constantFrom, integer, nat, oneof, property, string, tuple } from 'fast-check';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { parseRange } from '../../../proxy/http/conditions.js';
import { sha256 } from '../../support/published.js';
import {
  opened,
  openFiles,
  problemOf,
  publish,
  publishSnapshot,
  serving,
  snapshotJson,
  UNLIMITED,
} from '../support.js';

const SIZE = 1_000;
const HUGE = '18446744073709551616';

/** Whether what is read of a field, if anything, is within the file. */
function isWithin(text: string, size: number): boolean {
  const range = parseRange(text, size);
  if (range === undefined || range === 'unsatisfiable') return true;
  const { first, last } = range;
  return Number.isInteger(first) && Number.isInteger(last) && first >= 0 && first <= last && last < size;
}

describe('parseRange', () => {
  it('takes other units, several ranges and what is malformed for the whole', () => {
    const fields =
      'items=0-4|0-4|bytes=-|bytes=|bytes=5-4|bytes=a-b|bytes=+1-4|bytes=0x1-0x4|bytes=1.0-4|bytes=1 -4|bytes =0-4|' +
      'kilobytes=0-4|bytes=0-4x|bytes=x0-4|bytes=0-x4|bytes=0-4,10-14|bytes=0-4,x';
    for (const field of [...fields.split('|'), `bytes=0-${',5-'.repeat(5_000)}`])
      expect(parseRange(field, SIZE), field.slice(0, 50)).toBeUndefined();
  });

  it('names a part within the file, whatever the field says', () => {
    const position = oneof(nat(2_000).map(String), constantFrom('', '00', HUGE, '-1', 'x'));
    const field = oneof(
      tuple(position, position).map(([first, last]) => `bytes=${first}-${last}`),
      string({ maxLength: 20 }).map((text) => `bytes=${text}`),
    );
    const anySize = integer({ min: 0, max: 1_500 });
    expect(() => check(property(field, anySize, isWithin), { numRuns: 2_000 })).not.toThrow();
  });
});

/** A file that is streamed: the contract is about those in memory. */
const LARGE = Array.from({ length: (1024 * 1024) / 4 }, (_, index) => `${index % 9_973}\r\n`).join('');
const { length } = LARGE;
const CSV = '/downloads/groups.csv';

describe('Range on a file that is streamed', () => {
  it('gets 206 with exactly that part, and 416 with the size if there is nothing', async () => {
    const { ask, root } = await serving({ 'downloads/groups.csv': LARGE }, { tokens: UNLIMITED });
    for (const [range, first, last] of [
      ['bytes=3-6', 3, 6],
      ['bytes=5-', 5, length - 1],
      ['bytes=-4', length - 4, length - 1],
    ] as const) {
      const part = await ask(CSV, { headers: { Range: range } });
      expect([part.status, part.text === LARGE.slice(first, last + 1)]).toEqual([206, true]);
      expect(part.headers['content-range']).toBe(`bytes ${first}-${last}/${length}`);
    }
    // And each time, the file was closed.
    await expect.poll(() => openFiles(root)).toEqual([]);
    const answer = await ask(CSV, { headers: { Range: `bytes=${length}-` } });
    expect([answer.status, answer.headers['content-range']]).toEqual([416, `bytes */${length}`]);
    expect(problemOf(answer).detail).toBe(
      `range "bytes=${length}-": expected one that starts within the ${length} bytes of the file`,
    );
  });

  it('resumes a download to the same bytes, and gets all of another one that was published', async () => {
    const content = Buffer.from(LARGE);
    const file = { file: '/downloads/groups.csv', bytes: content.length, sha256: sha256(content) };
    const { ask, root, look } = await serving(
      {
        'downloads/groups.csv': content,
        'snapshot.json': JSON.stringify(snapshotJson({ downloads: { files: [file] } })),
      },
      { tokens: UNLIMITED },
    );
    const begun = await ask(CSV, { headers: { Range: 'bytes=0-99999' } });
    const rest = { headers: { Range: 'bytes=100000-', 'If-Range': String(begun.headers.etag) } };
    expect(begun.text + (await ask(CSV, rest)).text === LARGE).toBe(true);
    await publish(root, 'downloads/groups.csv', `${LARGE}8,y\r\n`);
    await publishSnapshot(root, { sequence: 4 });
    look();
    const next = await ask(CSV, rest);
    expect([next.status, next.text === `${LARGE}8,y\r\n`]).toEqual([200, true]);
    // Its digest is not published, so no part of it is known to be of the same state.
    const weak = { Range: 'bytes=100000-', 'If-Range': String(next.headers.etag) };
    expect((await ask(CSV, { headers: weak })).status).toBe(200);
  });
});

it('a download that is replaced after its headers were made is that of another response, and none stays open', async () => {
  const { ask, root } = await serving({ 'downloads/groups.csv': LARGE }, { tokens: UNLIMITED });
  const next = join(root, 'downloads/next.csv');
  await publish(root, 'downloads/next.csv', `${LARGE}8,y\r\n`);
  let openings = 0;
  // It is opened for the headers, and again for the content.
  opened(root, (path) => {
    openings += 1;
    if (openings === 2) renameSync(next, join(root, path));
  });
  expect((await ask(CSV)).text === `${LARGE}8,y\r\n`).toBe(true);
  await expect.poll(() => openFiles(root)).toEqual([]);
  expect(openings).toBe(4);
});
