/** Trees that somebody spoiled, and commits that meet them: each document is published where it belongs. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporary } from '../../support/folder.js';
import { contentOf } from '../../support/published.js';
import { changeRegister } from '../../support/register.js';
import { buildWith, failureOf, pair, type Pair } from '../../support/site.js';
import { differing } from '../../support/tree.js';
import { damageOf, interruptCommit, leftovers } from './support.js';

const path = temporary();
const HISTORY = 'group/6/history.json';
let both: Pair;
beforeAll(async () => {
  both = await pair(path);
});

it('an interrupted commit is completed although the register can be published no more', async () => {
  const { registers, trees, tree } = await pair(path);
  const out = tree();
  await interruptCommit({ register: registers[1], out });
  expect(await damageOf(out)).not.toEqual([]);
  changeRegister(registers[1], 'PRAGMA user_version = 9');
  await failureOf(buildWith({ register: registers[1], out }));
  expect(differing(contentOf(out), trees[1])).toEqual([]);
  expect(await damageOf(out)).toEqual([]);
});

describe.each(['before the build', 'within its commit'])('a document that changes, %s', (when) => {
  it.each([
    ['a file is in the place of its folder', 'group/6', 'file'],
    ['the folder of all like it is gone', 'group', undefined],
    ['a folder is in its place', HISTORY, 'folder'],
  ])('is published where it belongs, though %s', async (_, spoiled, left) => {
    const flags = { register: both.registers[1], out: both.tree() };
    const { out } = flags;
    if (when === 'within its commit') await interruptCommit(flags, 1);
    rmSync(join(out, spoiled), { recursive: true });
    if (left === 'file') writeFileSync(join(out, spoiled), 'in the way');
    if (left === 'folder') mkdirSync(join(out, spoiled, 'in the way'), { recursive: true });
    await buildWith(flags);
    const found = contentOf(out);
    for (const file of [HISTORY, 'api/v1/group/6.json']) expect(found[file]).toBe(both.trees[1][file]);
    expect(leftovers(out)).toEqual([]);
  });
});
