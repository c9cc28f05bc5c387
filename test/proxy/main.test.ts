import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';

import { listening, MAIN, start } from './process.js';
import { ask, emptyFolder, problemOf, publish, publishSnapshot, tree } from './support.js';

describe('main: misuse', () => {
  it('ends with 2 and says why if it can not read its command line', async () => {
    const cases = [
      [['--prot', '80'], "error: unknown option '--prot'\n(Did you mean --port?)\n"],
      [['--port'], "error: option '--port <number>' argument missing\n"],
      [['serve'], 'error: too many arguments. Expected 0 arguments but got 1.\n'],
      [['--port', '99999'], 'register-api proxy: --port "99999": expected a whole number from 0 to 65535\n'],
      [
        ['--trust-proxy', '1'],
        'register-api proxy: --trust-proxy "1": expected ranges in CIDR notation or loopback, linklocal, private, separated by commas; a count of hops believes whoever reaches this port by a shorter way\n',
      ],
      [
        ['--redis', 'http://:pa55word@localhost'],
        'register-api proxy: --redis: expected a URL such as redis://user:password@host:6379/0, or rediss:// for TLS\n',
      ],
    ] as const;
    await Promise.all(
      cases.map(async ([args, message]) => {
        const { ended, output } = start(args);
        expect(await ended).toBe(2);
        expect(output).toEqual({ stdout: '', stderr: message });
      }),
    );
  });

  it('ends with 3 and one line if the tree is of a newer format, broken, or no folder', async () => {
    const newer = await emptyFolder();
    await publishSnapshot(newer, { format: 2 });
    const broken = await emptyFolder();
    await publish(broken, 'snapshot.json', '{"format":1');
    const cases = [
      [newer, 'tree is of format 2, this proxy reads format 1'],
      [broken, 'snapshot.json is no JSON'],
      ['/nowhere', '--dist "/nowhere": expected a folder'],
      [join(newer, 'snapshot.json'), `--dist "${join(newer, 'snapshot.json')}": expected a folder`],
    ] as const;
    await Promise.all(
      cases.map(async ([dist, message]) => {
        const { ended, output } = start(['--dist', dist]);
        expect(await ended).toBe(3);
        expect(output).toEqual({ stdout: '', stderr: `register-api proxy: ${message}\n` });
      }),
    );
  });

  it('ends with 3 if the port is taken or the address is not ours', async () => {
    const root = await tree();
    const taken = createServer();
    await new Promise<void>((settle) => {
      taken.listen(0, '127.0.0.1', settle);
    });
    onTestFinished(() => void taken.close());
    const address = taken.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const first = start(['--dist', root, '--port', port]);
    const second = start(['--dist', root, '--host', '192.0.2.1', '--port', '0']);
    expect(await first.ended).toBe(3);
    expect(first.output.stderr).toContain(
      `can't listen on 127.0.0.1 port ${port} (EADDRINUSE): the port is taken\n`,
    );
    expect(await second.ended).toBe(3);
    expect(second.output.stderr).toContain("can't listen on 192.0.2.1 port 0 (EADDRNOTAVAIL)");
  });
});

describe('main', () => {
  it('explains itself with --help', async () => {
    const { ended, output } = start(['--help']);
    expect(await ended).toBe(0);
    expect(output.stderr).toBe('');
    for (const text of ['--dist', '--download-refill-seconds', 'PROXY_PORT', 'Examples:', 'Exit codes:']) {
      expect(output.stdout).toContain(text);
    }
  });

  it('says where it serves what and what to try, each of which answers 200', async () => {
    const root = await tree();
    const { output, port } = await listening([], { PROXY_DIST: root });
    const [first, second, ...urls] = output.stdout.trimEnd().split('\n');
    expect(first).toBe(
      `register-api proxy on http://127.0.0.1:${port} serving ${root} (snapshot 3, as of 2026-11-20T08:00:00Z)`,
    );
    expect(second).toBe('Try:');
    expect(urls.length).toBeGreaterThan(3);
    for (const url of urls) {
      const target = url.trim().slice(`http://127.0.0.1:${port}`.length);
      expect(`${target} ${(await ask(port, target)).status}`).toBe(`${target} 200`);
    }
  });

  it('waits for a tree that is not there yet, and serves it when it is, on the real clock', async () => {
    const root = await emptyFolder();
    const { output, port } = await listening(['--dist', root]);
    expect(output.stdout).toContain('(no snapshot yet)');
    expect((await ask(port, '/api/v1')).status).toBe(503);
    await publish(root, 'api/v1.json', '{}');
    await publishSnapshot(root);
    await expect
      .poll(async () => (await ask(port, '/api/v1')).status, { timeout: 1_500, interval: 50 })
      .toBe(200);
  });

  it('says so if the limits set by hand differ from those the texts state', async () => {
    const root = await tree();
    const { output } = await listening(['--dist', root, '--api-tokens', '5']);
    expect(output.stderr).toContain(
      'limits set by hand: API 5 per 1 s, downloads 12 per 60 s; the published texts say API 60 per 1 s, downloads 12 per 60 s\n',
    );
    const same = await listening(['--dist', root, '--api-tokens', '60', '--api-refill-seconds', '1']);
    expect(same.output.stderr).not.toContain('by hand');
  });

  it('ends with 0 on SIGTERM and on SIGINT', async () => {
    const root = await tree();
    const endBy = async (signal: 'SIGTERM' | 'SIGINT'): Promise<number | string | null> => {
      const { child, ended, port } = await listening(['--dist', root]);
      expect((await ask(port, '/api/v1')).status).toBe(200);
      child.kill(signal);
      return ended;
    };
    expect(await Promise.all([endBy('SIGTERM'), endBy('SIGINT')])).toEqual([0, 0]);
  });

  it('goes on serving when nobody reads its output', async () => {
    const { child, port } = await listening(['--dist', await emptyFolder()]);
    child.stdout?.destroy();
    child.stderr?.destroy();
    expect((await ask(port, '/api/v1')).status).toBe(503);
    expect((await ask(port, '/api/v1')).status).toBe(503);
  });

  it('finishes a download in flight on SIGTERM, accepts nothing new, and ends with 0', async () => {
    const root = await tree();
    const large = Buffer.alloc(20_000_000, 'x');
    await publish(root, 'downloads/groups.csv', large);
    const { child, ended, port } = await listening(['--dist', root]);
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /downloads/groups.csv HTTP/1.1\r\nHost: x\r\n\r\n');
    let received = 0;
    await new Promise((heard) => {
      socket.once('data', heard);
    });
    socket.pause();
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
    child.kill('SIGTERM');
    await expect.poll(async () => ask(port, '/').catch(() => 'refused')).toBe('refused');
    expect(child.exitCode).toBeNull();
    socket.resume();
    expect(await ended).toBe(0);
    expect(received).toBeGreaterThan(large.length - 100_000);
  });

  it('writes its access log to stdout, and what is for people to stderr', async () => {
    const root = await tree();
    const { child, ended, output } = start(['--dist', root, '--port', '0', '--access-log']);
    await expect.poll(() => output.stderr, { timeout: 5_000 }).toContain('Try:');
    const port = Number(/http:\/\/127\.0\.0\.1:(\d+) /.exec(output.stderr)?.[1]);
    for (let count = 0; count < 20; count += 1) await ask(port, '/api/v1');
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    const lines = output.stdout.trimEnd().split('\n');
    expect(lines.length).toBe(20);
    for (const line of lines)
      expect(problemOf({ text: line })).toMatchObject({ path: '/api/v1', status: 200 });
  });

  it('answers 500 or not at all when it runs out of file descriptors, and goes on when it has some', async () => {
    const root = await tree();
    const limited = [
      '-c',
      `ulimit -n 160; exec "$0" "$@"`,
      process.execPath,
      MAIN,
      '--dist',
      root,
      '--port',
      '0',
    ];
    const child = spawn('/bin/sh', limited, { stdio: ['ignore', 'pipe', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    let heard = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data: Buffer) => {
        heard += data.toString('utf8');
      });
    }
    await expect.poll(() => heard, { timeout: 5_000 }).toContain('Try:');
    const port = Number(/http:\/\/127\.0\.0\.1:(\d+) /.exec(heard)?.[1]);
    const crowd = Array.from({ length: 200 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    const [early] = crowd;
    let answers = '';
    early?.on('data', (data: Buffer) => {
      answers += data.toString('latin1');
    });
    await pause(300);
    early?.write('GET /api/v1/group/7 HTTP/1.1\r\nHost: x\r\n\r\n');
    await expect.poll(() => answers).toMatch(/^HTTP\/1\.1 500 /);
    for (const socket of crowd) socket.destroy();
    await expect
      .poll(async () => (await ask(port, '/api/v1/group/7').catch(() => undefined))?.status, {
        timeout: 5_000,
      })
      .toBe(200);
    expect(child.exitCode).toBeNull();
    expect(heard).toContain("can't answer api/v1/group/7.json: EMFILE");
  });
});
