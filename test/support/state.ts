/** The private state of a tree, read and changed as with an editor. */
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { sumOfAll } from '../../generator/publish/lists.js';
import { snapshotHash } from '../../generator/tree/snapshot.js';
import { inState } from './tree.js';

const file = z.object({ sum: z.string(), state: z.record(z.string(), z.unknown()) });

/** What state.json says of the last commit. */
export const stateOf = (out: string): Record<string, unknown> =>
  file.parse(JSON.parse(readFileSync(inState(out, 'state.json'), 'utf8'))).state;

/** Has snapshot.json and the lists say something else, as if the last commit had written them. */
export function changePublished(out: string, change: (snapshot: string) => string): void {
  const snapshot = join(out, 'snapshot.json');
  const text = change(readFileSync(snapshot, 'utf8'));
  writeFileSync(snapshot, text);
  const state = { ...stateOf(out), snapshot: snapshotHash(text), lists: sumOfAll(inState(out, 'lists')) };
  const sum = createHash('sha256').update(JSON.stringify(state)).digest('hex');
  writeFileSync(inState(out, 'state.json'), JSON.stringify({ sum, state }));
}

/** Deletes what is known of the tree: the lists, and the rest. */
export function loseState(out: string): void {
  for (const part of ['lists', 'state.json']) rmSync(inState(out, part), { recursive: true, force: true });
}
