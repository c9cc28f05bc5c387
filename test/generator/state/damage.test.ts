/** A state that is missing, damaged, of another version, or lost within a commit: noticed, or harmless. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { Dice } from '../../../data/sample/dice.js';
import { recover } from '../../../generator/publish/commit.js';
import { distrustState } from '../../../generator/state/published.js';
import { isDamagedState } from '../../../generator/state/schema.js';
import { Tree } from '../../../generator/tree/tree.js';
import { nameOf } from '../../../generator/programs/verify/verify.js';
import { quiet } from '../../support/build.js';
import { inputs } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { writeFiles } from '../../support/operator.js';
import { contentOf, digestOf, manifestOf, mirrorOf, stateOf } from '../../support/published.js';
import { changeRegister } from '../../support/register.js';
import { buildWith, fresh, pair, site } from '../../support/site.js';
import { changeState, databaseOf, loseState } from '../../support/state.js';
import { always, isThorough, it, some } from '../../support/thorough.js';
import { differing } from '../../support/tree.js';
import { containing } from '../../support/values.js';
import { SWEEP, deadOnceCommitted, survive, withFault, withoutSync } from '../publish/faults.js';
import { publish } from '../publish/small.js';
import { damageOf } from '../publish/support.js';
import {
  NEW,
  OLD,
  atEachMoment,
  newTree as newTreeIn,
  expectContent,
  filesIn,
  imageOf,
  siteIn,
} from './support.js';

const path = temporary();
withoutSync();

const PAGE = 4096;

/** A tree of small documents with several snapshots, the newest of them OLD. */
async function small(): Promise<string> {
  const out = siteIn(path('small'));
  for (const version of [NEW, OLD]) await publish(out, version);
  return out;
}

/** What `verify` says if it does not believe the state. */
const altered = (out: string) => [{ file: nameOf(databaseOf(out)), what: 'altered' }];

let first: Promise<string> | undefined;
/** The same for all tests, which work on copies. */
const old = (): Promise<string> => (first ??= small());

let next: Promise<Record<string, string>> | undefined;
const newTree = (): Promise<Record<string, string>> => (next ??= newTreeIn(path('fresh')));

const ONE = 'route = 1 AND key = (SELECT min(key) FROM chunk WHERE route = 1)';

type Spoil = (out: string) => void;
const editing =
  (sql: string): Spoil =>
  (out) =>
    changeState(out, sql);
const filled =
  (content: (before: Buffer) => string | Uint8Array): Spoil =>
  (out) =>
    writeFileSync(databaseOf(out), content(readFileSync(databaseOf(out))));

/** What may be wrong with a state, and is seen without a look at each document. */
const DAMAGES: Readonly<Record<string, Spoil>> = {
  missing: loseState,
  empty: filled(() => ''),
  'no database': filled(() => '{"format":5}\n'.repeat(1000)),
  'cut off within its first page': filled((before) => before.subarray(0, 1000)),
  'cut off between its pages': filled((before) => before.subarray(0, 5 * PAGE)),
  'noise but for its first page': filled((before) => before.fill(0xa5, PAGE)),
  ...Object.fromEntries(
    Object.entries({
      'of another version': 'PRAGMA user_version = 1',
      'of another program': 'PRAGMA application_id = 7',
      'without its rows': 'DELETE FROM snapshot; DELETE FROM document',
      'without a table': 'DROP TABLE own_file',
      'of an earlier snapshot': 'DELETE FROM snapshot WHERE number = 2',
      'of another digest': `UPDATE snapshot SET digest = '${'0'.repeat(64)}'`,
      'altered in what it says of the build': `UPDATE snapshot SET described = replace(described, '"fingerprints":false', '"fingerprints":true ')`,
      'without a file that the commit put':
        'DELETE FROM own_file WHERE rowid = (SELECT max(rowid) FROM own_file)',
      'without a route': 'DELETE FROM route WHERE position = 1',
      'with a route that is no JSON': `UPDATE route SET json = '{' WHERE id = 1`,
      'with routes in another order': 'UPDATE route SET position = -position',
      'without a chunk': `DELETE FROM chunk WHERE ${ONE}`,
      'altered in the leaf of a chunk': `UPDATE chunk SET leaf = zeroblob(32) WHERE ${ONE}`,
      'altered in how many documents a chunk has': `UPDATE chunk SET documents = documents + 1 WHERE ${ONE}`,
      'altered in how large a chunk is': `UPDATE chunk SET bytes = bytes + 1 WHERE ${ONE}`,
      'without a document': `DELETE FROM document WHERE ${ONE}`,
      'with a document too many': 'INSERT INTO document VALUES (1, 1005, 7, zeroblob(32))',
      'altered in a key': `UPDATE document SET key = key + 7000 WHERE ${ONE}`,
      'altered in how large a document is': `UPDATE document SET bytes = 9 WHERE ${ONE}`,
    }).map(([what, sql]) => [what, editing(sql)]),
  ),
};

describe('a state that is', () => {
  it.each(Object.entries(DAMAGES))(
    '%s is reported by verify, and rebuilt by a build',
    async (what, spoil) => {
      const [out, again] = [imageOf(await old(), path('copy')), imageOf(await old(), path('copy'))];
      const before = stateOf(again);
      for (const tree of [out, again]) spoil(tree);
      expect(await damageOf(again)).toEqual([
        { file: nameOf(databaseOf(again)), what: what === 'missing' ? what : 'altered' },
      ]);
      expect(differing(stateOf(again), before)).toEqual([]);
      await publish(again, OLD);
      expect(differing(stateOf(again), before)).toEqual(['snapshot.json is another']);
      await publish(out, NEW);
      await expectContent(out, await newTree());
      expect([manifestOf(again).sequence, manifestOf(out).sequence]).toEqual([2, 3]);
    },
  );

  it('missing where files are damaged too is rebuilt, and they are repaired, by the next build', async () => {
    const out = imageOf(await old(), path('copy'));
    rmSync(databaseOf(out));
    writeFiles(out, { 'a/1.json': 'another', 'a/999.json': 'of nobody' });
    rmSync(join(out, 'a/101.json'));
    await publish(out, NEW);
    await expectContent(out, await newTree());
    expect(existsSync(join(out, 'a/999.json'))).toBe(false);
  });

  it('altered in what an interrupted commit changes is rebuilt, and the tree completed', async () => {
    const out = imageOf(await old(), path('copy'));
    await survive(withFault(deadOnceCommitted(out), () => publish(out, NEW)));
    changeState(out, 'UPDATE change SET replaced = 0');
    await publish(out, NEW);
    await expectContent(out, await newTree());
  });
});

/** A hash that only a look at the chunk of its document shows to be another. */
const ANOTHER_HASH = `UPDATE document SET hash = zeroblob(32) WHERE key = 5
  AND route = (SELECT id FROM route WHERE name = 'group')`;

describe('what a build compares with', () => {
  const LOST = 'DELETE FROM fingerprint';
  const CHANGE = 'UPDATE items SET price = 50 WHERE id = 1; DELETE FROM users WHERE id = 1007';
  let content: Record<string, string>;
  beforeAll(async () => {
    const { register } = await site(path);
    changeRegister(register, CHANGE);
    content = await fresh(register, path('fresh'));
  });

  it.each([
    ['is lost', LOST],
    ['is lost of a table', `${LOST} WHERE source = (SELECT min(id) FROM source)`],
    ['is known of other records', 'UPDATE fingerprint SET key = key + 1000000 WHERE key % 2'],
    ['is damaged', 'UPDATE fingerprint SET hash = zeroblob(32) WHERE key % 2'],
    ['begins elsewhere', `UPDATE chunk SET key = key + 1 WHERE ${ONE}`],
    ['is another hash in a chunk that it does not touch', ANOTHER_HASH],
  ])('%s, and the next snapshot is no other', async (_, sql) => {
    const made = await site(path);
    changeState(made.out, sql);
    await made.build(CHANGE);
    expect(differing(contentOf(made.out), content)).toEqual([]);
    const { digest, routes } = manifestOf(made.out);
    expect(digest).toBe(digestOf(mirrorOf(made.out), routes));
    // Nobody looks at chunks while the digest is right.
    expect(await damageOf(made.out)).toEqual(sql.includes('fingerprint') ? [] : altered(made.out));
  });
});

describe('a hash of a document that is altered', () => {
  it('is reported by verify, and repaired', async () => {
    const { register, out } = await site(path);
    const content = contentOf(out);
    changeState(out, ANOTHER_HASH);
    const said = `altered: ${nameOf(databaseOf(out))}`;
    const found = await inProcess('verify', '--out', out);
    expect([found.code, found.stdout]).toEqual([1, containing(said)]);
    const repaired = await inProcess('verify', '--repair', '--quiet', ...inputs(register, out));
    expect(repaired).toMatchObject({ code: 0, stdout: containing(said) });
    await expectContent(out, content);
  });

  it('is said by a build that touches the chunk, which rebuilds the state and goes on', async () => {
    const both = await pair(path);
    const out = both.tree();
    changeState(out, ANOTHER_HASH);
    const said: string[] = [];
    const progress = Object.assign(quiet(), { start: (title: string) => void said.push(title) });
    await buildWith({ register: both.registers[1], out }, { progress, warn: (line) => void said.push(line) });
    expect(said).toContain('rebuilding the state from the published files');
    expect(said).toContain(
      `warning: the state "${databaseOf(out)}" is damaged: documents of the route group; ` +
        'the published tree is what it was; the state is rebuilt from the published files now',
    );
    await expectContent(out, both.trees[1]);
    expect(manifestOf(out).sequence).toBe(2);
  });
});

it('a folder in place of the state is refused with a sentence', async () => {
  const out = imageOf(await old(), path('copy'));
  rmSync(databaseOf(out));
  mkdirSync(databaseOf(out));
  for (const work of [damageOf(out), publish(out, NEW)])
    await expect(work).rejects.toMatchObject({
      exitCode: 3,
      message: `the state "${databaseOf(out)}" is no file`,
    });
});

interface Spoiling {
  readonly what: string;
  readonly spoil: (content: Buffer) => Buffer;
}

/** A number of single flipped bits, taken from all pages in turn. */
function flips(size: number, count: number): Spoiling[] {
  const dice = new Dice(1, 'flips', 0);
  const pages = Math.ceil(size / PAGE);
  return Array.from({ length: count }, (_, index) => {
    const [at, bit] = [(index % pages) * PAGE + dice.below(PAGE), dice.below(8)];
    return {
      what: `bit ${bit} of byte ${at} flipped`,
      spoil: (content) => {
        content[at] = (content[at] ?? 0) ^ (1 << bit);
        return content;
      },
    };
  });
}

/** Cut off everywhere in the last page and in some others. */
const cuts = (size: number, count: number): Spoiling[] =>
  Array.from({ length: count }, (_, index) => size - 7 - Math.floor((index * size) / count)).map(
    (length) => ({
      what: `cut off after ${length} bytes`,
      spoil: (content) => content.subarray(0, Math.max(0, length)),
    }),
  );

/** Publishes as `build` does, which has a state rebuilt that proves damaged meanwhile. */
async function publishNext(out: string): Promise<void> {
  try {
    await publish(out, NEW);
  } catch (error) {
    if (!isDamagedState(error)) throw error;
    distrustState(new Tree(out));
    await publish(out, NEW);
  }
}

always('a flipped bit or a lost end of a small state is noticed, or harmless', SWEEP, async () => {
  const sound = await old();
  const content = readFileSync(databaseOf(sound));
  const spoilings = isThorough
    ? [...flips(content.length, 150), ...cuts(content.length, 15)]
    : [...flips(content.length, 14), ...cuts(content.length, 2)];
  const published = filesIn(sound);
  let noticed = 0;
  for (const { what, spoil } of spoilings) {
    const out = imageOf(sound, path('copy'));
    writeFileSync(databaseOf(out), spoil(Buffer.from(content)));
    const damage = await damageOf(out);
    // Nothing but the state is altered.
    expect(damage.length === 0 ? altered(out) : damage, what).toEqual(altered(out));
    noticed += damage.length;
    expect(differing(filesIn(out), published), what).toEqual([]);
    await publishNext(out);
    await expectContent(out, await newTree(), what);
    expect(manifestOf(out).sequence, what).toBe(manifestOf(sound).sequence + 1);
    rmSync(dirname(out), { recursive: true });
  }
  expect(noticed).toBeGreaterThan(spoilings.length / 10);
});

always(
  'a state that is lost between its COMMIT and the last move is said to be missing; the next build completes the tree',
  SWEEP,
  async () => {
    const out = imageOf(await old(), path('copy'));
    const images: [what: string, image: string][] = [];
    const moments = await atEachMoment(
      out,
      ({ what, isCommitted }) => {
        if (isCommitted) images.push([what, imageOf(out, path('image'))]);
      },
      () => publish(out, NEW),
    );
    expect(moments.length).toBeGreaterThan(images.length);
    for (const [what, image] of some(images, 6)) {
      for (const suffix of ['', '-wal', '-shm', '-journal'])
        rmSync(databaseOf(image) + suffix, { force: true });
      const damage = await damageOf(image);
      expect(damage, what).toContainEqual({ file: nameOf(databaseOf(image)), what: 'missing' });
      const said: string[] = [];
      const progress = Object.assign(quiet(), { start: (title: string) => void said.push(title) });
      await recover(new Tree(image), progress);
      expect(said, what).toContain('rebuilding the state from the published files');
      await publish(image, NEW);
      await expectContent(image, await newTree(), what);
      // A number of its own, if snapshot.json was in place.
      expect([3, 4], what).toContain(manifestOf(image).sequence);
    }
  },
);
