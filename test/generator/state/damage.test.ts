/** A state that is missing, damaged, of another version, or lost within a commit: noticed, or harmless. */
import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Dice } from '../../../data/sample/dice.js';
import { openDatabase } from '../../../generator/base/sqlite/sqlite.js';
import { recover } from '../../../generator/publish/commit.js';
import { distrustState } from '../../../generator/state/published.js';
import { isDamagedState } from '../../../generator/state/schema.js';
import { Tree } from '../../../generator/tree/tree.js';
import { nameOf } from '../../../generator/programs/verify/verify.js';
import { quiet } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { contentOf, manifestOf } from '../../support/published.js';
import { always, isThorough, some } from '../../support/thorough.js';
import { differing } from '../../support/tree.js';
import { SWEEP, withoutSync } from '../publish/faults.js';
import { publish } from '../publish/small.js';
import { damageOf } from '../publish/support.js';
import { NEW, OLD, atEachMoment, databaseOf, expectContent, filesIn, imageOf, siteIn } from './support.js';

const path = temporary();
withoutSync();

/** A tree of small documents with several snapshots, the newest of them OLD. */
async function small(): Promise<string> {
  const out = siteIn(path('small'));
  for (const version of [NEW, OLD]) await publish(out, version);
  return out;
}

/** A thousand builds and more, on a machine that may have much else to do: 1800000 ms (= 30 minutes). */
const LONG_SWEEP = { timeout: 1_800_000 };

/** What `verify` says if it does not believe the state. */
const altered = (out: string) => [{ file: nameOf(databaseOf(out)), what: 'altered' }];

let first: Promise<string> | undefined;
/** The same for all tests, which work on copies. */
const old = (): Promise<string> => (first ??= small());

let next: Promise<Record<string, string>> | undefined;
/** What a first build gives of the next version. */
const newTree = (): Promise<Record<string, string>> => (next ??= fresh());

async function fresh(): Promise<Record<string, string>> {
  const out = siteIn(path('fresh'));
  await publish(out, NEW);
  return contentOf(out);
}

function edit(file: string, sql: string): void {
  const database = openDatabase(file);
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}

describe('a state that is', () => {
  it.each([
    ['missing', (file: string) => rmSync(file), 'missing'],
    ['empty', (file: string) => writeFileSync(file, ''), 'altered'],
    ['no database', (file: string) => writeFileSync(file, '{"format":4}\n'.repeat(1000)), 'altered'],
    ['cut off within its first page', (file: string) => truncateSync(file, 1000), 'altered'],
    ['cut off between its pages', (file: string) => truncateSync(file, 5 * 4096), 'altered'],
    ['of another version', (file: string) => edit(file, 'PRAGMA user_version = 2'), 'altered'],
    ['of another program', (file: string) => edit(file, 'PRAGMA application_id = 7'), 'altered'],
    [
      'without its rows',
      (file: string) => edit(file, 'DELETE FROM snapshot; DELETE FROM document'),
      'altered',
    ],
    ['without a table', (file: string) => edit(file, 'DROP TABLE chunk'), 'altered'],
    ['of another snapshot', (file: string) => edit(file, 'DELETE FROM snapshot WHERE number = 2'), 'altered'],
  ] as const)('%s is reported by verify, and rebuilt by the next build', async (_, spoil, what) => {
    const out = imageOf(await old(), path('copy'));
    const before = filesIn(out);
    spoil(databaseOf(out));
    expect(await damageOf(out)).toEqual([{ file: nameOf(databaseOf(out)), what }]);
    expect(differing(filesIn(out), before)).toEqual([]);
    await publish(out, NEW);
    await expectContent(out, await newTree());
    expect(manifestOf(out).sequence).toBe(3);
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

const PAGE = 4096;

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

always('a flipped bit or a lost end of a small state is noticed, or harmless', LONG_SWEEP, async () => {
  const site = await old();
  const content = readFileSync(databaseOf(site));
  const spoilings = isThorough
    ? [...flips(content.length, 1000), ...cuts(content.length, 50)]
    : [...flips(content.length, 32), ...cuts(content.length, 3)];
  const published = filesIn(site);
  let noticed = 0;
  for (const { what, spoil } of spoilings) {
    const out = imageOf(site, path('copy'));
    writeFileSync(databaseOf(out), spoil(Buffer.from(content)));
    const damage = await damageOf(out);
    // Nothing but the state is altered.
    expect(damage.length === 0 ? altered(out) : damage, what).toEqual(altered(out));
    noticed += damage.length;
    expect(differing(filesIn(out), published), what).toEqual([]);
    await publishNext(out);
    await expectContent(out, await newTree(), what);
    expect(manifestOf(out).sequence, what).toBe(manifestOf(site).sequence + 1);
    rmSync(dirname(out), { recursive: true });
  }
  expect(noticed).toBeGreaterThan(spoilings.length / 10);
});

describe('a state that is lost between its COMMIT and the last move', () => {
  always('is said to be missing; the next build completes the tree', SWEEP, async () => {
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
  });
});
