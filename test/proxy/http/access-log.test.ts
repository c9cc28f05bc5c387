import { createServer } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';

import { createAccessLog } from '../../../proxy/http/access-log.js';
import { matching } from '../../support/values.js';
import { ask, listenOn, open, problemOf } from '../support.js';

const CONTEXT = {
  match: { kind: 'file', path: '/api/v1/group/8', route: { class: 'record' } },
  cache: 'hit',
  tokens: { bucket: 'download', remaining: 0, nextTokenSeconds: 60, refused: true },
};

/** A server with an access log. Its requests have the context given, as if the app had set it. */
async function logging(options: object = {}, context: object | null = CONTEXT) {
  const written: string[] = [];
  const destination = { write: (line: string) => void written.push(line) };
  const accessLog = createAccessLog(destination, options);
  const server = createServer((request, response) => {
    accessLog.follow(request, response);
    if (context !== null) Object.assign(request, { context, clientAddress: '203.0.113.77' });
    if (context !== null) Object.assign(response, { sentStatus: 200, sentBytes: 8 });
    response.end('12345678');
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
    expect(Number(line['duration_ms'])).toBeGreaterThan(0);
    expect(line).toEqual({
      level: 'info',
      time: matching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      method: 'GET',
      path: '/api/v1/group/8',
      status: 200,
      bytes: 8,
      duration_ms: Number(line['duration_ms']),
      class: 'record',
      cache: 'hit',
      address: '203.0.113.0/24',
      aborted: false,
    });
  });

  it('has whole addresses, what a client says of itself and what the limiter said, if asked for', async () => {
    const { get, lines } = await logging({ accessLogDetails: true, accessLogFullAddresses: true });
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
    const { get, lines } = await logging({ accessLogDetails: true }, { ...CONTEXT, tokens: undefined });
    await get('/');
    for (const id of ['a'.repeat(129), 'é', 'a\tb', '']) await get('/', { 'X-Request-Id': id });
    await expect.poll(() => lines().length).toBe(5);
    const keys = lines().flatMap(Object.keys).join(' ');
    expect(keys).not.toMatch(/user_agent|referer|request_id|limit/);
  });

  it('writes a line for a request without a context, by its peer, and for what is no request', async () => {
    const { port, get, lines } = await logging({ accessLogDetails: true }, null);
    await get(`/${'a'.repeat(1_000)}%0a{"level":"info"}?q`);
    (await open(port)).socket.write('GARBAGE\r\n\r\n');
    await expect.poll(lines).toMatchObject([
      { method: 'GET', path: `/${'a'.repeat(255)}`, class: 'unrouted', cache: null, address: '127.0.0.0/24' },
      { method: null, path: null, status: 400, class: 'unrouted', address: '127.0.0.0/24' },
    ]);
  });
});
