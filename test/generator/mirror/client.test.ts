/** The client: how often it tries, and that it ends, whatever an origin sends, and soon if it is interrupted. */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Client } from '../../../generator/mirror/client.js';
import { progressFor } from '../../../generator/progress.js';
import { inProcess, temporary } from '../publish/support.js';

const path = temporary();
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server that answers everything in one way. */
async function serving(
  respond: (response: ServerResponse, request: IncomingMessage) => void,
): Promise<string> {
  const server = createServer((request, response) => respond(response, request));
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
const FILE = { path: '/x', bucket: 'api', bytes: 1e9 } as const;
const read = async (base: string, more: Partial<typeof bounds> = {}): Promise<unknown> => {
  const client = new Client(new URL(base), 'test', quiet(), { ...bounds, ...more });
  return client.read(FILE).finally(() => client.close());
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

describe('a server that breaks every response after ten bytes', () => {
  const BYTES = 100;
  /** Fetches a file of its. @returns the ranges asked for, and how it ended */
  async function fetched(etag?: string) {
    const asked: (string | undefined)[] = [];
    const base = await serving((response, { headers: { range } }) => {
      asked.push(range);
      const start = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
      response.writeHead(start > 0 ? 206 : 200, {
        'content-length': BYTES - start,
        ...(start > 0 && { 'content-range': `bytes ${start}-${BYTES - 1}/${BYTES}` }),
        ...(etag !== undefined && { etag }),
      });
      response.write('0123456789', () => {
        if (start + 10 < BYTES) response.destroy();
      });
    });
    const client = new Client(new URL(base), 'test', quiet());
    vi.spyOn(client, 'wait').mockResolvedValue();
    const reading = client.read({ ...FILE, bytes: BYTES, sha256: 'a' });
    const result = await reading.then(({ content }) => String(content), String);
    client.close();
    return { asked, result };
  }

  it('is given up after six tries, whatever they got', async () => {
    const { asked, result } = await fetched('W/"weak"');
    expect(result).toMatch(/\/x: .* \(6 times\)$/);
    expect(asked).toEqual(Array.from({ length: 6 }));
  });

  it('is asked for as long as each try gets further', async () => {
    const { asked, result } = await fetched('"strong"');
    expect(result).toBe('0123456789'.repeat(10));
    expect(asked).toEqual([undefined, ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((tens) => `bytes=${tens}0-`)]);
  });
});

describe('an endless snapshot.json', () => {
  it('ends a mirror', async () => {
    const base = await serving(endless(Buffer.alloc(65_536, ' ')));
    const { code, stderr } = await inProcess('mirror', base, '--out', path('copy'));
    expect(stderr).toContain('/snapshot.json has more than 2097152 bytes');
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
    const reading = client.read(FILE);
    setTimeout(() => stop.abort(new Error('stopped')), 200);
    const startedMs = performance.now();
    await expect(reading).rejects.toThrow('stopped');
    expect(performance.now() - startedMs).toBeLessThan(2200);
    client.close();
  });
});
