/** The client: how often it tries, and that it ends, whatever an origin sends, and soon if it is interrupted. */
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { Client } from '../../../../generator/programs/mirror/client.js';
import { progressFor } from '../../../../generator/base/progress.js';
import { effectsAt } from '../../../support/build.js';
import { containing } from '../../../support/values.js';
import { inProcess } from '../../publish/support.js';
import { copying } from './copies.js';

const { origin, base, run } = await copying();

/** Whatever is asked for, sends the same bytes for ever. @param ms between them; none by default */
function sendForever(chunk: Buffer, ms = 0, begun = (): void => undefined): void {
  const sendTo = (response: ServerResponse): void => {
    if (response.destroyed) return;
    if (response.write(chunk)) setTimeout(sendTo, ms, response);
    else response.once('drain', () => sendTo(response));
  };
  origin.instead = (_, response) => {
    begun();
    sendTo(response);
    return true;
  };
}

const FILE = { path: '/x', bucket: 'api', bytes: 1e9 } as const;
const BOUNDS = { ms: 60_000, patienceMs: 60_000, bytes: 1_000_000, slowMs: 200, bytesPerSecond: 1000 };

/** What is read of a file, or why it is not. */
async function read(file: object = {}, bounds: object = {}, stop = new AbortController()): Promise<string> {
  const progress = progressFor('quiet', stop, () => undefined);
  const effects = { ...effectsAt('2026-12-01T00:00:00Z'), progress };
  const client = new Client(new URL(base), 'test', effects, { ...BOUNDS, ...bounds });
  const result = await client.read({ ...FILE, ...file }).then(({ content }) => String(content), String);
  client.close();
  return result;
}

describe('a client gives up', () => {
  it('a run that has received too much, and a response that drips for as long as a run may take', async () => {
    sendForever(Buffer.alloc(65_536));
    expect(await read()).toContain('has sent more than 1000000 bytes');
    sendForever(Buffer.alloc(1), 20);
    expect(await read({}, { ms: 1000 })).toContain('that a run may take');
  });

  it('what it reads once it is interrupted', async () => {
    const stop = new AbortController();
    sendForever(Buffer.alloc(1, ' '), 10, () => setTimeout(() => stop.abort(new Error('stopped')), 50));
    expect(await read({}, { slowMs: 60_000 }, stop)).toBe('Error: stopped');
  });

  it('an endless snapshot.json, of a mirror and of a proof', async () => {
    sendForever(Buffer.alloc(65_536, ' '));
    const mirrored = { code: 1, stderr: containing('snapshot.json has more than 2097152 bytes') };
    expect(await run()).toMatchObject(mirrored);
    const proven = { code: 1, stderr: containing('snapshot.json has more than 16777216 bytes') };
    expect(await inProcess('prove', base, '/api/v1/group/1')).toMatchObject(proven);
  });
});

describe('a server that breaks every response after ten bytes', () => {
  const BYTES = 100;
  /** Fetches a file of its. @returns the ranges asked for, and how it ended */
  async function fetched(etag: string) {
    const asked: (string | undefined)[] = [];
    origin.instead = ({ headers: { range } }, response) => {
      asked.push(range);
      const start = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
      response.writeHead(start > 0 ? 206 : 200, {
        'content-length': BYTES - start,
        ...(start > 0 && { 'content-range': `bytes ${start}-${BYTES - 1}/${BYTES}` }),
        etag,
      });
      response.write('0123456789', () => {
        if (start + 10 < BYTES) response.destroy();
      });
      return true;
    };
    return { result: await read({ bytes: BYTES, sha256: 'a' }), asked };
  }

  it('is given up after six tries that got no further', async () => {
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
