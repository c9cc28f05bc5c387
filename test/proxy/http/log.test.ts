import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { publish, startProxy, tree } from '../support.js';

/** The files of a signed log over HTTP. */

const LOG = 'log/efd62e2505583bf5';
const HASHES = Buffer.alloc(5 * 32, 'a tile of five hashes; ');
const CHECKPOINT = 'register.example/log\n5\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n— x y\n';

const detailOf = (text: string): string =>
  z.looseObject({ detail: z.string() }).parse(JSON.parse(text)).detail;

async function logTree(): Promise<string> {
  const root = await tree({ compressed_from: 10 });
  await publish(root, `${LOG}/checkpoint`, CHECKPOINT);
  await publish(root, `${LOG}/tile/0/000.p/5`, HASHES);
  await publish(root, `${LOG}/tile/0/x001/234`, HASHES);
  await publish(root, `${LOG}/tile/0/000.p/5.gz`, 'not a form of it');
  await publish(root, `${LOG}/index/x`, 'no route leads here');
  return root;
}

describe('the log', () => {
  it('has a checkpoint of five seconds and tiles of a year, under the limit of pages', async () => {
    const proxy = await startProxy(await logTree());
    const checkpoint = await proxy.ask(`/${LOG}/checkpoint`);
    expect([checkpoint.status, checkpoint.text]).toEqual([200, CHECKPOINT]);
    expect(checkpoint.headers['ratelimit-policy']).toMatch(/^"page";/);
    expect(checkpoint.headers.etag).toMatch(/^"\w+"$/);
    expect(checkpoint.headers).toMatchObject({
      'cache-control': 'public, max-age=5, stale-if-error=60',
      'cdn-cache-control': 'max-age=5, stale-if-error=60',
      'content-type': 'text/plain; charset=utf-8',
      'access-control-allow-origin': '*',
    });
    const tile = await proxy.ask(`/${LOG}/tile/0/000.p/5`);
    expect([tile.status, tile.text]).toEqual([200, HASHES.toString()]);
    expect(tile.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'application/octet-stream',
      'content-length': '160',
    });
    for (const { headers } of [checkpoint, tile]) {
      expect(headers).not.toHaveProperty('content-security-policy');
      expect(headers).not.toHaveProperty('vary');
    }
    expect((await proxy.ask(`/${LOG}/tile/0/x001/234`)).status).toBe(200);
  });

  it('responds to HEAD, conditions and ranges as any file', async () => {
    const proxy = await startProxy(await logTree());
    const target = `/${LOG}/tile/0/000.p/5`;
    const head = await proxy.ask(target, { method: 'HEAD' });
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', '160']);
    const same = await proxy.ask(target, { headers: { 'If-None-Match': String(head.headers.etag) } });
    expect([same.status, same.headers['cache-control']]).toEqual([
      304,
      'public, max-age=31536000, immutable',
    ]);
    const part = await proxy.ask(target, { headers: { Range: 'bytes=32-63' } });
    expect([part.status, part.text]).toEqual([206, HASHES.subarray(32, 64).toString()]);
  });

  it('has a new checkpoint within a second, though no snapshot.json comes with it', async () => {
    const proxy = await startProxy(await logTree());
    const text = async (): Promise<string> => (await proxy.ask(`/${LOG}/checkpoint`)).text;
    expect(await text()).toBe(CHECKPOINT);
    const next = CHECKPOINT.replace('5', '6');
    await publish(proxy.root, `${LOG}/checkpoint`, next);
    proxy.advance(999);
    expect(await text()).toBe(CHECKPOINT);
    proxy.advance(1);
    expect(await text()).toBe(next);
  });

  it('has no compressed forms, even if there are files of their names', async () => {
    const proxy = await startProxy(await logTree());
    const { status, headers } = await proxy.ask(`/${LOG}/tile/0/000.p/5`, {
      headers: { 'Accept-Encoding': 'br, gzip' },
    });
    expect([status, headers['content-encoding'], headers['content-length']]).toEqual([200, undefined, '160']);
  });

  it.each([
    ['a tile that is not there', 'tile/0/000', /^no tile 0\/000 in the log of tree efd62e2505583bf5$/],
    ['a folder', 'tile/0', /^no tile 0 in the log of/],
    ['a file in a file', 'tile/0/000.p/5/6', /^no tile/],
    ['a name that is too long for a file', `tile/${'0'.repeat(300)}`, /^no tile 0+ in/],
    ['as long a path as there may be', `tile/${'0/'.repeat(1_000)}0`, /^no tile/],
    ['a file that no route leads to', 'index/x', /^nothing is published at this path$/],
  ])('does not have %s', async (_name, path, detail) => {
    const proxy = await startProxy(await logTree());
    const { status, text, headers } = await proxy.ask(`/${LOG}/${path}`);
    expect(status).toBe(404);
    expect(headers['cache-control']).toBe('public, max-age=60');
    expect(detailOf(text)).toMatch(detail);
  });

  it('of another tree is not there', async () => {
    const proxy = await startProxy(await logTree());
    const { status, text } = await proxy.ask('/log/0123456789abcdef/checkpoint');
    expect(status).toBe(404);
    expect(detailOf(text)).toBe('no log of tree 0123456789abcdef');
  });
});
