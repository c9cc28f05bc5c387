import { createServer } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';

import { createAccessLog } from '../../../proxy/http/access-log.js';
import { ask, GET, listenOn, open, problemOf, stalled } from '../support.js';

const CONTEXT = {
  match: { kind: 'file', path: '/api/v1/group/8', route: { class: 'record' } },
  cache: 'hit',
  tokens: { bucket: 'download', remaining: 0, nextTokenSeconds: 60, refused: true },
};

/** A server with an access log. Its requests have the context given, as if the app had set it. */
async function logging(options: object = {}, context: object | null = CONTEXT) {
  const written: string[] = [];
  const destination = { write: (line: string) => void written.push(line) };
  const accessLog = createAccessLog(destination, { hasFullAddresses: false, hasDetails: false, ...options });
  const server = createServer((request, response) => {
    accessLog.follow(request, response);
    if (context !== null) Object.assign(request, { context, clientAddress: '203.0.113.77' });
    if (context !== null) Object.assign(response, { sentStatus: 200, sentBytes: 8 });
    if (request.url === '/slow') response.write('x'.repeat(100));
    else response.end('12345678');
  });
  server.on('clientError', (error, socket) => {
    if (String(Reflect.get(error, 'code')).startsWith('HPE_') && socket instanceof Socket)
      accessLog.refused(socket, 400);
    socket.destroy();
  });
  const port = await listenOn(server);
  const get = (path: string, headers: Record<string, string> = {}) => ask(port, path, { headers });
  return { port, get, lines: () => written.map((text) => problemOf({ text })) };
}

describe('createAccessLog', () => {
  it('writes one line for each response, without the query, the address shortened', async () => {
    const { get, lines } = await logging();
    await get('/api/v1/group/8?token=secret', { 'User-Agent': 'x', 'X-Request-Id': '1' });
    await expect.poll(() => lines().length).toBe(1);
    const [line = {}] = lines();
    expect(Object.keys(line).join(' ')).toBe(
      'level time method path status bytes duration_ms class cache address aborted',
    );
    expect(line).toMatchObject({
      level: 'info',
      method: 'GET',
      path: '/api/v1/group/8',
      status: 200,
      bytes: 8,
      class: 'record',
      cache: 'hit',
      address: '203.0.113.0/24',
      aborted: false,
    });
    expect(Number(line['duration_ms'])).toBeGreaterThan(0);
    expect(String(line['time'])).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  it('has whole addresses, what a client says of itself and what the limiter said, if asked for', async () => {
    const { get, lines } = await logging({ hasDetails: true, hasFullAddresses: true });
    const long = 'a'.repeat(1_000);
    await get('/', { 'User-Agent': long, Referer: `https://x/${long}`, 'X-Request-Id': '4bf9-2' });
    await expect.poll(lines).toMatchObject([
      {
        address: '203.0.113.77',
        user_agent: 'a'.repeat(256),
        referer: `https://x/${long}`.slice(0, 256),
        request_id: '4bf9-2',
        limit: { bucket: 'download', remaining: 0, refused: true },
      },
    ]);
  });

  it('leaves out details that there are not, and what is no request id', async () => {
    const { get, lines } = await logging({ hasDetails: true }, { ...CONTEXT, tokens: undefined });
    await get('/');
    for (const id of ['a'.repeat(129), 'é', 'a\tb', '']) await get('/', { 'X-Request-Id': id });
    await expect.poll(() => lines().length).toBe(5);
    const details = new Set(['user_agent', 'referer', 'request_id', 'limit']);
    expect(
      lines()
        .flatMap(Object.keys)
        .filter((key) => details.has(key)),
    ).toEqual([]);
  });

  it('writes a line for a client that left in the middle', async () => {
    const { port, lines } = await logging();
    const { socket } = await stalled(port, GET('/slow'));
    socket.resetAndDestroy();
    await expect.poll(lines).toMatchObject([{ status: 200, aborted: true }]);
  });

  it('writes a line for a request without a context, by its peer, and for what is no request', async () => {
    const { port, get, lines } = await logging({ hasDetails: true }, null);
    await get(`/${'a'.repeat(1_000)}%0a{"level":"info"}?q`);
    (await open(port)).socket.write('GARBAGE\r\n\r\n');
    await expect.poll(lines).toMatchObject([
      { method: 'GET', path: `/${'a'.repeat(255)}`, class: 'unrouted', cache: null, address: '127.0.0.0/24' },
      { method: null, path: null, status: 400, class: 'unrouted', address: '127.0.0.0/24' },
    ]);
  });
});
