/** Edge servers as processes, each with the configuration that `edge` writes. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createConnection } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { snapshot } from '../../support/cli.js';
import { freePort } from '../../support/ports.js';

export interface EdgeServer {
  readonly port: number;
  readonly base: string;
  readonly stop: () => Promise<void>;
}

/** Directives that have nginx keep its temporary files in a folder. */
export const temporariesIn = (folder: string): string =>
  ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder};`)
    .join(' ');

/** nginx over a tree. @param folder a new folder for its files @param options of `edge nginx` */
export async function startNginx(
  out: string,
  folder: string,
  options: readonly string[] = ['--trust-proxy', '127.0.0.1'],
): Promise<EdgeServer> {
  const port = await freePort();
  mkdirSync(folder);
  const file = `${folder}/nginx.conf`;
  const place = ['--out', out, '--listen', `127.0.0.1:${port}`, '--write', file];
  const { code, stderr } = await snapshot(['edge', 'nginx', ...place, ...options]);
  if (code !== 0) throw new Error(`edge nginx ended with ${code}: ${stderr}`);
  return await serve(port, folder, file);
}

export async function serve(port: number, folder: string, file: string): Promise<EdgeServer> {
  // Workers of root's nginx are nobody's, who can't read the folders of these tests.
  const user = process.getuid?.() === 0 ? ['-g', 'user root;'] : [];
  const args = ['-e', 'stderr', '-p', folder, '-c', file, ...user];
  return await serving(port, spawn('nginx', args, { stdio: 'pipe' }));
}

/** Varnish with its own configuration before a server. @param folder a new folder for its files */
export async function startVarnish(folder: string, backend: number): Promise<EdgeServer> {
  const port = await freePort();
  mkdirSync(folder);
  // Root's Varnish would become another user, who can't read the folders of these tests.
  const options = ['-j', 'none', '-F', '-n', folder, '-a', `127.0.0.1:${port}`];
  // With gzip support, which is the default, it would never ask for Brotli.
  options.push('-b', `127.0.0.1:${backend}`, '-p', 'http_gzip_support=off', '-s', 'malloc,32M');
  return await serving(port, spawn('varnishd', options, { stdio: 'pipe' }));
}

export async function serving(port: number, child: ChildProcess): Promise<EdgeServer> {
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (data: Buffer) => (said += data.toString()));
  const end = once(child, 'close');
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended: ${said}`);
    await pause(50);
  }
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await end;
  };
  return { port, base: `http://127.0.0.1:${port}`, stop };
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((settle) => {
    const socket = createConnection(port, '127.0.0.1', () => settle(true));
    socket.on('error', () => settle(false));
    socket.on('connect', () => socket.destroy());
  });
