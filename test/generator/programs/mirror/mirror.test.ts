/** A mirror equals its origin, by as few requests as there can be, whatever happened to either. */
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { differing, inState, isSibling, pathsBelow, removeTree } from '../../../support/tree.js';
import { containing, matching } from '../../../support/values.js';
import { sha256 } from '../../publish/support.js';
import { ROUTES, documentsOf, route } from './made-up.js';
import { copying } from './copies.js';

const { origin, base, out, copied, published, refused } = await copying();

/** Has a first snapshot mirrored. */
async function begin(): Promise<void> {
  origin.publish(ONE);
  await mirrored();
}

async function mirrored() {
  const result = await copied();
  expectEqual();
  return result;
}

const fileOf = (url: string): string => {
  if (url === '/') return 'index.html';
  if (/\.\w+$/.test(url)) return url.slice(1);
  return `${url.slice(1).replace('?limit=', '/')}.json`;
};

/** The copy has every document of the origin's newest snapshot to the byte, and nothing but siblings besides. */
function expectEqual(): void {
  const documents = Object.entries(origin.history.at(-1)?.all ?? {});
  const own = ['snapshot.json', 'feeds/snapshots.atom', 'feeds/snapshots.json', ...changes()];
  const expected = Object.fromEntries([
    ...documents.map(([url, body]) => [fileOf(url), sha256(body)] as const),
    ...own.map((file) => [file, sha256(origin.files.get(`/${file}`) ?? '')] as const),
  ]);
  const index = 'changes/index.json';
  const found = Object.fromEntries(Object.entries(published()).filter(([file]) => !isSibling(file)));
  expect(differing({ ...found, [index]: '' }, { ...expected, [index]: '' })).toEqual([]);
}
const changes = (): string[] => Object.keys(published()).filter((file) => file.startsWith('changes/'));

const indexSchema = z.looseObject({ changes: z.array(z.looseObject({})) });
const index = (): unknown => JSON.parse(readFileSync(join(out, 'changes/index.json'), 'utf8'));

/** What is asked for by a first copy, and by one of changes that reach the downloads. */
const ALWAYS = [
  '/snapshot.json /changes/index.json /brand.bin /feeds/snapshots.atom /feeds/snapshots.json',
  '/downloads/datapackage.json /downloads/documents/group.ndjson.gz /downloads/documents/other.ndjson.gz',
].flatMap((line) => line.split(' '));
const ONE = documentsOf({ 1: 'one', 2: 'two', 10: 'ten' });
const TWO = documentsOf({ 1: 'one', 2: 'second', 11: 'eleven' }, 'b');
const THREE = documentsOf({ 2: 'second', 11: 'eleven', 12: 'twelve' }, 'c');
const FOUR = documentsOf({ 1: 'back', 12: 'twelve' }, 'd');

describe('a first copy', () => {
  it('has everything, from the downloads and the rest one by one, and follows by one bundle', async () => {
    origin.publish(ONE);
    const { asked, fetched, sequence } = await mirrored();
    expect([fetched, sequence]).toEqual(['everything', 1]);
    expect(asked.toSorted()).toEqual([...ALWAYS, '/'].toSorted());
    expect(index()).toMatchObject({ oldest: 1, changes: [{ sequence: 1, bundle: null }] });
    origin.publish(TWO);
    const next = await mirrored();
    expect(next.fetched).toBe('changes');
    expect(next.changes).toEqual({ added: 1, changed: 10, removed: 1, unchanged: 1 });
    expect(next.asked.toSorted()).toEqual([...ALWAYS, '/changes/2.ndjson.gz'].toSorted());
  });

  it('has nothing where the origin has nothing, and asks only where it is not told so', async () => {
    origin.routes = [
      ...ROUTES,
      route('games', '/games', 'page', { absent: 'games are not measured by this register' }),
      route('contact', '/contact.txt', 'page', { type: 'text/plain; charset=utf-8' }),
    ];
    origin.publish(ONE);
    const { asked } = await mirrored();
    expect(asked.toSorted()).toEqual([...ALWAYS, '/', '/contact.txt'].toSorted());
    origin.files.delete('/');
    removeTree(out);
    const reason = /has the digest \w+, expected \w+; the origin has nothing at \/, \/contact\.txt;/;
    expect(await refused()).toEqual([1, matching(reason)]);
  });

  it('goes on from the snapshot of the downloads by changes', async () => {
    origin.publish(ONE);
    origin.publish(TWO, true);
    origin.publish(THREE, true);
    const { asked } = await mirrored();
    expect(asked).toEqual(expect.arrayContaining(['/changes/2.ndjson.gz', '/changes/3.ndjson.gz']));
    // Its newest bodies are in the bundles.
    expect(asked).not.toContain('/');
    expect(index()).toMatchObject({ oldest: 1 });
    const steps = [2, 3].map((step) => `changes/${step}.ndjson.gz`);
    expect(changes()).toEqual([...steps, 'changes/index.json']);
  });
});

it('a copy that is up to date costs one request', async () => {
  await begin();
  // A run that was killed right after its commit leaves this.
  const left = inState(out, 'mirror/files');
  mkdirSync(left);
  const { asked, fetched, bytes } = await mirrored();
  expect(existsSync(left)).toBe(false);
  expect([asked, fetched, bytes]).toEqual([['/snapshot.json'], 'nothing', 0]);
  // If only the time of the build is another, no document is asked for.
  origin.announce({}, '2026-12-02T00:00:00Z');
  const other = await mirrored();
  expect(other.fetched).toBe('nothing');
  expect(other.asked.filter((each) => /downloads|brand/.test(each))).toEqual([]);
});

const BUNDLE = '/changes/3.ndjson.gz';
const flipped = (body: Buffer): Buffer => Buffer.from(body.map((byte, at) => (at === 12 ? byte ^ 1 : byte)));

describe('without a usable bundle', () => {
  beforeEach(async () => {
    await begin();
    origin.publish(TWO);
  });

  it.each([
    ['missing', () => origin.atFirst(BUNDLE, 9, (response) => response.writeHead(404).end())],
    ['damaged', () => origin.atFirst(BUNDLE, 9, (response, body) => response.end(flipped(body)))],
    ['none, since it would be too large', () => origin.cap()],
  ])('that is %s, the copy takes the documents in the downloads', async (_, break_) => {
    origin.publish(THREE);
    break_();
    const { asked, fetched } = await mirrored();
    expect(fetched).toBe('everything');
    expect(asked.filter((each) => /api|changes.*3.json/.test(each))).toEqual([]);
    expect(index()).toMatchObject({ oldest: 3 });
    expect(changes()).toEqual(['changes/index.json']);
  });

  it('and with downloads of before, it stays as it is until there are newer ones', async () => {
    origin.publish(THREE, true);
    origin.cap();
    const reason =
      'no bundles lead from snapshot 2, which its downloads have, to 3; the published tree is what it was';
    expect(await refused()).toEqual([1, `error: no copy equals ${base}: ${reason}\n`]);
    origin.publish(FOUR);
    expect((await mirrored()).fetched).toBe('everything');
    expect(index()).toMatchObject({ oldest: 4 });
  });
});

it('changes that lead in a circle are not followed', async () => {
  await begin();
  origin.publish(TWO);
  const file = '/changes/index.json';
  const { changes, ...index } = indexSchema.parse(JSON.parse(String(origin.files.get(file))));
  const circle = { ...changes[0], sequence: 1, digest: origin.history[0]?.digest };
  origin.files.set(file, Buffer.from(JSON.stringify({ ...index, changes: [circle, ...changes] })));
  expect((await mirrored()).fetched).toBe('everything');
});

it('a takedown reaches the copy: older bundles are gone from it as well', async () => {
  await begin();
  for (const documents of [TWO, THREE]) {
    origin.publish(documents);
    await mirrored();
  }
  expect(index()).toMatchObject({ oldest: 1 });
  origin.publish(FOUR);
  origin.takeDown();
  await mirrored();
  expect(changes()).toEqual(['changes/4.ndjson.gz', 'changes/index.json']);
  expect(index()).toMatchObject({ oldest: 3 });
  const state = pathsBelow(inState(out), (entry) => entry.isFile());
  const holding = state.filter((file) => readFileSync(inState(out, file), 'latin1').includes('eleven'));
  expect(holding).toEqual([]);
});

/** Publishes as soon as a path is asked for. */
const publishing = (file: string, documents: ReturnType<typeof documentsOf>): void => {
  origin.instead = ({ url }) => {
    if (url !== file) return false;
    origin.instead = () => false;
    origin.publish(documents);
    return false;
  };
};

it('nothing of what a failed run fetched is kept', async () => {
  origin.publish(ONE);
  origin.atFirst('/feeds/snapshots.atom', 9, (response) => response.writeHead(403).end());
  expect((await refused())[0]).toBe(3);
  expect(origin.asked()).toContain('/brand.bin');
  expect(readdirSync(inState(out, 'mirror'))).toEqual([]);
});

describe('an origin that moves on', () => {
  it.each(['/downloads/datapackage.json', '/'])(
    'while %s is fetched, is copied as it is then',
    async (file) => {
      origin.publish(ONE);
      publishing(file, TWO);
      const { asked, ...result } = await mirrored();
      expect(result).toMatchObject({ sequence: 2, fetched: 'everything' });
      const snapshots = asked.filter((each) => each.startsWith('/snapshot.json'));
      expect(snapshots).toEqual(['/snapshot.json', '/snapshot.json no-cache']);
    },
  );

  it('again and again is copied once it rests, and what stayed the same is fetched once', async () => {
    origin.publish(documentsOf({ 1: 'one' }));
    let left = 6;
    origin.instead = ({ url }) => {
      if (url !== '/brand.bin' || left === 0) return false;
      left -= 1;
      origin.publish(documentsOf({ 1: 'one' }, `${left}`));
      return false;
    };
    const { asked, sequence } = await mirrored();
    expect(sequence).toBe(7);
    const times = (name: string): number =>
      asked.filter((each) => each.endsWith(`/${name}.ndjson.gz`)).length;
    expect([times('group'), times('other')]).toEqual([1, 7]);
  });

  it('while its changes are fetched, is followed further', async () => {
    await begin();
    origin.publish(TWO);
    publishing('/brand.bin', THREE);
    expect(await mirrored()).toMatchObject({ sequence: 3, fetched: 'changes' });
  });
});

it('a copy that would not be equal is not published in part, even if an earlier run was killed after its commit', async () => {
  await begin();
  // Such a run leaves what it fetched, linked to what it published.
  mkdirSync(inState(out, 'mirror/files'), { recursive: true });
  for (const folder of ['mirror', 'mirror/files'])
    linkSync(join(out, 'changes/index.json'), inState(out, `${folder}/index.json`));
  origin.publish(TWO);
  const digest = '0'.repeat(64);
  origin.announce({ digest });
  const index = String(origin.files.get('/changes/index.json'));
  const other = index.replaceAll(origin.history.at(-1)?.digest ?? '', digest);
  origin.files.set('/changes/index.json', Buffer.from(other));
  expect(await refused()).toEqual([1, containing('no copy equals')]);
});

it.each(['api/v1/group', 'changes', 'feeds'])(
  'a copy with a link in it is left alone: %s',
  async (folder) => {
    await begin();
    origin.publish(TWO);
    const [place, elsewhere] = [join(out, folder), `${out}-elsewhere`];
    renameSync(place, elsewhere);
    symlinkSync(elsewhere, place);
    const before = readdirSync(elsewhere);
    expect(await refused()).toEqual([3, containing(`"${place}" is a symbolic link`)]);
    expect(readdirSync(elsewhere)).toEqual(before);
    unlinkSync(place);
    renameSync(elsewhere, place);
    await mirrored();
  },
);
