/** A mirror of trees that builds published, through the proxy: whole, without downloads, and of registers that lack things. */
import { createHash } from 'node:crypto';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  assert,
  asyncProperty,
  boolean,
  type Arbitrary,
  constantFrom,
  integer,
  record,
  subarray,
  tuple,
} from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { writeSample } from '../../../../data/sample.js';
import { RESOURCES, TABLES } from '../../../../generator/schema/schema.js';
import { startProxy, type RunningProxy } from '../../../support/proxy.js';
import { changeRegister } from '../../../support/register.js';
import { Site, site } from '../../../support/site.js';
import { isThorough, thorough } from '../../../support/thorough.js';
import { differing, isSibling, removeTree } from '../../../support/tree.js';
import { expectAtRest, hashesOf, inProcess, manifestOf, temporary, urlsOf } from '../../publish/support.js';
import { memorySite } from '../upload/memory.js';

const path = temporary();

async function serving(tree: string): Promise<RunningProxy> {
  const proxy = await startProxy(tree);
  onTestFinished(async () => void (await proxy.stop()));
  return proxy;
}

const resultSchema = z.looseObject({ fetched: z.string(), bytes: z.int(), sequence: z.int() });

const DESCRIBING = ['README.txt', 'SHA256SUMS', 'datapackage.json'].map((name) => `downloads/${name}`);
const isFile = (file: string): boolean => file.startsWith('downloads/') && !DESCRIBING.includes(file);

/** The documents are what a copy is made of. */
const isNeeded = (file: string): boolean => !isFile(file) || file.startsWith('downloads/documents/');

/** The hash and mode of each file but for the changes, which are those since the first copy. */
const lasting = (tree: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(hashesOf(tree))
      .filter(([file]) => !file.startsWith('changes/'))
      .map(([file, hash]) => [file, `${hash} ${statSync(join(tree, file)).mode}`]),
  );

const served = async ({ get }: RunningProxy): Promise<unknown> => (await get('/snapshot.json')).json();

/** Serves an origin, of which there is a tree. */
async function mirroring(origin: Site) {
  const proxy = await serving(origin.out);
  let builds = 0;
  return {
    proxy,
    /** Builds, and waits until that is served. */
    build: async (sql: string, options: { keepDownloads?: boolean } = {}): Promise<void> => {
      const at = new Date(Date.UTC(2026, 11, 11, 0, (builds += 1))).toISOString();
      await origin.build(sql, { at, ...options });
      const { built_at: expected } = manifestOf(origin.out);
      await expect.poll(() => served(proxy)).toMatchObject({ built_at: expected });
    },
    /** Mirrors; the copy must then equal the origin. @param option `--without-downloads` */
    mirrored: async (to: string, option: readonly string[] = [], from = proxy) => {
      const { code, stdout, stderr } = await inProcess('mirror', from.base, '--out', to, '--json', ...option);
      expect([code, stderr]).toEqual([0, '']);
      const expected = Object.entries(lasting(origin.out)).filter(
        ([file]) => option.length === 0 || !isFile(file),
      );
      expect(differing(lasting(to), Object.fromEntries(expected))).toEqual([]);
      if (option.length === 0) await expectAtRest(to);
      return resultSchema.parse(JSON.parse(stdout));
    },
  };
}

async function bodyOf({ get }: RunningProxy, url: string): Promise<unknown[]> {
  const response = await get(url);
  const body = Buffer.from(await response.arrayBuffer());
  return [response.status, response.headers.get('etag'), createHash('sha256').update(body).digest('hex')];
}

it('a copy takes down what its origin took down, is served as that is, and can be copied', async () => {
  const origin = await site(path);
  const { proxy, build, mirrored } = await mirroring(origin);
  const out = path('copy');
  expect(await mirrored(out)).toMatchObject({ fetched: 'everything', sequence: 1 });
  await build(`UPDATE items SET price = 2 WHERE id = 3; UPDATE users SET username = 'name' WHERE id = 7007`);
  await mirrored(out);
  await build(`INSERT INTO withheld VALUES ('user', 7007, '2026-12-01T00:00:00Z')`);
  expect(await mirrored(out)).toMatchObject({ fetched: 'changes' });
  const changes = Object.keys(hashesOf(out)).filter((file) => file.startsWith('changes/'));
  expect(changes).toEqual(['changes/3.ndjson.gz', 'changes/index.json']);
  expect(existsSync(join(out, 'api/v1/user/7007.json'))).toBe(false);

  const copy = await serving(out);
  const files = Object.keys(lasting(out)).filter((file) => !isSibling(file));
  const urlOf = urlsOf(out);
  // The files are equal, so that a few of them show that they are served.
  for (const url of files.filter((_, at) => at % 50 === 0).flatMap((file) => urlOf(file) ?? [])) {
    const [one, other] = await Promise.all([proxy, copy].map((server) => bodyOf(server, url)));
    expect([url, one]).toEqual([url, other]);
  }
  expect(await mirrored(path('copy-of-copy'), [], copy)).toMatchObject({ fetched: 'everything' });
});

thorough(
  'a copy without downloads follows, is verified, served and uploaded, and gets them back',
  async () => {
    const origin = await site(path);
    const { build, mirrored } = await mirroring(origin);
    const out = path('copy');
    const sizeOf = (files: readonly string[]): number =>
      files.reduce((sum, file) => sum + statSync(join(origin.out, file)).size, 0);
    const damage = async (): Promise<unknown> => {
      const { stdout } = await inProcess('verify', '--out', out, '--json');
      return z.looseObject({ damage: z.unknown() }).parse(JSON.parse(stdout)).damage;
    };
    const without = async () => {
      const result = await mirrored(out, ['--without-downloads']);
      expect(await damage()).toEqual([]);
      return result;
    };

    const first = await without();
    expect(first).toMatchObject({ fetched: 'everything', sequence: 1 });
    expect(first.bytes).toBeLessThan(sizeOf(Object.keys(lasting(origin.out)).filter(isNeeded)));
    expect(await without()).toMatchObject({ fetched: 'nothing', bytes: 0 });

    await build(`UPDATE items SET price = 12 WHERE id = 3; UPDATE groups SET name = 'other' WHERE id = 3`);
    const followed = await without();
    expect(followed).toMatchObject({ fetched: 'changes', sequence: 2 });
    const bundle = ['changes/2.ndjson.gz', 'changes/index.json'];
    const own = ['snapshot.json', 'feeds/snapshots.atom', 'feeds/snapshots.json', ...DESCRIBING];
    expect(followed.bytes).toBeLessThanOrEqual(sizeOf([...bundle, ...own]));

    const copy = await serving(out);
    const found = ['/api/v1/item/3', '/downloads', '/downloads/datapackage.json'];
    for (const url of [...found, '/downloads/items.csv', '/downloads/register.sqlite'])
      expect((await copy.get(url)).status, url).toBe(found.includes(url) ? 200 : 404);
    const { upload, wrong, remote } = memorySite(out);
    const uploaded = async (): Promise<number> => {
      await upload();
      expect(wrong()).toEqual([]);
      return [...remote.files.keys()].filter(isFile).length;
    };
    expect(await uploaded()).toBe(0);

    // A file in the place of one that is left out belongs to nobody.
    writeFileSync(join(out, 'downloads/items.csv'), 'id');
    expect(await damage()).toEqual([{ file: 'downloads/items.csv', what: 'extra' }]);

    // Without the option, even of a snapshot that the copy has.
    expect(await mirrored(out)).toMatchObject({ fetched: 'everything', sequence: 2 });
    expect(await uploaded()).toBe(33);

    // And back, along with changes of the files that go.
    await build('UPDATE items SET price = 14 WHERE id = 3');
    expect(await without()).toMatchObject({ fetched: 'changes', sequence: 3 });
    expect(existsSync(join(out, 'downloads/documents'))).toBe(false);
    expect(await uploaded()).toBe(0);
  },
);

/** What is left of a table of the sample: its rows, no rows, or nothing. */
const STATES = ['rows', 'no rows', 'nothing'] as const;
type Left = readonly [table: string, state: (typeof STATES)[number]];

/** The kind that each history belongs to. */
const KIND_OF = new Map(
  RESOURCES.flatMap(({ plural, histories }) => histories.map(({ table }) => [table, plural] as const)),
);
const NULLABLE = TABLES.flatMap(({ name, columns }) =>
  columns.filter(({ nullable }) => nullable).map((column) => [name, column.name] as const),
);

/** What an origin publishes next. */
const partial = record({
  // Of each table, but not without any kind, which no build accepts.
  left: tuple(
    ...TABLES.map(({ name }) => constantFrom(...STATES).map((state): Left => [name, state])),
  ).filter((left) => RESOURCES.some(({ plural }) => new Map(left).get(plural) !== 'nothing')),
  without: subarray(NULLABLE, { maxLength: 5 }),
  seed: integer({ min: 1, max: 1000 }),
  keepDownloads: boolean(),
  /** Whether the copy that there is follows at once. */
  isFollowed: boolean(),
});
type Partial = typeof partial extends Arbitrary<infer Value> ? Value : never;

const WHOLE: Partial = { left: [], without: [], seed: 1, keepDownloads: false, isFollowed: true };

/** Writes a register of which so much is left. */
async function write(file: string, { left, without, seed }: Partial): Promise<void> {
  rmSync(file, { force: true });
  await writeSample({ file, records: 40, seed });
  const states = new Map(left);
  const sql = left.map(([table, state]) => {
    if (state === 'nothing') return `DROP TABLE ${table};`;
    const columns = without.filter(([name]) => name === table);
    const dropped = columns.map(([, column]) => `ALTER TABLE ${table} DROP COLUMN ${column};`).join('');
    // A history is one of records that are there.
    const isLeft = state === 'rows' && (states.get(KIND_OF.get(table) ?? table) ?? state) === 'rows';
    return isLeft ? dropped : `${dropped} DELETE FROM ${table};`;
  });
  changeRegister(file, `PRAGMA synchronous = OFF; ${sql.join('')}`);
}

const EXAMPLES: Partial[] = [
  { ...WHOLE, left: [['games', 'nothing']] },
  // No time of a measurement either, so no contact for security.
  { ...WHOLE, left: TABLES.map(({ name }) => [name, 'no rows']) },
];

thorough(
  'a copy equals an origin that lacks anything, the first time and as that comes and goes',
  async () => {
    const origin = new Site(path('register.sqlite'), path('origin'));
    await write(origin.register, WHOLE);
    await origin.build();
    const { build, mirrored } = await mirroring(origin);
    const [first, followed] = [path('first'), path('followed')];
    await mirrored(followed);
    const property = asyncProperty(partial, async (next) => {
      await write(origin.register, next);
      await build('', { keepDownloads: next.keepDownloads });
      removeTree(first);
      await mirrored(first);
      if (next.isFollowed) await mirrored(followed);
    });
    const examples = EXAMPLES.map((each): [Partial] => [each]);
    await assert(property, { examples, numRuns: isThorough ? 20 : 3, endOnFailure: true });
  },
  600_000,
);
