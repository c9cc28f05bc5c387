/** The client that a service hands out itself: used as its guide says, by somebody who knows the URL alone. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROJECT, temporary } from '../support/folder.js';
import { has, leaveOut } from '../support/programs.js';
import { isThorough, thorough } from '../support/thorough.js';
import { startProxy, type RunningProxy } from '../support/proxy.js';
import { rowsOf } from '../support/register.js';
import { siteOf } from '../support/site.js';
import { run as python } from './python.js';

const run = promisify(execFile);
const path = temporary();
const { out } = await siteOf(path, { groups: [{ id: 7, name: 'seven', member_count: 5 }] });
const folder = path('reader');
let proxy: RunningProxy;

beforeAll(async () => {
  proxy = await startProxy(out);
  // As somebody saves it, along with a program that reads group 7 and can follow changes.
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  for (const file of ['client.ts', 'changes.ts']) {
    const response = await fetch(`${proxy.base}/clients/${file}`);
    writeFileSync(join(folder, file), await response.text());
  }
  const program = `import { RegisterClient } from './client.ts';
    import { changesSince, type Change } from './changes.ts';
    const register = new RegisterClient('${proxy.base}');
    const group = await register.get('/api/v1/group/{id}', { id: 7 });
    const name: string | null = group.name;
    // @ts-expect-error no field has this name
    group.nothing;
    export const follow: (at: { tree: string; sequence: number; digest: string }) => AsyncGenerator<Change> =
      (at) => changesSince(register, at);
    console.log(name);`;
  writeFileSync(join(folder, 'read.ts'), program);
});

afterAll(() => proxy.stop());

const TARGET = ['--target', 'es2022', '--lib', 'es2022,dom,dom.iterable'];

const npx = async (name: string, ...command: readonly string[]): Promise<string> =>
  (await run('npx', ['-y', '-p', name, ...command], { cwd: folder })).stdout;

describe('the served client', () => {
  it('runs as JavaScript in any Node, made of it as its guide says', async () => {
    const made = join(folder, 'made');
    const own = readFileSync(join(folder, 'read.ts'), 'utf8').replaceAll(".ts'", ".js'");
    writeFileSync(join(folder, 'main.ts'), own);
    // File by file, without a bundle.
    const entryPoints = ['client', 'changes', 'main'].map((file) => join(folder, `${file}.ts`));
    await build({ entryPoints, outdir: made, logLevel: 'silent' });
    const { stdout } = await run(process.execPath, ['main.js'], { cwd: made });
    expect(stdout).toBe('seven\n');
  });

  thorough('compiles in strict mode, with the types of what it reads', async () => {
    const options = ['--strict', '--noEmit', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes'];
    const syntax = ['--verbatimModuleSyntax', '--erasableSyntaxOnly', '--allowImportingTsExtensions'];
    const tsc = join(PROJECT, 'node_modules/.bin/tsc');
    const { stdout } = await run(tsc, [...options, ...syntax, ...TARGET, '--module', 'nodenext', 'read.ts'], {
      cwd: folder,
    });
    expect(stdout).toBe('');
  });

  const isReachable = isThorough && spawnSync('npm', ['view', 'node@24', 'version']).stdout.includes('24.');
  if (isThorough && !isReachable)
    leaveOut('the served client in other versions', 'the npm registry is out of reach');

  it.runIf(isReachable)('runs in Node 24, and compiles with the TypeScript that it names', async () => {
    // What npm init makes, and what the guide says to do about it.
    const manifest = join(folder, 'package.json');
    const before = readFileSync(manifest);
    writeFileSync(manifest, '{ "name": "reader", "version": "1.0.0", "type": "commonjs" }');
    await expect(npx('node@24', 'node', 'read.ts')).rejects.toThrow(/import|export/);
    const guide = readFileSync(join(out, 'developers/guides/tools.html'), 'utf8');
    const [command = ''] = /npm pkg set type=module/.exec(guide) ?? [];
    await run('sh', ['-c', command], { cwd: folder });
    expect(await npx('node@24', 'node', 'read.ts')).toBe('seven\n');
    writeFileSync(manifest, before);
    const options = ['--strict', '--noEmit', '--allowImportingTsExtensions', '--verbatimModuleSyntax'];
    for (const version of ['5.1.6', '6.0.3']) {
      const args = [...options, ...TARGET, '--module', 'esnext', '--moduleResolution', 'bundler', 'read.ts'];
      expect(await npx(`typescript@${version}`, 'tsc', ...args), version).toBe('');
    }
  });
});

it.skipIf(!has('the served scripts', 'python3'))('the served scripts make copies', async () => {
  for (const [file, copy] of [
    ['follow.py', 'register.sqlite'],
    ['mirror.py', 'copy'],
  ] as const) {
    const response = await fetch(`${proxy.base}/clients/${file}`);
    expect(response.headers.get('content-type')).toBe('text/x-python; charset=utf-8');
    const text = await response.text();
    expect(text).toMatch(/^#!.*\n# MIT License$/m);
    writeFileSync(join(folder, file), text);
    expect(await python(join(folder, file), proxy.base, join(folder, copy))).toBe('');
  }
  expect(rowsOf(join(folder, 'register.sqlite'), 'SELECT name FROM groups')).toEqual([['seven']]);
  expect(readFileSync(join(folder, 'copy/api/v1/group/7.json'), 'utf8')).toContain('"seven"');
});
