/** What a build does where its state is missing, damaged, of another tree or of an earlier version: it needs none. */
import { cpSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { Dice } from '../../../data/sample/dice.js';
import { readKnown } from '../../../generator/publish/state.js';
import { Tree } from '../../../generator/tree/tree.js';
import { writeFiles } from '../../support/operator.js';
import { changeRegister } from '../../support/register.js';
import { fresh, pair, site, buildWith } from '../../support/site.js';
import { loseState } from '../../support/state.js';
import { always, it, some, thorough } from '../../support/thorough.js';
import { differing, inState, pathsBelow } from '../../support/tree.js';
import { matching } from '../../support/values.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { contentOf, indexOf, snapshotOf } from '../../support/published.js';
import FORMAT_4 from './format-4.json' with { type: 'json' };
import { expectTree, interruptCommit, expectAtRest } from './support.js';

const path = temporary();

const GROUPS = 'lists/group/0000000000000000.sha256';
const STATE = 'state.json';

function replace(out: string, part: string, from: RegExp, to: string): void {
  const text = readFileSync(inState(out, part), 'utf8');
  expect(text).toMatch(from);
  writeFileSync(inState(out, part), text.replace(from, to));
}
const remove = (out: string, part: string): void => rmSync(inState(out, part), { recursive: true });
function swap(out: string, other: string, part: string): void {
  remove(out, part);
  cpSync(inState(other, part), inState(out, part), { recursive: true });
}

const SPOILT: Readonly<Record<string, (out: string, other: string) => void>> = {
  'without the lists of a route': (out) => remove(out, 'lists/group'),
  'that is of another tree': (out, other) => ['lists', STATE].forEach((part) => swap(out, other, part)),
  'with a hash of another document': (out) => replace(out, GROUPS, /^[0-9a-f]{4}/, '0000'),
  'with a line too few': (out) => replace(out, GROUPS, /^.*\n/, ''),
  'with a line of no document': (out) =>
    replace(out, GROUPS, /$/, `${'0'.repeat(64)}  api/v1/group/999.json\n`),
  'with lists of another tree': (out, other) => swap(out, other, 'lists'),
  'with a state.json that is cut off': (out) => replace(out, STATE, /.{50}$/s, ''),
  'with a state.json that says something else': (out) => replace(out, STATE, /"rows":\d+/, '"rows":1'),
  'with a file in the place of lists': (out) => {
    remove(out, 'lists');
    writeFileSync(inState(out, 'lists'), 'a file');
  },
};

const both = await pair(path);
/** A tree of another id, and of more snapshots. */
const another = path('other');
for (const register of both.registers) await buildWith({ register, out: another });

describe('a state', () => {
  always.each(some(Object.entries(SPOILT), 2))('%s is named by verify, and not needed', async (_, spoil) => {
    const out = both.tree();
    spoil(out, another);
    const stdout = matching(/^(missing|altered): \.\d+-dist-state\//);
    expect(await inProcess('verify', '--quiet', '--out', out)).toMatchObject({ code: 1, stdout });
    await buildWith({ register: both.registers[1], out });
    expect(differing(contentOf(out), both.trees[1])).toEqual([]);
    const { sequence, oldest, changes } = indexOf(out);
    expect([sequence, oldest, changes.length]).toEqual([2, 2, 1]);
    expect(changes[0]).toMatchObject({ from: null, from_digest: null, bundle: null });
    await expectAtRest(out);
  });

  always('is not known once any bit of it is flipped', () => {
    const [out, dice] = [both.tree(), new Dice(1, 'flips', 0)];
    const lists = pathsBelow(inState(out, 'lists'), (entry) => entry.isFile()).map((list) => `lists/${list}`);
    for (let flip = 0; flip < 40; flip += 1) {
      const part = flip % 4 === 0 ? STATE : (lists[dice.below(lists.length)] ?? STATE);
      const content = readFileSync(inState(out, part));
      const [at, bit] = [dice.below(content.length), dice.below(8)];
      const flipped = content.map((byte, index) => (index === at ? byte ^ (1 << bit) : byte));
      writeFileSync(inState(out, part), flipped);
      expect(readKnown(new Tree(out)).lists, `bit ${bit} of byte ${at} of ${part}`).toBeNull();
      writeFileSync(inState(out, part), content);
    }
    expect(readKnown(new Tree(out)).lists).not.toBeNull();
  });
});

it('what is withheld counts as newly withheld where the state is lost: downloads are written, no bundle stays', async () => {
  const made = await site(path);
  await made.build(`INSERT INTO withheld VALUES ('item', 3, '2026-12-01T00:00:00Z')`);
  expect(existsSync(join(made.out, 'changes/2.ndjson.gz'))).toBe(true);
  loseState(made.out);
  await made.build('', { keepDownloads: true });
  expect(indexOf(made.out)).toMatchObject({ sequence: 3, downloads: { sequence: 3 } });
  expect(readdirSync(join(made.out, 'changes'))).toEqual(['index.json']);
  await expectAtRest(made.out);
});

it('where nothing is known, what routes lead to is deleted with its siblings, and files of others stay', async () => {
  const made = await site(path);
  const content = contentOf(made.out);
  const theirs = { 'imprint.html': 'theirs', 'api/v1/group/x.json': 'theirs', '.htaccess': 'theirs' };
  const left = ['api/v1/group/777.json', 'api/v1/group/777.json.gz', 'user/7/usernames.json.br'];
  writeFiles(made.out, { ...theirs, ...Object.fromEntries(left.map((file) => [file, 'of nobody'])) });
  loseState(made.out);
  await made.build();
  const found = contentOf(made.out);
  expect(Object.keys(found).filter((file) => file in theirs)).toEqual(Object.keys(theirs).toSorted());
  for (const file of Object.keys(theirs)) Reflect.deleteProperty(found, file);
  expect(differing(found, content)).toEqual([]);
  const { stdout } = await inProcess('verify', '--out', made.out);
  for (const file of Object.keys(theirs)) expect(stdout).toContain(`untracked: ${file}\n`);
});

it('a tree of format 4 goes on with its id and number, and what its state had is gone', async () => {
  const [register, out] = [both.registers[1], path('dist')];
  const { sequence, digest, tree } = FORMAT_4;
  const index = { tree: tree.id, sequence, digest, oldest: sequence, changes: [] };
  writeFiles(out, {
    'snapshot.json': JSON.stringify(FORMAT_4),
    'changes/index.json': JSON.stringify(index),
    'changes/41.json': '{}',
    'api/v1/group/1.json': '{}',
    'api/v1/group/999.json': '{}',
    'feeds/groups/2026-10.atom': 'an archive',
    'feeds/groups/2026-10.atom.gz': 'an archive',
    'feeds/groups/2026-11-00001.atom': 'an archive',
    'feeds/groups/mine.txt': 'theirs',
  });
  writeFiles(inState(out), { 'state.sqlite': 'names what is withheld', 'previous/1.json': 'as does this' });
  await buildWith({ register, out });
  const { [`feeds/groups/mine.txt`]: theirs, ...content } = contentOf(out);
  expect(theirs).toBeDefined();
  expect(differing(content, both.trees[1])).toEqual([]);
  expect(snapshotOf(out)).toMatchObject({ format: 5, sequence: 42, tree: { id: tree.id } });
  await expectAtRest(out);
});

thorough('a state folder of a backup publishes nothing again that was taken down since', async () => {
  const made = await site(path);
  const { register, out } = made;
  changeRegister(register, `UPDATE groups SET name = 'Secret' WHERE id = 3`);
  await interruptCommit({ register, out });
  const backup = path('backup');
  cpSync(inState(out), backup, { recursive: true });
  await made.build(`INSERT INTO withheld VALUES ('group', 3, '2026-12-01T00:00:00Z')`);
  rmSync(inState(out), { recursive: true });
  cpSync(backup, inState(out), { recursive: true });
  const warnings: string[] = [];
  await buildWith({ register, out }, { warn: (line) => void warnings.push(line) });
  expect(warnings[0]).toMatch(/^warning: the commit in ".*" follows another snapshot .*: it is deleted/);
  expect(indexOf(out)).toMatchObject({ sequence: 4, oldest: 4 });
  expect(existsSync(join(out, 'api/v1/group/3.json'))).toBe(false);
  await expectTree(out, await fresh(register, path('fresh')));
});
