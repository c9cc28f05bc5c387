import { describe, expect, it } from 'vitest';

import {
  problemOf,
  publish,
  publishSnapshot,
  startProxy,
  tree,
  UNLIMITED,
  type TestProxy,
} from '../support.js';

/** One that is held in memory, and one that is streamed. */
const SMALL = 'id,name\r\n7,x\r\n';
const LARGE = Array.from({ length: (1024 * 1024) / 4 }, (_, index) => `${index % 9_973}\r\n`).join('');

async function withDownload(content: string): Promise<TestProxy> {
  const root = await tree();
  await publish(root, 'downloads/groups.csv', content);
  return startProxy(root, { quotas: UNLIMITED });
}

describe.each([
  ['a file in memory', SMALL],
  ['a file that is streamed', LARGE],
])('Range on %s', (_name, content) => {
  const { length } = content;

  it('gets 206 with exactly that part', async () => {
    const { ask } = await withDownload(content);
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
      expect(part.text === content.slice(first, last + 1)).toBe(true);
      expect(part.headers).toEqual({
        ...full.headers,
        date: part.headers.date,
        'content-range': `bytes ${first}-${last}/${length}`,
        'content-length': String(last + 1 - first),
      });
    }
  });

  it('gets 416 with the size if there is nothing at that place', async () => {
    const { ask } = await withDownload(content);
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

  it('counts only beside the ETag of this content, strongly compared', async () => {
    const { ask } = await withDownload(content);
    const { headers } = await ask('/downloads/groups.csv', { method: 'HEAD' });
    const statusWith = async (ifRange: string): Promise<number> => {
      return (await ask('/downloads/groups.csv', { headers: { Range: 'bytes=0-3', 'If-Range': ifRange } }))
        .status;
    };
    expect(await statusWith(String(headers.etag))).toBe(206);
    expect(await statusWith(`W/${headers.etag}`)).toBe(200);
    expect(await statusWith('"x"')).toBe(200);
    expect(await statusWith('*')).toBe(200);
    expect(await statusWith(`${headers.etag}, ${headers.etag}`)).toBe(200);
    // No strong validator: two snapshots may be published within its second.
    expect(await statusWith(String(headers['last-modified']))).toBe(200);
  });

  it('means nothing to HEAD, after a matching If-None-Match, in a unit nobody knows, or several times', async () => {
    const { ask } = await withDownload(content);
    const { headers } = await ask('/downloads/groups.csv', {
      method: 'HEAD',
      headers: { Range: 'bytes=0-3' },
    });
    expect(headers['content-length']).toBe(String(length));
    expect(headers['content-range']).toBeUndefined();
    const unchanged = { Range: 'bytes=999999999-', 'If-None-Match': String(headers.etag) };
    expect((await ask('/downloads/groups.csv', { headers: unchanged })).status).toBe(304);
    for (const range of ['lines=0-3', 'bytes=3-0', 'bytes=0-1,3-4', ['bytes=0-1', 'bytes=3-4']]) {
      const whole = await ask('/downloads/groups.csv', { headers: { Range: range } });
      expect(whole.status).toBe(200);
      expect(whole.headers['content-length']).toBe(String(length));
    }
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

  it('works for any file, not for downloads alone', async () => {
    const { ask } = await startProxy(await tree());
    const answer = await ask('/api/v1/group/8', { headers: { Range: 'bytes=1-4' } });
    expect([answer.status, answer.text]).toEqual([206, '"id"']);
  });

  it('finds nothing in an empty file but the whole', async () => {
    const { ask } = await withDownload('');
    expect((await ask('/downloads/groups.csv', { headers: { Range: 'bytes=0-' } })).status).toBe(416);
    expect((await ask('/downloads/groups.csv', { headers: { Range: 'bytes=-1' } })).status).toBe(200);
  });
});
