import { spawn } from 'node:child_process';
import { Agent } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';

import { has } from '../support/programs.js';
import { load, total, type Tally } from './load.js';
import { listening, MAIN } from './process.js';
import { ask, tree } from './support.js';
import { freePort } from '../support/ports.js';

const FILE = 'passed-socket.full.test.ts';
/** So many requests that no test meets the limit, and connections for the load. */
const FLAGS = ['--api-tokens', '1000000', '--max-connections-per-client', '5000'];

/**
 * As systemd does for a unit with Accept=no and services with Restart=always: opens a socket, passes
 * it as descriptor 3 to as many processes as the first argument says, and starts each again when it
 * ends. Prints the port, then the process id of each start.
 */
const HOLDER = `
import os, socket, sys
listener = socket.create_server(('127.0.0.1', 0), backlog=4096)
os.set_inheritable(listener.fileno(), True)
print(listener.getsockname()[1], flush=True)
def start():
    pid = os.fork()
    if pid == 0:
        os.dup2(listener.fileno(), 3)
        os.environ.update(LISTEN_FDS='1', LISTEN_PID=str(os.getpid()))
        os.execv(sys.argv[2], sys.argv[2:])
    print(pid, flush=True)
for _ in range(int(sys.argv[1])): start()
while True:
    os.wait()
    start()
`;

interface Holder {
  readonly port: number;
  /** The process ids so far. */
  readonly pids: readonly number[];
  readonly output: () => string;
}

/** Starts a socket with so many proxies on it, and waits until they serve. */
async function hold(instances: number, args: readonly string[]): Promise<Holder> {
  const command = [process.execPath, MAIN, ...args];
  const child = spawn('/usr/bin/python3', ['-c', HOLDER, String(instances), ...command], {
    env: { PATH: '/bin' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const { pid: group = 0 } = child;
  onTestFinished(() => void process.kill(-group, 'SIGKILL'));
  const numbers: number[] = [];
  let output = '';
  createInterface(child.stdout).on('line', (line) => {
    if (/^\d+$/.test(line)) numbers.push(Number(line));
    else output += `${line}\n`;
  });
  child.stderr.on('data', (data: Buffer) => {
    output += data.toString('utf8');
  });
  await expect.poll(() => output.split('Try:').length - 1, { timeout: 10_000 }).toBe(instances);
  return {
    port: numbers[0] ?? 0,
    get pids() {
      return numbers.slice(1);
    },
    output: () => output,
  };
}

/** Clients of all kinds at once: in haste and at leisure, with new connections and kept ones. */
function crowd(port: number, over: AbortSignal): Promise<Tally[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  onTestFinished(() => agent.destroy());
  const clients = Array.from({ length: 8 }, () => [
    load(port, { agent: false }, over),
    load(port, { agent }, over),
    load(port, { agent: false, gapMs: 30 }, over),
    load(port, { agent, gapMs: 120 }, over),
  ]);
  return Promise.all(clients.flat());
}

describe.skipIf(!has(FILE, 'python3'))('A passed socket', () => {
  it('is served instead of --host and --port, which the banner says', async () => {
    const root = await tree();
    const taken = await freePort();
    const { port, output } = await hold(1, ['--dist', root, '--port', String(taken), '--admin-port', '0']);
    expect(output()).toContain(
      `register-api proxy on http://127.0.0.1:${port} (socket passed by systemd) serving ${root} (snapshot 3`,
    );
    expect(output()).toContain(`  http://127.0.0.1:${port}/api/v1/group/7\n`);
    expect((await ask(port, '/api/v1')).status).toBe(200);
    await expect(ask(taken, '/api/v1')).rejects.toThrow('ECONNREFUSED');
    const admin = Number(/operations on http:\/\/127\.0\.0\.1:(\d+)/.exec(output())?.[1]);
    expect((await ask(admin, '/readyz')).status).toBe(200);
  });

  it.each(['SIGHUP', 'SIGTERM'] as const)(
    'refuses and resets nothing under load while its only proxy is restarted five times by %s',
    async (signal) => {
      const holder = await hold(1, ['--dist', await tree(), ...FLAGS]);
      const over = new AbortController();
      const ended = crowd(holder.port, over.signal);
      for (let restarts = 1; restarts <= 5; restarts += 1) {
        await pause(400);
        process.kill(holder.pids.at(-1) ?? 0, signal);
        await expect
          .poll(() => holder.output().split('Try:').length - 1, { timeout: 10_000 })
          .toBe(restarts + 1);
      }
      await pause(400);
      over.abort();
      const tallies = await ended;
      expect(Object.keys(total(tallies))).toEqual(['200']);
      expect(total(tallies)[200]).toBeGreaterThan(1_000);
      expect(holder.output().split(`${signal}: finishing what is in flight`)).toHaveLength(6);
    },
    60_000,
  );
});

describe('A socket passed to another process', () => {
  it('is ignored with a line, as by a script that starts the proxy without exec', async () => {
    const variables = { LISTEN_FDS: '1', LISTEN_PID: '1' };
    const { port, output } = await listening(['--dist', await tree()], variables);
    expect(output.stderr).toContain('ignoring LISTEN_FDS: LISTEN_PID is "1", ');
    expect(output.stdout).not.toContain('systemd');
    expect((await ask(port, '/api/v1')).status).toBe(200);
  });
});

describe.skipIf(!has(FILE, 'systemd'))('systemd-socket-activate', () => {
  it('passes its socket to the proxy', async () => {
    const port = await freePort();
    const root = await tree();
    const command = ['--listen', `127.0.0.1:${port}`, process.execPath, MAIN, '--dist', root];
    const child = spawn('systemd-socket-activate', command, { stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    await expect
      .poll(async () => (await ask(port, '/api/v1').catch(() => undefined))?.status, { timeout: 10_000 })
      .toBe(200);
    // It becomes the proxy, which is the same process.
    const ended = new Promise((settle) => {
      child.once('close', settle);
    });
    child.kill('SIGHUP');
    expect(await ended).toBe(0);
  });
});
