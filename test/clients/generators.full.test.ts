/** Clients that widely used generators make of the description: strict TypeScript, and right answers. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { published } from '../support/build.js';
import { temporary } from '../support/folder.js';
import { leaveOut } from '../support/programs.js';
import { startProxy, type RunningProxy } from '../support/proxy.js';
import { writeRegister } from '../support/register.js';

/** All need TypeScript 5 and run on Node 20, which is why they are installed apart from the project's. */
const PACKAGES = [
  'typescript@5.9.3',
  'openapi-typescript@7.13.0',
  'openapi-fetch@0.17.0',
  '@hey-api/openapi-ts@0.95.0',
];

const isReachable = spawnSync('npm', ['view', 'openapi-fetch@0.17.0', 'version']).stdout.includes('0.17.0');
if (!isReachable) leaveOut('clients of other generators', 'the npm registry is out of reach');

const path = temporary();
const out = path('dist');
const folder = path('clients');
let proxy: RunningProxy | undefined;

/** Runs a program that must succeed. @returns what it prints */
function run(program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' });
  expect(status, `${program}: ${stdout}${stderr}`).toBe(0);
  return stdout;
}
const installed = (program: string): string => join(folder, 'node_modules/.bin', program);

/** Compiles a program in strict mode. @returns what it prints */
async function compiledAndRun(name: string, code: string): Promise<string> {
  const made = join(folder, `${name}.mjs`);
  writeFileSync(join(folder, `${name}.ts`), code);
  const options = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2022,dom,dom.iterable'];
  const modules = ['--module', 'esnext', '--moduleResolution', 'bundler'];
  run(installed('tsc'), ...options, ...modules, `${name}.ts`);
  await build({
    entryPoints: [join(folder, `${name}.ts`)],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: made,
  });
  return run(process.execPath, made);
}

/** Reads a record, a list, a download and an absent record. @param get the request of a path */
const program = (get: (path: string, parameters?: string) => string): string => `
  const group = ${get('/api/v1/group/{id}', 'path: { id: 7 }')};
  if (group.data === undefined) throw new Error('no group 7');
  const name: string | null = group.data.name;
  // @ts-expect-error no field has this name, and no type allows every name
  group.data.nothing;
  const largest = ${get('/api/v1/largest', 'query: { limit: 1 }')};
  const first: number | undefined = largest.data?.groups[0]?.id;
  const catalog = ${get('/.well-known/api-catalog')};
  const anchors: string[] | undefined = catalog.data?.linkset.map(({ anchor }) => new URL(anchor).pathname);
  const absent = ${get('/api/v1/group/{id}', 'path: { id: 8 }')};
  const status: number | undefined = absent.error?.status;
  console.log(name, first, anchors?.join(' '), absent.data, status);`;
const PRINTED = 'seven 7 /.well-known/api-catalog /api/v1 undefined 404\n';

describe.runIf(isReachable)(
  'a client from the description compiles in strict mode and gets the name of',
  () => {
    beforeAll(async () => {
      const register = writeRegister(path('register.sqlite'), {
        groups: [{ id: 7, name: 'seven', member_count: 5 }],
      });
      await published({ register, out });
      mkdirSync(folder);
      writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
      copyFileSync(join(out, 'api/v1/openapi.json'), join(folder, 'openapi.json'));
      run('npm', 'install', '--silent', '--no-audit', '--no-fund', '--save-exact', ...PACKAGES);
      proxy = await startProxy(out);
    });
    afterAll(() => proxy?.stop());

    it('a group: openapi-typescript with openapi-fetch', async () => {
      run(installed('openapi-typescript'), 'openapi.json', '-o', 'schema.d.ts');
      const code = `import createClient from 'openapi-fetch';
      import type { paths } from './schema.js';
      const client = createClient<paths>({ baseUrl: '${proxy?.base}' });
      ${program((at, parameters = '') => `await client.GET('${at}', { params: { ${parameters} } })`)}`;
      expect(await compiledAndRun('fetch', code)).toBe(PRINTED);
    });

    it('a group: @hey-api/openapi-ts', async () => {
      run(installed('openapi-ts'), '-i', 'openapi.json', '-o', 'hey');
      const names = ['getGroup', 'getLargest', 'getApiCatalog'];
      const operation = (at: string): string =>
        names[['/api/v1/group/{id}', '/api/v1/largest', '/.well-known/api-catalog'].indexOf(at)] ?? '';
      const code = `import { ${names.join(', ')} } from './hey/index';
      const baseUrl = '${proxy?.base}';
      ${program((at, parameters = '') => `await ${operation(at)}({ baseUrl, ${parameters} })`)}`;
      expect(await compiledAndRun('hey-api', code)).toBe(PRINTED);
    });
  },
);
