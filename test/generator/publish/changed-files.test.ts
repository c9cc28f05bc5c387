/** What a commit changed is known until a build has listed it. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { writeLists } from '../../../generator/publish/lists.js';
import { Tree } from '../../../generator/tree/tree.js';
import { temporary } from '../../support/folder.js';
import { hashesOf } from '../../support/published.js';
import { stateRows } from '../../support/state.js';
import { namesThatDiffer } from '../../support/tree.js';
import { LONG, publish, route } from './small.js';

const path = temporary();

const ROUTES = [route('a', '/a/{id}', 'a/{id}.json'), route('b', '/b/{id}', 'b/{id}/all.json')];

/** Publishes one of many versions: each changes a document, adds one and removes one; some have siblings. */
async function change(out: string, count: number): Promise<void> {
  const a = { 1: `${count % 3 === 0 ? LONG : ''}${count}`, [count + 2]: count % 2 === 0 ? LONG : 'x' };
  await publish(out, { routes: ROUTES, documents: { a, b: { 1: 'x' } } });
}

/** The files in the lists that a build writes at its end. */
function listed(out: string): readonly string[] {
  const lists = { filesFrom: path('files'), deleteFrom: path('gone') };
  writeLists(new Tree(out), '', lists);
  const lines = Object.values(lists).flatMap((file) => readFileSync(file, 'utf8').split('\n'));
  return [...new Set(lines.filter((line) => line !== ''))].toSorted();
}

/** The sequences of the commits of which it is known what they changed. */
const commitsIn = (out: string): unknown[] =>
  stateRows(out, 'SELECT sequence FROM snapshot ORDER BY number').map(({ sequence }) => sequence);

it('the lists are of all commits since the last one that a build has listed, and those before are forgotten', async () => {
  const out = path('dist');
  await change(out, 0);
  listed(out);
  const before = hashesOf(out);
  for (let count = 1; count <= 5; count += 1) await change(out, count);
  expect(commitsIn(out)).toEqual([2, 3, 4, 5, 6]);
  // Others were added and removed meanwhile.
  expect(listed(out)).toEqual(expect.arrayContaining(namesThatDiffer(hashesOf(out), before)));
  await change(out, 6);
  expect(commitsIn(out)).toEqual([7]);
});
