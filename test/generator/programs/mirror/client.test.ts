/** The client: how often it tries, and that it ends, whatever an origin sends, and soon if it is interrupted. */
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { Client } from '../../../../generator/programs/mirror/client.js';
import { progressFor } from '../../../../generator/base/progress.js';
import { effectsAt } from '../../../support/build.js';
import { inProcess } from '../../publish/support.js';
import { copying } from './copies.js';

const { origin, base, run } = await copying();

/** Whatever is asked for, sends the same bytes for ever. @param ms between them; none by default */
function sendForever(chunk: Buffer, ms = 0): void {
  const sendTo = (response: ServerResponse): void => {
    if (response.destroyed) return;
    if (response.write(chunk)) setTimeout(sendTo, ms, response);
    else response.once('drain', () => sendTo(response));
  };
  origin.instead = (_, response) => {
    sendTo(response);
    return true;
  };
}

const effects = (stop = new AbortController()) => ({
  ...effectsAt('2026-12-01T00:00:00Z'),
  progress: progressFor('quiet', stop, () => undefined),
});
const bounds = { ms: 1000, patienceMs: 60_000, bytes: 1_000_000, slowMs: 200, bytesPerSecond: 1000 };
const FILE = { path: '/x', bucket: 'api', bytes: 1e9 } as const;
const read = async (more: Partial<typeof bounds> = {}): Promise<unknown> => {
  const client = new Client(new URL(base), 'test', effects(), { ...bounds, ...more });
  return client.read(FILE).finally(() => client.close());
};

describe('a client', () => {
  it('gives up a run that has received too much', async () => {
    sendForever(Buffer.alloc(65_536));
    await expect(read({ ms: 60_000 })).rejects.toThrow('has sent more than 1000000 bytes');
  });

  it('gives up a response that drips, and a run that takes too long', async () => {
    sendForever(Buffer.alloc(1), 20);
    await expect(read()).rejects.toThrow('that a run may take');
  });
});

describe('a server that breaks every response after ten bytes', () => {
  const BYTES = 100;
  /** Fetches a file of its. @returns the ranges asked for, and how it ended */
  async function fetched(etag?: string) {
    const asked: (string | undefined)[] = [];
    origin.instead = ({ headers: { range } }, response) => {
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
      return true;
    };
    const client = new Client(new URL(base), 'test', effects());
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
    sendForever(Buffer.alloc(65_536, ' '));
    const { code, stderr } = await run();
    expect(stderr).toContain('/snapshot.json has more than 2097152 bytes');
    expect(code).toBe(1);
  });

  it('ends a proof', async () => {
    sendForever(Buffer.alloc(65_536, ' '));
    const { code, stderr } = await inProcess('prove', base, '/api/v1/group/1');
    expect(stderr).toContain('/snapshot.json has more than 16777216 bytes');
    expect(code).toBe(1);
  });

  it('is left alone within two seconds of an interrupt', async () => {
    sendForever(Buffer.alloc(1, ' '), 10);
    const stop = new AbortController();
    const client = new Client(new URL(base), 'test', effects(stop));
    const reading = client.read(FILE);
    setTimeout(() => stop.abort(new Error('stopped')), 200);
    const startedMs = performance.now();
    await expect(reading).rejects.toThrow('stopped');
    expect(performance.now() - startedMs).toBeLessThan(2200);
    client.close();
  });
});
