import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';

import { publish, publishSnapshot, startProxy, tree, UNLIMITED, type TestProxy } from '../support.js';

/** Files up to this size are held in memory. 1 MiB. */
const HELD_MAX_BYTES = 1024 * 1024;

const FROM = 1_000;
const LONG = JSON.stringify({ id: 7, members: Array.from({ length: 300 }, (_, index) => index * 31) });
/** At a low effort, since most of what is compressed here is large. */
const brotli = (content: string | Buffer): Buffer =>
  brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
const TARGET = '/api/v1/group/7';
const FILE = 'api/v1/group/7.json';

async function publishCompressed(root: string, file: string, content: string): Promise<void> {
  await publish(root, file, content);
  await publish(root, `${file}.br`, brotli(content));
  await publish(root, `${file}.gz`, gzipSync(content));
}

async function compressedTree(content = LONG): Promise<string> {
  const root = await tree({ compressed_from: FROM });
  await publishCompressed(root, FILE, content);
  return root;
}

const bodyOf = async ({ ask }: TestProxy, headers: Record<string, string>): Promise<Buffer> =>
  (await ask(TARGET, { headers })).body;

const accepting = (coding: string): { headers: Record<string, string> } => ({
  headers: { 'Accept-Encoding': coding },
});

describe('Accept-Encoding', () => {
  it('varies exactly the files of that size, and no download', async () => {
    const root = await compressedTree();
    await publishCompressed(root, 'downloads/groups.csv', LONG);
    await publishCompressed(root, 'api/v1/group/8.json', 'x'.repeat(FROM));
    await publishCompressed(root, 'group/7/history.json', 'x'.repeat(FROM - 1));
    const { ask } = await startProxy(root);
    const { headers } = await ask('/api/v1/group/8', accepting('br'));
    expect(headers).toMatchObject({ vary: 'Accept-Encoding', 'content-encoding': 'br' });
    for (const target of ['/group/7/history.json', '/downloads/groups.csv'])
      expect((await ask(target, accepting('br'))).names.join()).not.toMatch(/Vary|Content-Encoding/);
    // Nor any of a tree that compresses nothing.
    const { ask: askPlain } = await startProxy(await tree());
    expect((await askPlain(TARGET, accepting('br'))).headers.vary).toBeUndefined();
  });

  it('has conditions and ranges apply to the form that would be sent', async () => {
    const proxy = await startProxy(await compressedTree());
    const { ask } = proxy;
    const etags = { br: '', gzip: '', identity: '' };
    for (const coding of ['br', 'gzip', 'identity'] as const) {
      etags[coding] = String((await ask(TARGET, accepting(coding))).headers.etag);
    }
    const accepted = (conditions: Record<string, string>) =>
      ask(TARGET, { headers: { 'Accept-Encoding': 'br', ...conditions } });
    const { status, headers } = await accepted({ 'If-None-Match': etags.br });
    expect([status, headers.vary, headers.etag]).toEqual([304, 'Accept-Encoding', etags.br]);
    expect(headers['content-encoding']).toBeUndefined();
    for (const other of [etags.gzip, etags.identity]) {
      const conditions = [{ 'If-None-Match': other }, { 'If-Match': other }, { 'If-Range': other }];
      const answers = await Promise.all(
        conditions.map((condition) => accepted({ Range: 'bytes=0-3', ...condition })),
      );
      expect(answers.map(({ status }) => status)).toEqual([206, 412, 200]);
    }
    const whole = await bodyOf(proxy, { 'Accept-Encoding': 'br' });
    const part = { 'Accept-Encoding': 'br', Range: 'bytes=10-19', 'If-Range': etags.br };
    expect((await ask(TARGET, { headers: part })).headers).toMatchObject({
      'content-range': `bytes 10-19/${whole.length}`,
      'content-encoding': 'br',
      etag: etags.br,
      vary: 'Accept-Encoding',
    });
    expect(await bodyOf(proxy, part)).toEqual(whole.subarray(10, 20));
  });
});

describe('A compressed sibling', () => {
  it.each([
    ['is missing', async (root: string) => rm(join(root, `${FILE}.br`))],
    ['is of another version', async (root: string) => publish(root, `${FILE}.br`, brotli(`${LONG} `))],
  ])('that %s gives way to the next best', async (_name, spoil) => {
    const root = await compressedTree();
    await spoil(root);
    const { ask } = await startProxy(root);
    expect((await ask(TARGET, accepting('br, gzip'))).headers['content-encoding']).toBe('gzip');
    const answer = await ask(TARGET, accepting('br'));
    expect([answer.text, answer.headers.vary]).toEqual([LONG, 'Accept-Encoding']);
  });

  it('of an older or newer version than the file is never sent under its ETag, at any moment of a commit', async () => {
    const root = await compressedTree();
    const proxy = await startProxy(root, { quotas: UNLIMITED });
    const bodies = new Map<string, string>();
    const look = async (): Promise<void> => {
      const plain = await proxy.ask(TARGET);
      bodies.set(String(plain.headers.etag).slice(1, -1), plain.text);
      for (const coding of ['br', 'gzip']) {
        const { headers, body } = await proxy.ask(TARGET, accepting(coding));
        const decode = { br: brotliDecompressSync, gzip: gunzipSync }[headers['content-encoding'] ?? ''];
        const decoded = decode?.(body) ?? body;
        expect(decoded.toString()).toBe(bodies.get(String(headers.etag).replace(/^"|(-br|-gz)?"$/g, '')));
      }
    };
    let sequence = 4;
    for (const order of [
      ['', '.br', '.gz'],
      ['.gz', '', '.br'],
      ['.br', '.gz', ''],
    ]) {
      const next = `${LONG}${' '.repeat(sequence)}`;
      const forms: Record<string, string | Buffer> = { '': next, '.br': brotli(next), '.gz': gzipSync(next) };
      for (const suffix of order) {
        await publish(root, `${FILE}${suffix}`, forms[suffix] ?? '');
        // As a proxy that starts now, or one whose cache was too small, sees it.
        await publishSnapshot(root, { sequence, compressed_from: FROM });
        await proxy.look();
        await look();
      }
      sequence += 1;
      for (const coding of ['br', 'gzip'])
        expect((await proxy.ask(TARGET, accepting(coding))).headers['content-encoding']).toBe(coding);
    }
  });

  it('of a file too large to hold is sent from memory, or streamed if it is too large as well', async () => {
    const dull = 'x'.repeat(HELD_MAX_BYTES * 2);
    const dense = randomBytes(HELD_MAX_BYTES * 2).toString('base64');
    for (const content of [dull, dense]) {
      const proxy = await startProxy(await compressedTree(content));
      const body = await bodyOf(proxy, { 'Accept-Encoding': 'br' });
      expect(body.length > HELD_MAX_BYTES).toBe(content === dense);
      expect(brotliDecompressSync(body).toString() === content).toBe(true);
      const part = await bodyOf(proxy, { 'Accept-Encoding': 'br', Range: 'bytes=-7' });
      expect(part).toEqual(body.subarray(-7));
    }
  });
});
