import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT, temporary } from '../support/folder.js';

const path = temporary();

/** Runs `generator/run.mjs` in a project that has nothing else but some files. */
function run(files: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const folder = path('project');
  const script = join(folder, 'generator/run.mjs');
  cpSync(join(PROJECT, 'generator/run.mjs'), script);
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(join(folder, file), content);
  }
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

const PROGRAM = { 'build/generator/cli.mjs': 'console.log(process.argv.slice(2).join());' };

it('npm starts the compiled program with its arguments, and needs no compiler then', () => {
  const ran = run(PROGRAM, 'generator/cli.mjs', 'build', '--quiet');
  expect(ran).toEqual({ status: 0, stdout: 'build,--quiet\n', stderr: '' });
  expect(run(PROGRAM, 'prepare')).toEqual({ status: 0, stdout: '', stderr: '' });
});

it('npm says in a line what to do where nothing is compiled, or the compiler is missing', () => {
  const stderr = 'error: the programs are not compiled: run `npm run compile`\n';
  expect(run({}, 'generator/cli.js', 'build')).toEqual({ status: 3, stdout: '', stderr });
  const prepared = run({}, 'prepare');
  expect([prepared.status, prepared.stdout]).toEqual([1, '']);
  expect(prepared.stderr).toMatch(/^error: .* run `npm ci --include=dev`.*\n$/);
});
