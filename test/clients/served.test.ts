/** The client that a service hands out itself: used as its guide says, by somebody who knows the URL alone. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { published } from '../support/build.js';
import { PROJECT, temporary } from '../support/folder.js';
import { startProxy, type RunningProxy } from '../support/proxy.js';
import { changeRegister, writeRegister } from '../support/register.js';
import { fields } from '../support/values.js';
import { rejectionOf, takeServedClient } from './support.js';

const run = promisify(execFile);
const path = temporary();
const out = path('dist');
const folder = path('reader');
let proxy: RunningProxy;

beforeAll(async () => {
  const register = writeRegister(path('register.sqlite'), {
    groups: [{ id: 7, name: 'seven', member_count: 5 }],
  });
  await published({ register, out });
  changeRegister(register, `UPDATE groups SET name = 'another'`);
  await published({ register, out });
  proxy = await startProxy(out);
  await takeServedClient(proxy.base, folder);
});

afterAll(() => proxy.stop());

describe('the served client', () => {
  it('is TypeScript that caches keep as long as a page, open to any origin', async () => {
    for (const file of ['client.ts', 'changes.ts']) {
      const { status, headers } = await proxy.get(`/clients/${file}`);
      expect([status, headers.get('content-type')]).toEqual([200, 'application/typescript; charset=utf-8']);
      expect(headers.get('cache-control')).toBe('public, max-age=300, stale-if-error=86400');
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    }
  });

  it('is the same whatever the register has', async () => {
    const empty = path('empty');
    await published({ register: writeRegister(path('register.sqlite'), {}), out: empty });
    for (const file of ['client.ts', 'changes.ts'])
      expect(readFileSync(join(empty, 'clients', file), 'utf8')).toBe(
        readFileSync(join(folder, file), 'utf8'),
      );
  });

  it('compiles in strict mode, with the types of what it reads', async () => {
    const options = ['--strict', '--noEmit', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes'];
    const syntax = ['--verbatimModuleSyntax', '--erasableSyntaxOnly', '--allowImportingTsExtensions'];
    const target = ['--target', 'es2022', '--lib', 'es2022,dom,dom.iterable', '--module', 'nodenext'];
    const tsc = join(PROJECT, 'node_modules/.bin/tsc');
    const { stdout } = await run(tsc, [...options, ...syntax, ...target, 'read.ts'], { cwd: folder });
    expect(stdout).toBe('');
    writeFileSync(
      join(folder, 'wrong.ts'),
      `import { RegisterClient } from './client.ts';
      const group = await new RegisterClient('${proxy.base}').get('/api/v1/group/{id}', { id: 7 });
      group.nothing;`,
    );
    const refused = run(tsc, [...options, ...syntax, ...target, 'wrong.ts'], { cwd: folder });
    expect(fields(await rejectionOf(refused))['stdout']).toContain("'nothing'");
  });

  it('runs as JavaScript in any Node, and follows changes', async () => {
    const made = join(folder, 'made');
    mkdirSync(made);
    // As the command of the guide: file by file, without a bundle.
    const entryPoints = ['client.ts', 'changes.ts'].map((file) => join(folder, file));
    await build({ entryPoints, outdir: made, logLevel: 'silent' });
    writeFileSync(join(made, 'package.json'), '{ "type": "module" }');
    // The program imports what its author saved: here JavaScript.
    const program = `import { RegisterClient } from './client.js';
      import { changesSince } from './changes.js';
      const register = new RegisterClient('${proxy.base}');
      const { name } = await register.get('/api/v1/group/{id}', { id: 7 });
      const index = await register.get('/changes/index.json');
      const position = { tree: index.tree, sequence: 1, digest: index.changes[0].from_digest };
      const kinds = [];
      for await (const { kind, path } of changesSince(register, position))
        if (kind === 'reached' || path === '/api/v1/group/7') kinds.push(kind);
      console.log(name, ...kinds);`;
    writeFileSync(join(made, 'follow.js'), program);
    const { stdout } = await run(process.execPath, ['follow.js'], { cwd: made });
    expect(stdout).toBe('another put reached\n');
  });
});
