import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
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

describe('what npm starts', () => {
  it('is the compiled program with its arguments', () => {
    const ran = run(PROGRAM, 'generator/cli.mjs', 'build', '--quiet');
    expect(ran).toEqual({ status: 0, stdout: 'build,--quiet\n', stderr: '' });
  });

  it('says in a line what to do where nothing is compiled', () => {
    expect(run({}, 'generator/cli.js', 'build')).toEqual({
      status: 3,
      stdout: '',
      stderr: 'error: the programs are not compiled: run `npm run compile`\n',
    });
  });

  it('says what to install where nothing is compiled, and the compiler is missing', () => {
    const { status, stdout, stderr } = run({}, 'prepare');
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^error: .* run `npm ci --include=dev`.*\n$/);
  });

  it('needs no compiler where the programs are compiled', () => {
    expect(run(PROGRAM, 'prepare')).toEqual({ status: 0, stdout: '', stderr: '' });
  });
});
