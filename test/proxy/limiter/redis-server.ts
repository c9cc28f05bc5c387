import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leaveOut } from '../../support/programs.js';
import { freePort } from '../../support/ports.js';

const REDIS_PROGRAM = ['redis-server', 'valkey-server'].find(
  (program) => spawnSync(program, ['--version']).status === 0,
);

/** Whether there is one; otherwise a file of tests is noted as left out. */
export function hasRedis(file: string): boolean {
  if (REDIS_PROGRAM === undefined) {
    leaveOut(file, 'no redis-server and no valkey-server (Debian: apt-get install redis-server)');
  }
  return REDIS_PROGRAM !== undefined;
}

export type TestRedis = Awaited<ReturnType<typeof startRedis>>;

/**
 * A real Redis, or Valkey, of the test's own, in a folder that goes with it.
 * @param settings as on its command line
 * @param on a free TCP port of 127.0.0.1, or a socket and no port at all
 */
export async function startRedis(settings: readonly string[] = [], on: 'port' | 'socket' = 'port') {
  if (REDIS_PROGRAM === undefined) throw new Error('no redis-server in PATH');
  const folder = mkdtempSync(join(tmpdir(), 'proxy-test-redis-'));
  const socket = join(folder, 'redis.sock');
  const port = on === 'socket' ? 0 : await freePort();
  const place = on === 'socket' ? ['--unixsocket', socket] : ['--bind', '127.0.0.1'];
  let child: ChildProcess | undefined;

  /** Starts it again after kill, on the same port, empty. */
  const restart = async (): Promise<void> => {
    const common = ['--port', String(port), ...place, '--dir', folder, '--save', '', '--appendonly', 'no'];
    const started = spawn(REDIS_PROGRAM, [...common, ...settings], { stdio: ['ignore', 'pipe', 'ignore'] });
    child = started;
    await new Promise<void>((settle, reject) => {
      started.once('exit', (code) => reject(new Error(`redis-server ended with ${code}`)));
      started.stdout.on('data', (said) => /ready to accept connections/i.test(String(said)) && settle());
    });
  };
  /** SIGKILL: the connections break, the data is gone. */
  const kill = async (): Promise<void> => {
    const killed = child;
    child = undefined;
    if (killed?.kill('SIGKILL') === true) await once(killed, 'exit');
  };
  await restart();
  return {
    port,
    url: on === 'socket' ? `unix:${socket}` : `redis://127.0.0.1:${port}`,
    name: on === 'socket' ? socket : `127.0.0.1:${port}`,
    /** SIGSTOP freezes it with its connections open, SIGCONT wakes it. */
    signal: (signal: 'SIGSTOP' | 'SIGCONT') => void child?.kill(signal),
    kill,
    restart,
    remove: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
