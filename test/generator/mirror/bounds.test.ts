/** What an origin can make of a run: it ends, whatever is sent, and soon if it is interrupted. */
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { Client } from '../../../generator/mirror/client.js';
import { originSchema } from '../../../generator/mirror/origin.js';
import { progressFor } from '../../../generator/progress.js';
import { inProcess, temporary } from '../publish/support.js';
import { MadeUpOrigin, ROUTES, documentsOf } from './made-up.js';

const path = temporary();
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server that answers everything in one way. */
async function serving(respond: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_, response) => respond(response));
  servers.push(server);
  await new Promise<void>((settle) => {
    server.listen(0, '127.0.0.1', settle);
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

/** Sends the same bytes for ever. @param ms between them; none by default */
const endless =
  (chunk: Buffer, ms = 0) =>
  (response: ServerResponse) => {
    const send = (): void => {
      if (response.destroyed) return;
      if (response.write(chunk)) setTimeout(send, ms);
      else response.once('drain', send);
    };
    send();
  };

const quiet = () => progressFor('quiet', new AbortController(), () => undefined);
const bounds = { ms: 1000, bytes: 1_000_000, slowMs: 200, bytesPerSecond: 1000 };
const read = async (base: string, more: Partial<typeof bounds> = {}): Promise<number> => {
  const client = new Client(new URL(base), 'test', quiet(), { ...bounds, ...more });
  try {
    return await client.get(
      () => ({ path: '/', bucket: 'api' }),
      async ({ chunks }) => {
        let bytes = 0;
        for await (const chunk of chunks) bytes += chunk.length;
        return bytes;
      },
    );
  } finally {
    client.close();
  }
};

describe('a client', () => {
  it('gives up a run that has received too much', async () => {
    const base = await serving(endless(Buffer.alloc(65_536)));
    await expect(read(base, { ms: 60_000 })).rejects.toThrow('has sent more than 1000000 bytes');
  });

  it('gives up a response that drips, and a run that takes too long', async () => {
    const base = await serving(endless(Buffer.alloc(1), 20));
    await expect(read(base)).rejects.toThrow('would take longer than 1 s, so it was given up');
  });
});

/** A word without the digits of keys. */
const word = (n: number): string =>
  n.toString(16).replaceAll(/./g, (digit) => 'ghijklmnopqrstuv'[Number(`0x${digit}`)] ?? '');

describe('a table of routes', () => {
  // No two of them are in each other's way, so that all are compared.
  it.each([
    ['long runs of what keys may be', (n: number) => `${'1'.repeat(110)}{id}${'1'.repeat(100)}x${word(n)}y`],
    ['deep folders', (n: number) => `${'1/'.repeat(100)}x${word(n)}y{id}`],
    ['both', (n: number) => `${'1/'.repeat(15)}${'1'.repeat(40)}{id}${'1'.repeat(100)}x${word(n)}y`],
  ])('of %s takes less than a second of a processor to check', (_, file) => {
    const origin = new MadeUpOrigin();
    origin.publish(documentsOf({ 1: 'one' }));
    const [first] = ROUTES;
    const routes = Array.from({ length: 900 }, (__, n) => ({
      ...first!,
      name: `of-${n}`,
      path: `/of/${n}/{id}`,
      file: file(n),
    }));
    origin.routes = [...ROUTES, ...routes];
    origin.announce();
    const snapshot: unknown = JSON.parse(String(origin.files.get('/snapshot.json')));
    const before = process.cpuUsage();
    expect(originSchema.safeParse(snapshot).error).toBeUndefined();
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1e6).toBeLessThan(1);
  });
});

describe('an endless snapshot.json', () => {
  it('ends a mirror', async () => {
    const base = await serving(endless(Buffer.alloc(65_536, ' ')));
    const { code, stderr } = await inProcess('mirror', base, '--out', path('copy'));
    expect(stderr).toContain('/snapshot.json of the origin has more than 2097152 bytes');
    expect(code).toBe(1);
  });

  it('ends a proof', async () => {
    const base = await serving(endless(Buffer.alloc(65_536, ' ')));
    const { code, stderr } = await inProcess('prove', base, '/api/v1/group/1');
    expect(stderr).toContain('/snapshot.json has more than 16777216 bytes');
    expect(code).toBe(1);
  });

  it('is left alone within two seconds of an interrupt', async () => {
    const base = await serving(endless(Buffer.alloc(1, ' '), 10));
    const stop = new AbortController();
    const client = new Client(
      new URL(base),
      'test',
      progressFor('quiet', stop, () => undefined),
    );
    const reading = client.get(
      () => ({ path: '/', bucket: 'api' }),
      async ({ chunks }) => {
        for await (const _ of chunks);
      },
    );
    setTimeout(() => stop.abort(new Error('stopped')), 200);
    const startedMs = performance.now();
    await expect(reading).rejects.toThrow('stopped');
    expect(performance.now() - startedMs).toBeLessThan(2200);
    client.close();
  });
});
