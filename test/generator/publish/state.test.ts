/** What a build does where its state is missing, damaged, of another tree or of an earlier version: it needs none. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { Dice } from '../../../data/sample/dice.js';
import { Failure } from '../../../generator/base/errors.js';
import { inputs } from '../../support/cli.js';
import { writeFiles } from '../../support/operator.js';
import { changeRegister } from '../../support/register.js';
import { fresh, pair, site, type Site } from '../../support/site.js';
import { loseState } from '../../support/state.js';
import { always, isThorough, it, some } from '../../support/thorough.js';
import { differing, inState, pathsBelow } from '../../support/tree.js';
import { containing, matching } from '../../support/values.js';
import { SWEEP } from './faults.js';
import {
  buildWith,
  contentOf,
  expectAtRest,
  failureOf,
  indexOf,
  inProcess,
  manifestOf,
  temporary,
} from './support.js';

const path = temporary();

const GROUPS = 'lists/group/0000000000000000.sha256';
const STATE = 'state.json';

/** What is wrong with the state of a tree, given that of another. */
type Spoil = (out: string, other: string) => void;
const without =
  (part: string): Spoil =>
  (out) =>
    rmSync(inState(out, part), { recursive: true });
const cutOff =
  (part: string): Spoil =>
  (out) =>
    truncateSync(inState(out, part), 100);
const swapped =
  (...parts: readonly string[]): Spoil =>
  (out, other) => {
    for (const part of parts) {
      rmSync(inState(out, part), { recursive: true });
      cpSync(inState(other, part), inState(out, part), { recursive: true });
    }
  };
const replaced =
  (part: string, from: RegExp, to: string): Spoil =>
  (out) => {
    const text = readFileSync(inState(out, part), 'utf8');
    expect(text).toMatch(from);
    writeFileSync(inState(out, part), text.replace(from, to));
  };

const SPOILT: Readonly<Record<string, Spoil>> = {
  'without anything': loseState,
  'without lists': without('lists'),
  'without the lists of a route': without('lists/group'),
  'without one list': without(GROUPS),
  'without the description of a route': without('lists/group/.route.json'),
  'without state.json': without(STATE),
  'with a list that is cut off': cutOff(GROUPS),
  'with a state.json that is cut off': cutOff(STATE),
  'with lists of another tree': swapped('lists'),
  'with the state.json of another tree': swapped(STATE),
  'that is of another tree': swapped('lists', STATE),
  'with a hash of another document': replaced(GROUPS, /^[0-9a-f]{4}/, '0000'),
  'with a line too few': replaced(GROUPS, /^.*\n/, ''),
  'with a state.json that says something else': replaced(STATE, /"rows":\d+/, '"rows":1'),
  'with a line of no document': replaced(GROUPS, /$/, `${'0'.repeat(64)}  api/v1/group/999.json\n`),
  'with another route': replaced('lists/group/.route.json', /group/g, 'guild'),
  "with somebody's file among its lists": (out) => writeFileSync(inState(out, 'lists/notes.txt'), 'a note'),
  'with a file in the place of lists': (out) => {
    rmSync(inState(out, 'lists'), { recursive: true });
    writeFileSync(inState(out, 'lists'), 'a file');
  },
};

let other: Promise<string> | undefined;
/** A tree of another id, and of more snapshots. */
const anotherTree = (): Promise<string> =>
  (other ??= (async () => {
    const out = path('other');
    for (const register of (await pair(path)).registers) await buildWith({ register, out });
    return out;
  })());

describe('a state', () => {
  always.each(some(Object.entries(SPOILT), 5))(
    '%s is named by verify; the next build writes everything, and starts its changes over',
    async (_, spoil) => {
      const both = await pair(path);
      const out = both.tree();
      spoil(out, await anotherTree());
      const found = await inProcess('verify', '--quiet', '--out', out);
      expect([found.code, found.stdout]).toEqual([1, matching(/^(missing|altered): \.\d+-dist-state\//)]);
      await buildWith({ register: both.registers[1], out });
      expect(differing(contentOf(out), both.trees[1])).toEqual([]);
      const { sequence, oldest, changes } = indexOf(out);
      expect([sequence, oldest, changes.length]).toEqual([2, 2, 1]);
      expect(changes[0]).toMatchObject({ from: null, from_digest: null, bundle: null });
      await expectAtRest(out);
    },
  );

  it('with a folder in the place of a file ends a command with a sentence', async () => {
    const made = await site(path);
    rmSync(inState(made.out, STATE));
    mkdirSync(inState(made.out, STATE));
    for (const command of [
      ['verify', '--out', made.out],
      ['build', ...inputs(made.register, made.out)],
    ]) {
      const { code, stderr } = await inProcess(...command);
      expect([code, stderr]).toEqual([3, containing(`error: state "${inState(made.out)}" can't be read`)]);
    }
  });

  always('with any bit flipped is noticed, or harmless', SWEEP, async () => {
    const both = await pair(path);
    const out = both.tree();
    const dice = new Dice(1, 'flips', 0);
    for (let flip = 0; flip < (isThorough ? 300 : 20); flip += 1) {
      const parts = pathsBelow(inState(out), (entry) => entry.isFile());
      // One in three of state.json, which is one file of many.
      const part = flip % 3 === 0 ? STATE : (parts[dice.below(parts.length)] ?? STATE);
      const content = readFileSync(inState(out, part));
      const [at, bit] = [dice.below(content.length), dice.below(8)];
      const where = `bit ${bit} of byte ${at} of ${part}`;
      content[at] = (content[at] ?? 0) ^ (1 << bit);
      writeFileSync(inState(out, part), content);
      // From one register to the other, and back.
      const next = flip % 2 === 0 ? 1 : 0;
      const ended = await buildWith({ register: both.registers[next], out }).catch((error: unknown) => error);
      if (ended instanceof Error) expect(ended, where).toBeInstanceOf(Failure);
      else expect(differing(contentOf(out), both.trees[next]), where).toEqual([]);
    }
    await expectAtRest(out);
  });
});

it('a tree whose folder was emptied goes on with its number', async () => {
  const made = await site(path);
  const { id } = manifestOf(made.out).tree;
  await made.build('UPDATE items SET price = 50 WHERE id = 1');
  for (const name of readdirSync(made.out)) rmSync(join(made.out, name), { recursive: true });
  await made.build();
  expect(manifestOf(made.out)).toMatchObject({ sequence: 3, tree: { id } });
  expect(differing(contentOf(made.out), await fresh(made.register, path('fresh')))).toEqual([]);
});

const withhold = (id: number): string =>
  `INSERT INTO withheld VALUES ('item', ${id}, '2026-12-01T00:00:00Z');`;

/** A site that withholds an item, and has published something since, so that there are bundles. */
async function withholding(): Promise<Site> {
  const made = await site(path);
  await made.build(withhold(3));
  await made.build('UPDATE items SET price = 50 WHERE id = 1');
  return made;
}

describe('what is withheld', () => {
  it('is still known where only the lists are lost, and stays withheld', async () => {
    const { register, out } = await withholding();
    rmSync(inState(out, 'lists'), { recursive: true });
    changeRegister(register, 'DELETE FROM withheld');
    const refused = buildWith({ register, out, acceptRepublished: false });
    const { exitCode, message } = await failureOf(refused);
    expect([exitCode, message]).toEqual([1, matching(/^item 3 would be published again/)]);
  });

  it('counts as newly withheld where the state is lost: downloads are written, and no bundle stays', async () => {
    const made = await withholding();
    expect(existsSync(join(made.out, 'changes/3.ndjson.gz'))).toBe(true);
    loseState(made.out);
    await made.build('', { keepDownloads: true });
    expect(indexOf(made.out)).toMatchObject({ sequence: 4, downloads: { sequence: 4 } });
    expect(readdirSync(join(made.out, 'changes'))).toEqual(['index.json']);
    expect(differing(contentOf(made.out), await fresh(made.register, path('fresh')))).toEqual([]);
    await expectAtRest(made.out);
  });
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

/** A snapshot.json of format 4, with routes of which some are gone. */
const FORMAT_4 = {
  format: 4,
  sequence: 41,
  as_of: '2026-11-20T07:59:35Z',
  built_at: '2026-11-29T05:27:42Z',
  generator: { name: 'register-api', version: '0.1.0' },
  counts: { groups: 1, users: 0, games: 0, items: 0 },
  digest: '0'.repeat(64),
  tree: { id: '8d4393a7356240e2', files: 5, bytes: 100 },
  downloads: { as_of: '2026-11-20T07:59:35Z', sequence: 41, digest: '0'.repeat(64) },
  compressed_from: 4096,
  routes: [
    ['group', '/api/v1/group/{id}', 'api/v1/group/{id}.json', 'record', 'id'],
    ['feed-groups-archive', '/feeds/groups/{month}.atom', 'feeds/groups/{month}.atom', 'feed', 'month'],
    ['change-list', '/changes/{sequence}.json', 'changes/{sequence}.json', 'summary', 'id'],
    ['changes', '/changes/index.json', 'changes/index.json', 'summary'],
    ['snapshot', '/snapshot.json', 'snapshot.json', 'summary'],
  ].map(([name, path = '', file, cacheClass, type]) => {
    const route = {
      name,
      path,
      file,
      class: cacheClass,
      bucket: 'api',
      type: 'application/json',
      description: '',
    };
    const [, parameter] = /\{(\w+)\}/.exec(path) ?? [];
    const parameters = [{ name: parameter, in: 'path', type, description: '' }];
    return type === undefined ? route : { ...route, parameters, absent: 'nothing' };
  }),
};

it('a tree of format 4 goes on with its id and number, and what its state had is gone', async () => {
  const both = await pair(path);
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
  expect(manifestOf(out)).toMatchObject({ format: 5, sequence: 42, tree: { id: tree.id } });
  await expectAtRest(out);
});
