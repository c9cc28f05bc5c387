import { createServer } from 'node:net';
import { describe, expect } from 'vitest';

import { KNOWN_ATTACKS } from '../system/soak/known.js';
import { pipelined } from '../system/soak/pipelined.js';
import { hostileRequest } from '../system/soak/requests.js';
import { attack, volley } from '../system/soak/session.js';
import { makeTree } from '../system/soak/tree.js';
import { adminOf, limitedTo, UNLIMITED } from '../support/proxy.js';
import { always, isThorough, it } from '../support/thorough.js';
import { emptyFolder, listenOn, listening } from './support.js';

/** The same for everybody who runs the tests; the long run (test/system/soak) takes any. */
const SEED = 1;
const COUNT = isThorough ? 1_000 : 250;

it('attack notices what it is there to notice', async () => {
  const tree = makeTree(await emptyFolder());
  const heads =
    'Date: x\r\nAccess-Control-Allow-Origin: *\r\nRateLimit-Policy: x\r\nX-Content-Type-Options: x\r\n';
  const faultOf = async (answer: string): Promise<string | undefined> => {
    const port = await listenOn(createServer((socket) => void socket.end(answer)));
    return (await attack(port, { kind: 'x', packets: [Buffer.from('GET / HTTP/1.1\r\n\r\n')] }, tree)).fault;
  };
  const answer = (status: string, length: number, body: string): string =>
    `HTTP/1.1 ${status} X\r\n${heads}Content-Length: ${length}\r\n\r\n${body}`;
  expect(await faultOf(answer('200', 8, '{"id":7}'))).toBeUndefined();
  expect(await faultOf(answer('200', 8, '{"id":9}'))).toContain('not published');
  expect(await faultOf(answer('404', 20, 'canary-3-in-the-mine'))).toContain('leaked');
  expect(await faultOf(answer('500', 0, ''))).toContain('500');
  expect(await faultOf(answer('404', 0, '').replace(heads, ''))).toBe('404 without date');
  expect(await faultOf(answer('200', 9, '{"id":7}'))).toContain('incomplete');
  expect(await faultOf('<h1>Bad Request</h1>\r\n\r\n')).toContain('status line');
});

describe('the proxy as a process, under attack', () => {
  always('answers generated hostile requests well-formed or closes, tells no canary, and lives', async () => {
    const tree = makeTree(await emptyFolder());
    const proxy = await listening(['--dist', tree.dist, '--admin-port', '0'], limitedTo(UNLIMITED));
    const { port, child, output } = proxy;
    const { faults, statuses } = await volley(port, tree, COUNT, (index) => hostileRequest(SEED, index));
    expect(faults).toEqual([]);
    // Every kind was met, and not all of them were refused by the parser.
    expect(statuses.size).toBeGreaterThan(14);
    expect(statuses.get('ranges')?.get(206)).toBeGreaterThan(0);
    expect(child.exitCode).toBeNull();
    expect(output.stderr).not.toContain('defect');
    // All clients are gone, and so are their connections.
    const metrics = async (): Promise<string> => (await fetch(`${adminOf(proxy)}/metrics`)).text();
    await expect
      .poll(metrics, { timeout: 10_000, interval: 500 })
      .toContain('\nregister_proxy_connections 0\n');
  });

  always('answers who pipelines in any pieces and reads slowly or late, and outlives others', async () => {
    const connections = isThorough ? 3_000 : 300;
    expect(await pipelined([String(connections), String(SEED)], () => undefined)).toEqual([]);
  });

  it('answers known attacks as they deserve', async () => {
    const tree = makeTree(await emptyFolder());
    const { port } = await listening(['--dist', tree.dist], limitedTo(UNLIMITED));
    const outcomes = await Promise.all(
      KNOWN_ATTACKS.map(async (known) => {
        const { answers, fault } = await attack(port, known, tree);
        return { kind: known.kind, statuses: answers.map(({ status }) => status), fault };
      }),
    );
    expect(outcomes).toEqual(
      KNOWN_ATTACKS.map(({ kind, statuses }) => ({ kind, statuses, fault: undefined })),
    );
  });
});
