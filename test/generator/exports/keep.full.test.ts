/** Downloads that are kept while the documents go on: what is said of them, and when they are written again. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeSample } from '../../../data/sample.js';
import type { Published } from '../../../generator/pipeline/build.js';
import { effectsAt, published } from '../../support/build.js';
import { inputs } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { changedBy, contentOf, snapshotOf, stateOf } from '../../support/published.js';
import { changeRegister } from '../../support/register.js';
import { Site, buildWith, copyOf } from '../../support/site.js';
import { isDownload, json, namesThatDiffer, readTree, speaksOfDownloads } from '../../support/tree.js';
import { containing } from '../../support/values.js';
import { damageOf } from '../publish/support.js';

const path = temporary();

const LATER = '2026-11-21T05:06:07Z';
const middle = (table: string): string => `(SELECT id FROM ${table} ORDER BY id LIMIT 1 OFFSET 10)`;
/** Changes two tables, and with the readings the groups. */
const CHANGE = `UPDATE items SET price = 4242, measured_at = '${LATER}' WHERE id = ${middle('items')};
  INSERT INTO group_member_readings VALUES (${middle('groups')}, '2019-01-01T00:00:00Z', 77);`;
const MORE = `UPDATE games SET visits = 12345 WHERE id = ${middle('games')}`;

const keep = (made: Site, sql = ''): Promise<Published> => made.build(sql, { keepDownloads: true });

/** What the sites of the tests are copies of: as it was first built, and behind a change of the register. */
const first = new Site(path('register.sqlite'), path('dist'));
await writeSample({ file: first.register, records: 120, seed: 3 });
/** The newest measurement when the downloads were written. */
const { asOf } = await first.build(`INSERT INTO withheld SELECT 'user', max(id), '${LATER}' FROM users`);
const late = copyOf(first, path);
await keep(late, CHANGE);
/** The trees of first builds: after both changes, and after the second alone. */
const bothTree = await fresh(copyOf(late, path), MORE);
const moreTree = await fresh(copyOf(first, path), MORE);

const site = (): Site => copyOf(first, path);

const downloadsOf = <T>(files: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(files).filter(([name]) => isDownload(name)));
const restOf = (out: string): Record<string, string> =>
  Object.fromEntries(Object.entries(contentOf(out)).filter(([name]) => !speaksOfDownloads(name)));
const writtenBy = ({ exports }: Published): string[] =>
  Object.keys(exports).filter((name) => exports[name]?.written);
const file = (out: string, name: string): string => join(out, 'downloads', name);

async function fresh({ register }: Site, sql: string): Promise<string> {
  const out = path('fresh');
  changeRegister(register, sql);
  await published({ register, out });
  return out;
}

async function expectFresh(made: Site, other: string): Promise<void> {
  expect(contentOf(made.out)).toEqual(contentOf(other));
  expect(snapshotOf(made.out).routes).toEqual(snapshotOf(other).routes);
  expect(await damageOf(made.out)).toEqual([]);
}

it('downloads that are kept are not touched, and name the snapshot that they are of, until a build writes all', async () => {
  const made = site();
  const { out } = made;
  const before = downloadsOf(stateOf(out));
  const of = { as_of: asOf, sequence: 1, digest: snapshotOf(out).digest };
  for (const [sequence, sql, changed] of [
    [2, CHANGE, '"/api/v1/item/'],
    [3, MORE, '"/api/v1/game/'],
  ] as const) {
    const result = await keep(made, sql);
    expect(downloadsOf(stateOf(out))).toEqual(before);
    const downloads = { asOf, kept: Object.keys(result.exports) };
    expect(result).toMatchObject({ sequence, asOf: LATER, downloads });
    expect(writtenBy(result)).toEqual([]);
    // For clients that follow the changes from there.
    expect(snapshotOf(out)).toMatchObject({ sequence, downloads: of });
    expect(json(readTree(out), 'downloads/datapackage.json')).toMatchObject(of);
    expect(JSON.stringify(changedBy(out, sequence))).toContain(changed);
  }
  expect(restOf(out)).toEqual(restOf(bothTree));
  const result = await published(made);
  expect(writtenBy(result)).toEqual(Object.keys(result.exports));
  expect(result.downloads).toEqual({ asOf: LATER, kept: [] });
  const { digest, downloads } = snapshotOf(out);
  expect(downloads).toMatchObject({ as_of: LATER, sequence: 4, digest });
  await expectFresh(made, bothTree);
});

/** What names its snapshot, or lists all documents. */
const NAMING = ['documents.sha256.gz', 'register.sqlite', 'register.sqlite.gz'];
const DESCRIBING = ['README.txt', 'SHA256SUMS', 'datapackage.json'];

describe('the files of a kind of which no document changed', () => {
  it('are not touched, while those of others and what names the snapshot are written', async () => {
    const made = site();
    const before = downloadsOf(stateOf(made.out));
    const result = await made.build(MORE);
    const touched = namesThatDiffer(downloadsOf(stateOf(made.out)), before).map((name) => name.slice(10));
    const own = ['games.csv', 'games.csv.gz', 'games.parquet'];
    const documents = ['documents/game.ndjson.gz', 'documents/other.ndjson.gz'];
    expect(touched.toSorted()).toEqual([...own, ...documents, ...NAMING, ...DESCRIBING].toSorted());
    const written =
      'games documents/game documents/other documents.sha256 register.sqlite.gz register.sqlite';
    expect(writtenBy(result)).toEqual(written.split(' '));
    await expectFresh(made, moreTree);
  });

  it.each([
    ['cut short', (content: Buffer) => content.subarray(1)],
    ['altered', (content: Buffer) => Buffer.from(content.toString().replaceAll(',', ';'))],
  ])('are written where one of them is %s', async (_, damage) => {
    const made = site();
    const damaged = file(made.out, 'items.csv');
    writeFileSync(damaged, damage(readFileSync(damaged)));
    expect(writtenBy(await made.build(MORE))).toContain('items');
    await expectFresh(made, moreTree);
  });
});

it('the files of all kinds are written where the program is another', async () => {
  const generator = { ...effectsAt('2026-12-01T00:00:00Z').generator, code: 'another' };
  const result = await buildWith(site(), { generator });
  expect(result.published && writtenBy(result)).toEqual(Object.keys(result.published ? result.exports : {}));
});

const WITHHELD = `INSERT INTO withheld SELECT 'user', id, '${LATER}' FROM users ORDER BY id LIMIT 1;`;

it.each<[string, string, (out: string) => void]>([
  ['somebody is withheld meanwhile', WITHHELD, () => undefined],
  ['a file is missing', '', (out) => rmSync(file(out, 'items.csv.gz'))],
  ['what describes them is missing', '', (out) => rmSync(file(out, 'datapackage.json'))],
])('with --keep-downloads, the downloads are written where %s', async (_, sql, damage) => {
  const made = copyOf(late, path);
  damage(made.out);
  const result = await keep(made, sql + MORE);
  expect(result.downloads).toEqual({ asOf: result.asOf, kept: [] });
  await expectFresh(made, sql === '' ? bothTree : await fresh(made, ''));
});

it('the command line says what was kept and how old it is', async () => {
  const { register, out } = site();
  const command = (name: string, ...more: string[]) => inProcess(name, ...inputs(register, out), ...more);
  changeRegister(register, CHANGE);
  const { code, stdout } = await command('build', '--keep-downloads');
  expect([code, stdout]).toEqual([
    0,
    containing(`  downloads  0 written, 0 unchanged, 34 kept as of ${asOf}\n`),
  ]);
  const KEPT: unknown = expect.arrayContaining(['items', 'users', 'register.sqlite']);
  const second = await command('build', '--keep-downloads', '--json');
  expect(JSON.parse(second.stdout)).toMatchObject({
    as_of: LATER,
    exports: { items: { written: false }, users: { written: false } },
    downloads: { as_of: asOf, kept: KEPT },
  });
  expect((await command('diff')).stdout).toContain('A build would change nothing');
  expect((await command('build')).stdout).toContain('  downloads  34 written, 0 unchanged\n');
  changeRegister(register, MORE);
  expect((await command('build')).stdout).toContain('  downloads  8 written, 26 unchanged\n');
});
