/** What the tests of publishing have in common; much of it is in test/support, for all. */
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'vitest';
import type { Progress } from '../../../generator/base/progress.js';
import { Tree } from '../../../generator/tree/tree.js';
import { verify, type Damage } from '../../../generator/programs/verify/verify.js';
import { quiet } from '../../support/build.js';
import { buildWith } from '../../support/site.js';
import { contentOf } from '../../support/published.js';
import { differing, inState } from '../../support/tree.js';
import { Killed } from './faults.js';

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

const AT_REST = new Set(['lists', 'state.json', 'tree']);

/** What lies in the state of a tree at rest and should not. */
export const leftovers = (out: string) => readdirSync(inState(out)).filter((name) => !AT_REST.has(name));

export async function damageOf(out: string): Promise<readonly Damage[]> {
  return (await verify(new Tree(out), quiet())).report.damage;
}

/** The tree is whole, and nothing lies about. */
export async function expectAtRest(out: string, where = ''): Promise<void> {
  expect(leftovers(out), where).toEqual([]);
  expect(await damageOf(out), where).toEqual([]);
}

export async function expectTree(out: string, content: Record<string, string>, where = ''): Promise<void> {
  expect(differing(contentOf(out), content), where).toEqual([]);
  await expectAtRest(out, where);
}

/** Whether a commit has passed its point of no return, and is not over. */
export const isCommitting = (out: string): boolean => existsSync(inState(out, 'commit'));

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

export async function interruptCommit(flags: Parameters<typeof buildWith>[0], atStep = 3): Promise<void> {
  const { progress } = progressThat('committing', (step) => {
    if (step === atStep) throw new Killed('dead within the commit');
  });
  await expect(buildWith(flags, { progress })).rejects.toThrow(Killed);
  expect(isCommitting(flags.out)).toBe(true);
}
