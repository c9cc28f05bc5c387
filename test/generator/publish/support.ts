/** What the tests of publishing have in common; much of it is in test/support, for all. */
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'vitest';
import type { Progress } from '../../../generator/base/progress.js';
import { isCommitting } from '../../../generator/state/published.js';
import { Tree } from '../../../generator/tree/tree.js';
import { verify } from '../../../generator/programs/verify/verify.js';
import type { Damage } from '../../../generator/programs/verify/damage.js';
import { quiet } from '../../support/build.js';
import { hashesOf } from '../../support/published.js';
import { buildWith } from '../../support/site.js';
import { differing, inState, isDownload, isSibling } from '../../support/tree.js';
import { Killed } from './faults.js';

export { start, until } from '../../support/cli.js';
export { temporary } from '../../support/folder.js';
export { inProcess } from '../../support/in-process.js';
export * from '../../support/published.js';
export { ROWS, STEP, buildWith, failureOf } from '../../support/site.js';

/** Everything in a folder, empty folders too, with content, inode and times. */
export function wholeOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const { ino, mtimeNs } = lstatSync(path, { bigint: true });
      const content = entry.isFile()
        ? createHash('sha256').update(readFileSync(path)).digest('hex')
        : 'folder';
      return [relative(folder, path), `${content} ${ino} ${mtimeNs}`];
    }),
  );
}

const AT_REST = new Set(['state.sqlite', 'tree']);

/** What lies in the state of a tree at rest and should not. */
export const leftovers = (out: string): string[] =>
  readdirSync(inState(out)).filter((name) => !AT_REST.has(name));

/** What is wrong with a tree. */
export async function damageOf(out: string): Promise<readonly Damage[]> {
  return (await verify(new Tree(out), quiet())).damage;
}

const CHECKSUMS = 'downloads/SHA256SUMS';

/** Where the downloads are not what SHA256SUMS says, read as `sha256sum -c` does; nothing may lie beside them. */
function downloadsThatDisagree(out: string): string[] {
  const lines = readFileSync(join(out, CHECKSUMS), 'utf8').split('\n').slice(0, -1);
  const said = lines.map((line): [string, string] => [`downloads/${line.slice(66)}`, line.slice(0, 64)]);
  const found = Object.entries(hashesOf(out)).filter(
    ([file]) => isDownload(file) && !isSibling(file) && file !== CHECKSUMS,
  );
  return differing(Object.fromEntries(found), Object.fromEntries(said));
}

/** The tree is whole, the downloads by their own account too, and nothing lies about. */
export async function expectAtRest(out: string): Promise<void> {
  expect(leftovers(out)).toEqual([]);
  expect(downloadsThatDisagree(out)).toEqual([]);
  expect(await damageOf(out)).toEqual([]);
}

/** Progress that does something at each step of a phase: what it throws, stops the work. */
export function progressThat(
  title: string,
  atStep: (step: number) => void,
): { readonly progress: Progress; readonly steps: () => number } {
  let [now, step] = ['', 0];
  const progress: Progress = {
    start: (phase) => void (now = phase),
    blocking: async (work) => work(),
    note: () => undefined,
    finish: () => undefined,
    stop: () => undefined,
    // oxlint-disable-next-line promise/prefer-await-to-then
    advance: () => {
      if (now !== title) return undefined;
      step += 1;
      try {
        atStep(step);
        return undefined;
      } catch (error) {
        return Promise.reject(error instanceof Error ? error : new Error(String(error)));
      }
    },
  };
  return { progress, steps: () => step };
}

/** A build that dies within its commit. */
export async function interruptCommit(flags: Parameters<typeof buildWith>[0], atStep = 3): Promise<void> {
  const { progress } = progressThat('committing', (step) => {
    if (step === atStep) throw new Killed('dead within the commit');
  });
  await expect(buildWith(flags, { progress })).rejects.toThrow(Killed);
  expect(isCommitting(new Tree(flags.out))).toBe(true);
}

/** What some work throws; undefined if it does not. */
export const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
