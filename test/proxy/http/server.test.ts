import { readdir, readlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';

import {
  KEEP_ALIVE_TIMEOUT_MS,
  HEADERS_TIMEOUT_MS,
  MAX_HEADER_BYTES,
  REQUEST_TIMEOUT_MS,
} from '../../proxy/config.js';
import { ask, askRaw, problemOf, publish, startProxy, tree } from './support.js';

/** The status line and what follows, in lines. */
function linesOf(heard: string): string[] {
  return heard.split('\r\n');
}

describe('createHttpServer', () => {
  it.each([
    ['garbage', 'GARBAGE\r\n\r\n', 'HTTP/1.1 400 Bad Request'],
    ['a raw byte in the target', 'GET /\xe9 HTTP/1.1\r\nHost: x\r\n\r\n', 'HTTP/1.1 400 Bad Request'],
    ['a space in the target', 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n', 'HTTP/1.1 400 Bad Request'],
    [
      'two lengths',
      'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'HTTP/1.1 400 Bad Request',
    ],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHost: x\r\nX\r\n\r\n', 'HTTP/1.1 400 Bad Request'],
    [
      'too much header',
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(MAX_HEADER_BYTES)}\r\n\r\n`,
      'HTTP/1.1 431 Request Header Fields Too Large',
    ],
    ['no Host', 'GET /api/v1 HTTP/1.1\r\n\r\n', 'HTTP/1.1 400 Bad Request'],
    ['two Hosts', 'GET /api/v1 HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n', 'HTTP/1.1 400 Bad Request'],
    ['a Host that is none', 'GET /api/v1 HTTP/1.1\r\nHost: x/y\r\n\r\n', 'HTTP/1.1 400 Bad Request'],
    [
      'a body of unknown end',
      'GET /api/v1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n',
      'HTTP/1.1 400 Bad Request',
    ],
  ])('answers %s shortly and closes', async (_name, bytes, statusLine) => {
    const { port } = await startProxy(await tree());
    const lines = linesOf(await askRaw(port, bytes));
    expect(lines[0]).toBe(statusLine);
    expect(lines.slice(-2)).toEqual(['', '']);
    expect(lines).toEqual(
      expect.arrayContaining([
        'Content-Length: 0',
        'Connection: close',
        'Cache-Control: no-store',
        'Access-Control-Allow-Origin: *',
        'X-Content-Type-Options: nosniff',
        'RateLimit-Policy: "api";q=60;w=60',
        expect.stringMatching(/^Date: .* GMT$/),
      ]),
    );
  });

  it.each([
    [
      'a path beyond the parser',
      `GET /${'a'.repeat(MAX_HEADER_BYTES)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      'HTTP/1.1 414 URI Too Long',
      { status: 414, error: 'uri_too_long', instance: `/${'a'.repeat(255)}` },
      undefined,
    ],
    [
      'a tunnel',
      'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
      'HTTP/1.1 405 Method Not Allowed',
      { status: 405, error: 'method_not_allowed', instance: 'x:1' },
      'Allow: GET, HEAD, OPTIONS',
    ],
  ])('answers %s by a problem and closes', async (_name, bytes, statusLine, problem, allow) => {
    const { port } = await startProxy(await tree());
    const [head = '', text = ''] = (await askRaw(port, bytes)).split('\r\n\r\n');
    expect(linesOf(head)[0]).toBe(statusLine);
    expect(linesOf(head)).toEqual(
      expect.arrayContaining([
        `Content-Length: ${text.length}`,
        'Content-Type: application/problem+json',
        'Connection: close',
        'Cache-Control: no-store',
        'RateLimit-Policy: "api";q=60;w=60',
      ]),
    );
    expect(problemOf({ text })).toMatchObject(problem);
    expect(/^Allow: .*$/m.exec(head)?.[0]).toBe(allow);
    const headless = await askRaw(port, bytes.replace('GET', 'HEAD').replace('CONNECT', 'HEAD'));
    expect(headless.split('\r\n\r\n')[1]).toBe('');
  });

  it('answers a path beyond what is published but within the parser by 414, in however many packets', async () => {
    const { port } = await startProxy(await tree());
    const socket = connect(port, '127.0.0.1');
    let heard = '';
    socket.on('data', (data) => {
      heard += data.toString('latin1');
    });
    for (const part of ['GET /', 'a'.repeat(2_000), 'a'.repeat(2_000), ' HTTP/1.1\r\nHost: x\r\n\r\n']) {
      socket.write(part);
      await pause(5);
    }
    await expect.poll(() => heard).toMatch(/^HTTP\/1\.1 414 URI Too Long/);
    socket.destroy();
  });

  it('answers HTTP/1.0, unknown expectations and offers to upgrade like any other request', async () => {
    const { port } = await startProxy(await tree());
    for (const bytes of [
      'GET /api/v1 HTTP/1.0\r\n\r\n',
      'GET /api/v1 HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n',
      'GET /api/v1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    ]) {
      expect(linesOf(await askRaw(port, bytes))[0]).toBe('HTTP/1.1 200 OK');
    }
  });

  it('ignores the body of a GET and reads the next request behind it', async () => {
    const { port } = await startProxy(await tree());
    const withBody = 'GET /api/v1/group/8 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello';
    const heard = await askRaw(port, `${withBody}GET /api/v1/group/x HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(heard.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  });

  it.each([
    ['a long body', `Content-Length: 10000000\r\n\r\n${'x'.repeat(300_000)}`],
    ['a chunked one', `Transfer-Encoding: chunked\r\n\r\n${'5\r\nhello\r\n'.repeat(20_000)}`],
    ['one that waits to be asked for', 'Content-Length: 5\r\nExpect: 100-continue\r\n\r\n'],
  ])('answers a GET with %s, and closes instead of reading that', async (_name, rest) => {
    const { port } = await startProxy(await tree());
    const heard = await askRaw(port, `GET /api/v1/group/8 HTTP/1.1\r\nHost: x\r\n${rest}`);
    expect(heard.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
    expect(heard).toContain('Connection: close');
    expect(heard.endsWith('{"id":8}')).toBe(true);
  });

  it('in time, answers half a request once, half a body never again, and silence not at all', async () => {
    const { port, server } = await startProxy(await tree());
    server.requestTimeout = 100;
    server.headersTimeout = 100;
    const statuses = await Promise.all(
      [
        'GET /api/v1/group/8 HTTP/1.1\r\nHost: x\r\nX: ',
        'GET /api/v1/group/8 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel',
        '',
      ].map(async (bytes) => (await askRaw(port, bytes, 8_000)).match(/HTTP\/1\.1 \d+/g)),
    );
    expect(statuses).toEqual([['HTTP/1.1 408'], ['HTTP/1.1 200'], null]);
  });

  it('closes connections beyond the maximum unanswered, and serves again when there is room', async () => {
    const { port, ask } = await startProxy(await tree(), { maxConnections: '2' });
    const kept = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    await Promise.all(kept.map((socket) => new Promise((settle) => socket.once('connect', settle))));
    await pause(20);
    await expect(ask('/api/v1')).rejects.toThrow(/ECONNRESET|socket hang up/);
    kept[0]?.destroy();
    await pause(20);
    expect((await ask('/api/v1')).status).toBe(200);
    kept[1]?.destroy();
  });

  it('closes a download of which nothing is taken any more, and closes the file', async () => {
    const root = await tree();
    await publish(root, 'downloads/groups.csv', Buffer.alloc(30_000_000, 'x'));
    const { port, server } = await startProxy(root);
    server.timeout = 200;
    const idle = connect(port, '127.0.0.1');
    idle.resume().write('GET /api/v1 HTTP/1.1\r\nHost: x\r\n\r\n');
    const isOpen = async (): Promise<boolean> => {
      const handles = await readdir('/proc/self/fd');
      const paths = await Promise.all(handles.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
      return paths.some((path) => path.startsWith(root));
    };
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /downloads/groups.csv HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((heard) => {
      socket.once('data', heard);
    });
    socket.pause();
    expect(await isOpen()).toBe(true);
    await expect.poll(isOpen, { timeout: 3_000 }).toBe(false);
    // The idle connection, which is silent by right, is all that is left.
    expect(await new Promise((settle) => server.getConnections((_error, count) => settle(count)))).toBe(1);
    expect(idle.readyState).toBe('open');
    idle.destroy();
    socket.destroy();
  });

  it('answers pipelined requests in their order', async () => {
    const { port } = await startProxy(await tree());
    const targets = ['/api/v1/group/7', '/nothing', '/api/v1/', '/api/v1/group/8'];
    const heard = await askRaw(
      port,
      targets.map((target) => `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''),
    );
    expect(heard.match(/HTTP\/1\.1 \d+/g)).toEqual([
      'HTTP/1.1 200',
      'HTTP/1.1 404',
      'HTTP/1.1 308',
      'HTTP/1.1 200',
    ]);
  });

  it('never puts a second status line into an answer that is under way', async () => {
    const root = await tree();
    await publish(root, 'downloads/groups.csv', Buffer.alloc(3_000_000, 'x'));
    const { port } = await startProxy(root);
    const heard = await askRaw(port, 'GET /downloads/groups.csv HTTP/1.1\r\nHost: x\r\n\r\nGARBAGE\r\n\r\n');
    expect(heard.match(/HTTP\/1\.1 \d+/g) ?? []).not.toContain('HTTP/1.1 400');
  });

  it('has its time-outs in an order that makes sense', async () => {
    const { server } = await startProxy(await tree());
    expect(server).toMatchObject({
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    });
    expect(HEADERS_TIMEOUT_MS).toBeLessThanOrEqual(REQUEST_TIMEOUT_MS);
    expect(KEEP_ALIVE_TIMEOUT_MS).toBeGreaterThan(60_000);
  });

  it('lives on after clients that only connect, stop in the middle of a header, or reset', async () => {
    const { port, ask } = await startProxy(await tree());
    for (const bytes of ['', 'GET /api', 'GET /api/v1 HTTP/1.1\r\nHost: x\r\n\r\n']) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(bytes);
      await pause(10);
      socket.resetAndDestroy();
    }
    expect((await ask('/api/v1')).status).toBe(200);
  });
});

describe('stop', () => {
  it('closes connections that idle or were never used at once', async () => {
    const { port, stop } = await startProxy(await tree());
    const unused = connect(port, '127.0.0.1');
    const idle = connect(port, '127.0.0.1');
    idle.write('GET /api/v1 HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((heard) => {
      idle.once('data', heard);
    });
    unused.resume();
    const startedMs = performance.now();
    expect(await stop(5_000)).toBe(true);
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });

  it('lets an answer under way finish', async () => {
    const root = await tree();
    const large = Buffer.alloc(30_000_000, 'x');
    await publish(root, 'downloads/groups.csv', large);
    const { port, stop } = await startProxy(root);
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /downloads/groups.csv HTTP/1.1\r\nHost: x\r\n\r\n');
    let received = 0;
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
    const ended = new Promise((end) => {
      socket.once('end', end);
    });
    await new Promise((heard) => {
      socket.once('data', heard);
    });
    socket.pause();
    const stopped = stop(5_000);
    await pause(200);
    socket.resume();
    expect(await stopped).toBe(true);
    // The last of it may still be in the system's buffers when the server is done.
    await ended;
    expect(received).toBeGreaterThan(large.length);
  });

  it('cuts what takes longer than its bound', async () => {
    const root = await tree();
    await publish(root, 'downloads/groups.csv', Buffer.alloc(30_000_000, 'x'));
    const { port, stop } = await startProxy(root);
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('GET /downloads/groups.csv HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((heard) => {
      socket.once('data', heard);
    });
    socket.pause();
    expect(await stop(200)).toBe(false);
    socket.destroy();
  });
});

describe('answers of one turn', () => {
  it('come in the order of their requests, each whole, when many are sent at once', async () => {
    const { port } = await startProxy(await tree(), { apiTokens: '1000', downloadTokens: '1000' });
    const targets = [
      '/api/v1/group/7',
      '/nothing',
      '/api/v1/group/8',
      '/downloads/groups.csv',
      '/api/v1/group/x',
    ];
    const single: string[] = [];
    for (const target of targets) single.push(Buffer.from((await ask(port, target)).text).toString('latin1'));
    const many = Array.from({ length: 20 }, () => targets).flat();
    const heard = await askRaw(
      port,
      many.map((target) => `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''),
    );
    const bodies = heard.split(/HTTP\/1\.1 \d+ [^]*?\r\n\r\n/).slice(1);
    expect(bodies).toEqual(Array.from({ length: 20 }, () => single).flat());
  });

  it('have the bytes of the file, whatever they are', async () => {
    const root = await tree();
    const bytes = Buffer.from(Array.from({ length: 512 }, (_, index) => index % 256));
    const long = Buffer.concat(Array.from({ length: 100 }, () => bytes));
    await publish(root, 'downloads/groups.csv', bytes);
    await publish(root, 'feeds/all.atom', long);
    const { port } = await startProxy(root);
    const bodyOf = async (target: string): Promise<string> =>
      (await askRaw(port, `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`)).replace(/^[^]*?\r\n\r\n/, '');
    expect(await bodyOf('/downloads/groups.csv')).toBe(bytes.toString('latin1'));
    expect(await bodyOf('/feeds/all.atom')).toBe(long.toString('latin1'));
  });
});
