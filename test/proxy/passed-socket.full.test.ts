import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';

import { has } from '../support/programs.js';
import { load, type Tally } from './load.js';
import { ask, tree } from './support.js';
import { freePort } from '../support/ports.js';
import { MAIN } from '../support/proxy.js';

const FILE = 'passed-socket.full.test.ts';
/** So many requests that no test meets the limit, and connections for the load. */
const FLAGS = ['--api-tokens', '1000000', '--max-connections-per-client', '5000'];

/**
 * As systemd does for a unit with Accept=no and a service with Restart=always: opens a socket, passes
 * it as descriptor 3 to a process, and starts that again when it ends. Prints the port, then the
 * process id of each start.
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
        os.execv(sys.argv[1], sys.argv[1:])
    print(pid, flush=True)
while True:
    start()
    os.wait()
`;

/** Starts a socket with a proxy on it, and waits until that serves. */
async function hold(...args: readonly string[]) {
  const child = spawn('/usr/bin/python3', ['-c', HOLDER, process.execPath, MAIN, ...args], {
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
  child.stderr.on('data', (data: Buffer) => (output += data.toString('utf8')));
  /** Waits until a proxy has begun to serve for the so-many-th time. */
  const serving = async (times: number): Promise<void> => {
    await expect.poll(() => output.split(' proxy on ').length - 1, { timeout: 10_000 }).toBe(times);
  };
  await serving(1);
  return { port: numbers[0] ?? 0, pid: () => numbers.at(-1) ?? 0, output: () => output, serving };
}

/** Clients of all kinds at once: in haste and at leisure, with new connections and kept ones. */
async function crowd(port: number, over: AbortSignal): Promise<Tally> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  onTestFinished(() => agent.destroy());
  const kinds = [{ agent: false }, { agent }, { agent: false, gapMs: 30 }, { agent, gapMs: 120 }] as const;
  const tally: Tally = {};
  const clients = Array.from({ length: 8 }, () => kinds.map((kind) => load(port, tally, over, kind)));
  await Promise.all(clients.flat());
  return tally;
}

describe.skipIf(!has(FILE, 'python3'))('A passed socket', () => {
  it('is served instead of --host and --port, which the banner says', async () => {
    const root = await tree();
    const taken = await freePort();
    const { port, output } = await hold('--dist', root, '--port', String(taken));
    expect(output()).toContain(
      `register-api proxy on http://127.0.0.1:${port} (socket passed by systemd) serving ${root} (snapshot 3`,
    );
    expect((await ask(port, '/api/v1')).status).toBe(200);
    await expect(ask(taken, '/api/v1')).rejects.toThrow('ECONNREFUSED');
  });

  it('refuses and resets nothing under load while its only proxy is restarted three times', async () => {
    const { port, pid, serving } = await hold('--dist', await tree(), ...FLAGS);
    const over = new AbortController();
    const ended = crowd(port, over.signal);
    for (let restarts = 1; restarts <= 3; restarts += 1) {
      await pause(400);
      process.kill(pid(), 'SIGHUP');
      await serving(restarts + 1);
    }
    await pause(400);
    over.abort();
    const { 200: served, ...failed } = await ended;
    expect(failed).toEqual({});
    expect(served).toBeGreaterThan(100);
  });
});

it.skipIf(!has(FILE, 'systemd'))('systemd-socket-activate passes its socket to the proxy', async () => {
  const port = await freePort();
  const root = await tree();
  const command = ['--listen', `127.0.0.1:${port}`, process.execPath, MAIN, '--dist', root];
  const child = spawn('systemd-socket-activate', command, { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  await expect
    .poll(async () => (await ask(port, '/api/v1').catch(() => undefined))?.status, { timeout: 10_000 })
    .toBe(200);
  // It becomes the proxy, which is the same process.
  child.kill('SIGHUP');
  expect(await once(child, 'close')).toEqual([0, null]);
});
