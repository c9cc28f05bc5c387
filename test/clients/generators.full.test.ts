/** A client that a widely used generator makes of the description: strict TypeScript, and right answers. */
import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';
import { published } from '../support/build.js';
import { temporary } from '../support/folder.js';
import { writeFiles } from '../support/operator.js';
import { leaveOut } from '../support/programs.js';
import { startProxy } from '../support/proxy.js';
import { writeRegister } from '../support/register.js';

/** All need TypeScript 5 and run on Node 20, which is why they are installed apart from the project's. */
const PACKAGES = ['typescript@5.9.3', 'openapi-typescript@7.13.0', 'openapi-fetch@0.17.0'];

const isReachable = spawnSync('npm', ['view', 'openapi-fetch@0.17.0', 'version']).stdout.includes('0.17.0');
if (!isReachable) leaveOut('clients of other generators', 'the npm registry is out of reach');

const path = temporary();

/** Reads a record, a list, a catalog and an absent record. */
const program = (base: string): string => `
  import createClient from 'openapi-fetch';
  import type { paths } from './schema.js';
  const client = createClient<paths>({ baseUrl: '${base}' });
  const group = await client.GET('/api/v1/group/{id}', { params: { path: { id: 7 } } });
  if (group.data === undefined) throw new Error('no group 7');
  const name: string | null = group.data.name;
  // @ts-expect-error no field has this name, and no type allows every name
  group.data.nothing;
  const largest = await client.GET('/api/v1/largest', { params: { query: { limit: 1 } } });
  const first: number | undefined = largest.data?.groups[0]?.id;
  const catalog = await client.GET('/.well-known/api-catalog');
  const anchors: string[] | undefined = catalog.data?.linkset.map(({ anchor }) => new URL(anchor).pathname);
  const absent = await client.GET('/api/v1/group/{id}', { params: { path: { id: 8 } } });
  const status: number | undefined = absent.error?.status;
  console.log(name, first, anchors?.join(' '), absent.data, status);`;

it.runIf(isReachable)(
  'a client of openapi-typescript compiles strictly, and reads what is served',
  async () => {
    const [out, folder] = [path('dist'), path('clients')];
    const groups = [{ id: 7, name: 'seven', member_count: 5 }];
    await published({ register: writeRegister(path('register.sqlite'), { groups }), out });
    const proxy = await startProxy(out);
    onTestFinished(async () => void (await proxy.stop()));
    const manifest = '{ "private": true, "type": "module" }';
    writeFiles(folder, { 'package.json': manifest, 'read.ts': program(proxy.base) });
    copyFileSync(join(out, 'api/v1/openapi.json'), join(folder, 'openapi.json'));
    /** Runs a program that must succeed. @returns what it prints */
    const run = (...command: readonly [string, ...string[]]): string => {
      const [name, ...args] = command;
      const { status, stdout, stderr } = spawnSync(name, args, { cwd: folder, encoding: 'utf8' });
      expect(status, `${name}: ${stdout}${stderr}`).toBe(0);
      return stdout;
    };
    run('npm', 'install', '--silent', '--no-audit', '--no-fund', '--save-exact', ...PACKAGES);
    const bin = join(folder, 'node_modules/.bin');
    run(join(bin, 'openapi-typescript'), 'openapi.json', '-o', 'schema.d.ts');
    const target = ['--target', 'es2022', '--lib', 'es2022,dom,dom.iterable'];
    const modules = ['--module', 'esnext', '--moduleResolution', 'bundler'];
    run(join(bin, 'tsc'), '--strict', '--noEmit', ...target, ...modules, 'read.ts');
    const [read, outfile] = [join(folder, 'read.ts'), join(folder, 'read.mjs')];
    await build({ entryPoints: [read], bundle: true, platform: 'node', format: 'esm', outfile });
    expect(run(process.execPath, outfile)).toBe('seven 7 /.well-known/api-catalog /api/v1 undefined 404\n');
  },
);
