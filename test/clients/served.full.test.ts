/** The served client without a build: in a Node that leaves out types, and in the compilers of other projects. */
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { published } from '../support/build.js';
import { temporary } from '../support/folder.js';
import { leaveOut } from '../support/programs.js';
import { startProxy, type RunningProxy } from '../support/proxy.js';
import { writeRegister } from '../support/register.js';
import { takeServedClient } from './support.js';

const NODE = 'node@24';
const isReachable = spawnSync('npm', ['view', NODE, 'version']).stdout.includes('24.');
if (!isReachable) leaveOut('the served client in other versions', 'the npm registry is out of reach');

const path = temporary();
const out = path('dist');
const folder = path('reader');
let proxy: RunningProxy | undefined;

/** Runs a program of a package that must succeed. @returns what it prints */
function run(name: string, ...command: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('npx', ['-y', '-p', name, ...command], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(status, `${name}: ${stdout}${stderr}`).toBe(0);
  return stdout;
}

describe.runIf(isReachable)('the served client', () => {
  beforeAll(async () => {
    const register = writeRegister(path('register.sqlite'), {
      groups: [{ id: 7, name: 'seven', member_count: 5 }],
    });
    await published({ register, out });
    proxy = await startProxy(out);
    await takeServedClient(proxy.base, folder);
  });

  afterAll(() => proxy?.stop());

  it('runs in Node 24 as it is', () => {
    expect(run(NODE, 'node', 'read.ts')).toBe('seven\n');
  });

  it.each(['5.1.6', '5.9.3', '6.0.3'])('compiles in strict mode with TypeScript %s', (version) => {
    const options = ['--strict', '--noEmit', '--allowImportingTsExtensions', '--verbatimModuleSyntax'];
    const target = ['--target', 'es2022', '--lib', 'es2022,dom,dom.iterable', '--module', 'esnext'];
    const files = ['--moduleResolution', 'bundler', 'read.ts'];
    expect(run(`typescript@${version}`, 'tsc', ...options, ...target, ...files)).toBe('');
  });
});
