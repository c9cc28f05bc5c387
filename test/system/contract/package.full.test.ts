/** The package as others install it: its programs by name, from any folder, and its npm scripts. */
import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { PROJECT, newFolder, temporary } from '../../support/folder.js';
import { fields } from '../../support/values.js';
import { freePort } from '../../support/ports.js';

const path = temporary();
const folder = path('package');
const root = join(folder, 'package');
const bin = join(folder, 'bin');

function run(cwd: string, command: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

const script = (cwd: string, name: string, ...args: string[]) =>
  run(cwd, 'npm', '--prefix', root, 'run', '-s', name, '--', ...args);

beforeAll(() => {
  mkdirSync(bin, { recursive: true });
  run(PROJECT, 'npm', 'pack', '--ignore-scripts', '--pack-destination', folder);
  const archive = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
  run(folder, 'tar', '-xzf', archive);
  symlinkSync(join(PROJECT, 'node_modules'), join(root, 'node_modules'));
  const { bin: programs } = fields(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  for (const [name, file] of Object.entries(fields(programs))) {
    // As npm does when it installs a package.
    chmodSync(join(root, String(file)), 0o755);
    symlinkSync(join(root, String(file)), join(bin, name));
  }
});

/** `npm start` as a process group of its own, gone after the test. */
function start(environment: Record<string, string>, ...options: readonly string[]) {
  const env = { ...process.env, ...environment };
  const child = spawn('npm', ['start', '--', ...options], { cwd: root, env, detached: true });
  let heard = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => (heard += data.toString('utf8')));
  const ended = new Promise<number | null>((settle) => child.on('close', settle));
  onTestFinished(() => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  });
  return { heard: () => heard, ended, stop: () => child.kill('SIGTERM') };
}

it('the package has programs that run by name through links, in the folder of the user', () => {
  // And no tests.
  expect(readdirSync(join(root, 'build')).toSorted()).toEqual(['assets', 'chunks', 'generator', 'proxy']);
  const user = path('user');
  mkdirSync(join(user, 'data'), { recursive: true });
  const program = join(bin, 'register-api');
  const sample = run(user, program, 'sample', '--records', '20', '--quiet');
  expect(sample).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(run(user, program, 'build', '--quiet')).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(existsSync(join(user, 'dist/downloads/groups.parquet'))).toBe(true);
  for (const name of ['register-api', 'register-api-proxy'])
    expect(run(user, join(bin, name), '--version')).toMatchObject({ code: 0, stdout: '0.1.0\n' });
});

it('an upgrade of a template alone is published', () => {
  const user = path('user');
  mkdirSync(join(user, 'data'), { recursive: true });
  const program = join(bin, 'register-api');
  run(user, program, 'sample', '--records', '20', '--quiet');
  run(user, program, 'build', '--quiet');
  expect(run(user, program, 'build').stdout).toContain('Nothing changed since snapshot 1');
  appendFileSync(join(root, 'generator/outputs/pages/templates/feeds.eta'), '<!-- of a later version -->');
  expect(run(user, program, 'build').stdout).toContain('Published snapshot 2');
});

describe('the npm scripts', () => {
  it('take relative paths from the folder of the user, and their defaults from the package', () => {
    const user = newFolder(path('user'));
    const { stdout } = script(user, 'snapshot', 'sample', '--records', '20', '--out', 'typed.sqlite');
    expect(stdout).toMatch(/ to typed\.sqlite\n$/);
    expect(existsSync(join(user, 'typed.sqlite'))).toBe(true);
    const { code, stderr } = script(user, 'proxy', '--dist', 'typed.sqlite', '--port', '0');
    expect([code, stderr]).toEqual([3, 'register-api proxy: --out "typed.sqlite": expected a folder\n']);
    const missing = script(join(root, 'docs'), 'snapshot', 'check', '--register', '../none.sqlite');
    expect(missing).toMatchObject({ code: 3, stderr: 'error: register "../none.sqlite" does not exist\n' });
    const sample = script(join(root, 'docs'), 'snapshot', 'sample', '--records', '20');
    expect(sample.stdout).toMatch(/ to \.\.\/data\/register\.sqlite\n$/);
    expect(existsSync(join(root, 'data/register.sqlite'))).toBe(true);
  });

  it('start: the pages name the port of PROXY_PORT, and the banner the address', async () => {
    const port = await freePort();
    const started = start({ PROXY_PORT: String(port) });
    const base = `http://127.0.0.1:${port}`;
    await expect.poll(started.heard, { timeout: 60_000 }).toContain(` on ${base} serving `);
    expect(readFileSync(join(root, 'dist/developers.html'), 'utf8')).toContain(`${base}/api/v1/`);
    // The port is taken now.
    const second = start({ PROXY_PORT: String(port) });
    expect(await second.ended).toBe(3);
    expect(second.heard()).toContain('the port is taken, choose another with --port or PROXY_PORT');
    started.stop();
    await started.ended;
    expect(started.heard()).toContain('SIGTERM: finishing what is in flight');
    await expect(fetch(base)).rejects.toThrow('fetch failed');
  });

  it.each([
    ['--host 127.0.0.2 --port=PORT --max-connections 90', '127.0.0.2', '127.0.0.2'],
    // All addresses of the machine, by the one that a browser on it takes.
    ['--host :: --port PORT', '[::]', '127.0.0.1'],
  ])('start -- %s: the pages name the port and the host', async (options, listening, named) => {
    const port = String(await freePort());
    const started = start({ PROXY_PORT: '9' }, ...options.replace('PORT', port).split(' '));
    await expect.poll(started.heard, { timeout: 60_000 }).toContain(`http://${listening}:${port} serving `);
    const base = `http://${named}:${port}`;
    const page = await (await fetch(`${base}/developers`)).text();
    expect(new Set(page.match(/http:\/\/[\w.[\]:]+/g))).toEqual(new Set([base]));
    expect(await (await fetch(`${base}/.well-known/api-catalog`)).text()).toContain(`"${base}/api/v1"`);
    started.stop();
    await started.ended;
    await expect(fetch(base)).rejects.toThrow('fetch failed');
  });
});
