import { spawn, type ChildProcess } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

import { ask, emptyFolder, publish, publishSnapshot, tree } from './support.js';

/** The compiled proxy as a process; `npm test` compiles first. */
const MAIN = fileURLToPath(new URL('../../build/proxy/main.js', import.meta.url));

interface Process {
  readonly child: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | string | null>;
}

function start(args: readonly string[], environment: Record<string, string> = {}): Process {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: '/bin', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (data: Buffer) => {
    output.stdout += data.toString('utf8');
  });
  child.stderr.on('data', (data: Buffer) => {
    output.stderr += data.toString('utf8');
  });
  const ended = new Promise<number | string | null>((settle) => {
    child.on('close', (code, signal) => settle(code ?? signal));
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, output, ended };
}

/** Starts on a free port and waits until it says so. */
async function listening(
  args: readonly string[],
  environment?: Record<string, string>,
): Promise<Process & { port: number }> {
  const started = start(['--port', '0', ...args], environment);
  const port = await new Promise<number>((settle, reject) => {
    started.child.stdout?.on('data', () => {
      const found = /http:\/\/127\.0\.0\.1:(\d+) /.exec(started.output.stdout)?.[1];
      if (found !== undefined) settle(Number(found));
    });
    void started.ended.then((code) => reject(new Error(`ended by ${code}: ${started.output.stderr}`)));
  });
  return { ...started, port };
}

describe('main: misuse', () => {
  it('ends with 2 and says why if it can not read its command line', async () => {
    const cases = [
      [['--prot', '80'], "error: unknown option '--prot'\n(Did you mean --port?)\n"],
      [['--port'], "error: option '--port <number>' argument missing\n"],
      [['serve'], 'error: too many arguments. Expected 0 arguments but got 1.\n'],
      [['--port', '99999'], 'register-api proxy: --port "99999": expected a whole number from 0 to 65535\n'],
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
});
