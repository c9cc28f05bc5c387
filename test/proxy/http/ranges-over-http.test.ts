import { describe, expect, it } from 'vitest';

import { problemOf, publish, publishSnapshot, serving, UNLIMITED, type TestProxy } from '../support.js';

/** One that is streamed: the contract is about those in memory. */
const LARGE = Array.from({ length: (1024 * 1024) / 4 }, (_, index) => `${index % 9_973}\r\n`).join('');
const { length } = LARGE;

const withDownload = (content: string): Promise<TestProxy> =>
  serving({ 'downloads/groups.csv': content }, { quotas: UNLIMITED });

describe('Range on a file that is streamed', () => {
  it('gets 206 with exactly that part', async () => {
    const { ask } = await withDownload(LARGE);
    const full = await ask('/downloads/groups.csv');
    expect(full.headers['accept-ranges']).toBe('bytes');
    for (const [range, first, last] of [
      ['bytes=0-0', 0, 0],
      ['bytes=3-6', 3, 6],
      ['bytes=5-', 5, length - 1],
      ['bytes=-4', length - 4, length - 1],
      [`bytes=0-${length}`, 0, length - 1],
    ] as const) {
      const part = await ask('/downloads/groups.csv', { headers: { Range: range } });
      expect(part.status).toBe(206);
      expect(part.text === LARGE.slice(first, last + 1)).toBe(true);
      expect(part.headers).toEqual({
        ...full.headers,
        date: part.headers.date,
        'content-range': `bytes ${first}-${last}/${length}`,
        'content-length': String(last + 1 - first),
      });
    }
  });

  it('gets 416 with the size if there is nothing at that place', async () => {
    const { ask } = await withDownload(LARGE);
    const answer = await ask('/downloads/groups.csv', { headers: { Range: `bytes=${length}-` } });
    expect(answer.status).toBe(416);
    expect(answer.headers['content-range']).toBe(`bytes */${length}`);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers.ratelimit).toBe('"api";r=999999;t=1');
    expect(problemOf(answer)).toMatchObject({
      status: 416,
      error: 'range_not_satisfiable',
      detail: `range "bytes=${length}-": expected one that starts within the ${length} bytes of the file`,
    });
  });
});

describe('Range', () => {
  it('resumes a download to the same bytes, and starts anew when another one was published', async () => {
    const { ask, root, look } = await withDownload(LARGE);
    const begun = await ask('/downloads/groups.csv', { headers: { Range: 'bytes=0-99999' } });
    const rest = { Range: 'bytes=100000-', 'If-Range': String(begun.headers.etag) };
    const resumed = await ask('/downloads/groups.csv', { headers: rest });
    expect(begun.text + resumed.text === LARGE).toBe(true);
    await publish(root, 'downloads/groups.csv', `${LARGE}8,y\r\n`);
    await publishSnapshot(root, { sequence: 4 });
    await look();
    const anew = await ask('/downloads/groups.csv', { headers: rest });
    expect(anew.status).toBe(200);
    expect(anew.text === `${LARGE}8,y\r\n`).toBe(true);
  });

  it('finds nothing in an empty file but the whole', async () => {
    const { ask } = await withDownload('');
    expect((await ask('/downloads/groups.csv', { headers: { Range: 'bytes=0-' } })).status).toBe(416);
    expect((await ask('/downloads/groups.csv', { headers: { Range: 'bytes=-1' } })).status).toBe(200);
  });
});
