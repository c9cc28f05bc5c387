/** What the tests of the documents for finding records have in common. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'vitest';
import { inProcess } from '../../publish/support.js';
import { buildArgs } from '../../../support/cli.js';
import { PROJECT } from '../../../support/folder.js';
import { isForFinding, isSibling, readTree } from '../../../support/tree.js';

/** URL path -> body, of all documents for finding records. */
export function found(out: string): Record<string, string> {
  const documents = [...readTree(out)].filter(([file]) => isForFinding(file) && !isSibling(file));
  return Object.fromEntries(documents.map(([file, { text }]) => [`/${file.replace(/\.json$/, '')}`, text]));
}

/** What a script in Python expects of them. */
export function expected(register: string): Record<string, string> {
  const lines = execFileSync(
    'python3',
    [join(PROJECT, 'test/generator/outputs/lookup/expected.py'), register],
    {
      encoding: 'utf8',
      env: { ...process.env, PYTHONIOENCODING: 'utf-8' },
      maxBuffer: 1e9,
    },
  );
  return Object.fromEntries(
    lines
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => [line.slice(0, line.indexOf('\t')), line.slice(line.indexOf('\t') + 1)]),
  );
}

/** Builds a tree, or the next snapshot of one. */
export async function build(register: string, out: string): Promise<void> {
  const { code, stderr } = await inProcess(...buildArgs(register, out));
  expect(stderr).toBe('');
  expect(code).toBe(0);
}

/** Builds a tree in a new folder. */
export async function builtIn(out: string, register: string): Promise<string> {
  await build(register, out);
  return out;
}
