/** What a register doesn't measure is null or absent in the API, never empty or zero. */
import { describe, expect } from 'vitest';
import { always, it, some, thorough } from '../../support/thorough.js';
import { writeSample } from '../../../data/sample.js';
import { ROUTES } from '../../../generator/routes/routes.js';
import { TABLES } from '../../../generator/schema/schema.js';
import { published } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { writeOperator } from '../../support/operator.js';
import { contentOf, snapshotOf } from '../../support/published.js';
import { changeRegister } from '../../support/register.js';
import { siteOf } from '../../support/site.js';
import { containing, fields } from '../../support/values.js';
import { json, readTree, type Tree } from '../../support/tree.js';
import { readDescription } from './openapi/support.js';

const path = temporary();

/** Tables that a hobbyist doesn't have. */
const ABSENT = ['items', 'group_names', 'group_owners', 'usernames'];

async function sample(): Promise<string> {
  const file = path('register.sqlite');
  await writeSample({ file, records: 200, seed: 23 });
  return file;
}

async function lacking(absent: readonly string[] = ABSENT): Promise<string> {
  const file = await sample();
  const drops = absent.map((each) =>
    each.includes('.') ? `ALTER TABLE ${each.replace('.', ' DROP COLUMN ')};` : `DROP TABLE ${each};`,
  );
  changeRegister(file, drops.join(' '));
  return file;
}

const operator = (...notMeasured: readonly string[]): string =>
  writeOperator(path('site'), { not_measured: notMeasured });

const namesIn = (tree: Tree, what: RegExp): string[] =>
  [...tree]
    // The typed client is the same for all registers.
    .filter(([file, { text }]) => file !== 'clients/client.ts' && what.test(`${file}\n${text}`))
    .map(([file]) => file);

const absentIn = (out: string): Record<string, unknown> =>
  Object.fromEntries(snapshotOf(out).routes.map((route) => [route.name, route['absent']]));

const firstOf = (tree: Tree, folder: string): string =>
  [...tree.keys()].find((file) => new RegExp(`^${folder}/\\d+\\.json$`).test(file)) ?? '';

async function built(register: string, out: string, notMeasured: readonly string[] = []): Promise<string> {
  const args = ['--register', register, '--operator', operator(...notMeasured), '--out', out];
  const { code, stdout } = await inProcess('build', ...args);
  expect(code).toBe(0);
  return stdout;
}

const out = path('dist');
const register = await lacking();
const DECLARED = ['groups.description', 'groups.verified'];
const said = await built(register, out, DECLARED);
const tree = readTree(out);

describe('a register without a kind and without histories', () => {
  it('has no files of what is absent, and says so where they would be', () => {
    const files = [...tree.keys()].filter((each) =>
      /\bitem|group_names|group_owners|usernames\.(csv|parquet|json)|feeds\/(groups|users|items)/.test(each),
    );
    expect(files).toEqual([]);
    const NOT = 'not measured by this register';
    expect(absentIn(out)).toMatchObject({
      item: `items are ${NOT}`,
      'feed-groups': `histories of names of groups and histories of owners of groups are ${NOT}`,
      'download-usernames-csv': `histories of usernames of users are ${NOT}`,
      game: 'no game {id} in this register',
    });
  });

  it('names it nowhere: not in the index, the description, the downloads and the feeds', () => {
    const textOf = (file: string): string => tree.get(file)?.text ?? '';
    expect(textOf('api/v1.json')).not.toMatch(/item/);
    const { paths, components } = readDescription(out);
    expect(Object.keys(paths).filter((each) => /item|feeds\/(groups|users)/.test(each))).toEqual([]);
    expect(Object.keys(components.schemas)).not.toContain('Item');
    for (const file of ['downloads/README.txt', 'downloads/SHA256SUMS', 'downloads/datapackage.json'])
      expect(textOf(file)).not.toMatch(/items\.csv|group_names|usernames\.csv/);
    expect(namesIn(tree, /\/usernames\.json|user-usernames\b/)).toEqual(['snapshot.json']);
    const [first, ...others] = ['Groups', 'users', 'games'].map(
      (kind) => `${kind} measured for the first time`,
    );
    const news = `${first}, ${others.join(' and ')}`;
    expect(json(tree, 'feeds/all.json')).toMatchObject({ description: containing(`${news}: `) });
    const routes: unknown = expect.arrayContaining([
      expect.objectContaining({ name: 'feed-all', description: news }),
    ]);
    expect(json(tree, 'snapshot.json')).toMatchObject({ routes });
    expect(textOf('feeds.html')).toContain(': new groups, new users, new games."');
    expect(textOf('group.html')).toMatch(
      /" content="[^"]* of one group on [^"]*: every reading with its time, /,
    );
    expect(textOf('user.html')).toMatch(/" content="[^"]* of one user on [^"]*, and when[.]"/);
  });

  it('has null for it in lists and documents, and no list of it', () => {
    const games: unknown = expect.any(Array);
    expect(json(tree, 'api/v1/newest.json')).toMatchObject({ games, items: null });
    expect(tree.has('api/v1/largest/usernames.json')).toBe(false);
    expect(json(tree, firstOf(tree, 'api/v1/user'))).toMatchObject({ links: { usernames: null } });
    const group = firstOf(tree, 'api/v1/group').replace(/^api\/v1\/(.*)\.json$/, '$1/history.json');
    expect(json(tree, group)).toMatchObject({ names: null, owners: null });
  });

  it('is said so in one line by the commands', async () => {
    // Of a few, it names each.
    expect(said).toContain('  absent     6 tables and columns, which check names (not measured)\n');
    const args = ['--register', register, '--operator', operator(...DECLARED)];
    const absent = [...DECLARED, 'group_names', 'group_owners', 'usernames', 'items'];
    expect((await inProcess('check', ...args)).stdout).toContain(`  not measured: ${absent.join(', ')}\n`);
    const { stdout } = await inProcess('check', ...args, '--json');
    const counts = { groups: expect.any(Number) as unknown };
    expect(JSON.parse(stdout)).toMatchObject({ absent, counts, warnings: [] });
    expect(JSON.parse(stdout)).not.toHaveProperty('counts.items');
  });
});

const KINDS = ['groups', 'users', 'games', 'items'];
const COLUMNS = KINDS.flatMap((table) => [`${table}.first_measured_at`, `${table}.measurements`]);
const LACKING = some([[...ABSENT, ...DECLARED], COLUMNS], 1);
always.each(LACKING)('without %s, … a register is as if its operator said so', async (...absent) => {
  const isAbove = absent.includes('items');
  const [one, other] = [isAbove ? out : path('one'), path('other')];
  if (!isAbove) await built(await lacking(absent), one);
  await built(await sample(), other, absent);
  expect(contentOf(other)).toEqual(contentOf(one));
});

const T = '2026-11-20T08:00:00Z';
const EARLIER = '2026-11-01T08:00:00Z';

describe('a register that keeps neither the first measurement of its records nor their number', () => {
  it('publishes null for them, announces no record as new, and says in no page when it was', async () => {
    const out = path('dist');
    await built(await lacking(COLUMNS), out);
    const tree = readTree(out);
    const none = { first_measured_at: null, measurements: null, measured_at: containing('Z') };
    expect(json(tree, firstOf(tree, 'api/v1/group'))).toMatchObject(none);
    expect(json(tree, 'api/v1/stats.json')).toMatchObject(
      Object.fromEntries(KINDS.map((one) => [one, none])),
    );
    expect(json(tree, 'api/v1/recent.json')).toMatchObject({ games: null, items: null });
    expect([...tree.keys()].filter((file) => /^feeds\/(games|items)/.test(file))).toEqual([]);
    expect(json(tree, 'feeds/all.json')).toMatchObject({
      description: containing('New names of groups, new owners of groups and new usernames: '),
    });
    expect(tree.get('feeds/all.atom')?.text).not.toMatch(/first_measured_at\/1|for the first time/);
    expect(absentIn(out)['feed-games']).toBe('games.first_measured_at is not measured by this register');
    const said = /First measured|It has been measured|for the first time|temporalCoverage/;
    const pages = [...tree].filter(
      ([file, { text }]) => /^(?!developers\/reference).*\.html$/.test(file) && said.test(text),
    );
    expect(pages.map(([file]) => file)).toEqual([]);
  });

  it('may keep them of some kinds, or of some records, and adds up no more than it knows', async () => {
    const { out } = await siteOf(path, {
      groups: [
        { id: 1, first_measured_at: null, measurements: null },
        { id: 2, measurements: 3 },
      ],
      users: [{ id: 5, first_measured_at: EARLIER, measurements: 7 }],
      games: [
        { id: 1, first_measured_at: null },
        { id: 2, first_measured_at: EARLIER, measurements: null },
      ],
    });
    const tree = readTree(out);
    expect(json(tree, 'api/v1/stats.json')).toMatchObject({
      groups: { records: 2, first_measured_at: null, measurements: null },
      users: { first_measured_at: EARLIER, measurements: 7 },
      games: { first_measured_at: null, measurements: null },
      items: { records: 0, first_measured_at: null, measurements: 0 },
    });
    expect(json(tree, 'api/v1/recent.json')).toMatchObject({ games: [{ id: 2, to: EARLIER }], items: [] });
    expect(json(tree, 'feeds/games.json')).toHaveProperty('items.length', 1);
    // Of some records nobody knows when the first measurement was.
    expect(tree.get('index.html')?.text).not.toContain('First measured');
    expect(tree.get('index.html')?.text).toContain(`Last measured <time datetime="${T}"`);
    expect(tree.get('developers.html')?.text).not.toContain('has been measured');
  });
});

it('a document of histories of which nothing is measured is not there, and nothing names it', async () => {
  const out = path('dist');
  const said = await built(await lacking(['group_member_readings', 'group_names', 'group_owners']), out);
  expect(said).toContain('  absent     group_member_readings, group_names, group_owners (not measured)\n');
  const tree = readTree(out);
  expect(json(tree, firstOf(tree, 'api/v1/group'))).toMatchObject({ links: { history: null } });
  expect(namesIn(tree, /\/history\.json|group-history\b/)).toEqual(['snapshot.json']);
  expect(absentIn(out)['group-history']).toEqual(containing('not measured by this register'));
});

it('the commands refuse a register that measures nothing', async () => {
  const register = await lacking(KINDS);
  const message = `register "${register}" measures nothing, expected at least one of groups, users, games, items`;
  for (const command of [['check'], ['build', '--out', path('dist')]])
    expect(await inProcess(...command, '--register', register)).toMatchObject({
      code: 1,
      stderr: containing(message),
    });
});

/**
 * What has documents of its own, or a list in one with others. Without it there are none, or the list is null; if it
 * is NULL, there are none of a record.
 */
const LISTED_APART = ['games.creator_type', 'games.playing', 'games.visits'];
const PUBLISHED_APART = new Set([...ROUTES.flatMap(({ measures = [] }) => measures), ...LISTED_APART]);
const NULLABLE = TABLES.flatMap(({ name, columns }) =>
  columns.flatMap((column) => {
    const isOne = column.nullable && !PUBLISHED_APART.has(`${name}.${column.name}`);
    return isOne ? [{ table: name, column: column.name }] : [];
  }),
);

thorough('without nullable columns, documents are those of a register in which they are NULL', async () => {
  const register = await sample();
  /** Pages, and the chart in other pages, leave out what a register lacks, and say what is NULL. */
  const documents = async () => {
    const out = path('fresh');
    await published({ register, out });
    const isPage = /\.html(\.\w+)?$|^developers\.json|^embed\.js/;
    return Object.fromEntries(Object.entries(contentOf(out)).filter(([file]) => !isPage.test(file)));
  };
  changeRegister(register, 'DELETE FROM withheld');
  for (const { table, column } of NULLABLE) changeRegister(register, `UPDATE ${table} SET ${column} = NULL`);
  const whole = await documents();
  const drops = NULLABLE.map(({ table, column }) => `ALTER TABLE ${table} DROP COLUMN ${column};`);
  changeRegister(register, `${drops.join(' ')} DROP TABLE withheld`);
  expect(await documents()).toEqual(whole);
});

/** The users that own something. */
const ownersIn = (tree: Tree): readonly unknown[] =>
  [...tree.keys()]
    .filter((file) => file.startsWith('api/v1/owners/user/'))
    .flatMap((file) => fields(json(tree, file))['owners']);

it('a list without its numbers, and groups whose owners nobody read, are null', async () => {
  const other = path('numbers');
  await built(await sample(), other, ['games.playing', 'groups.owner_id']);
  const found = readTree(other);
  const { playing, visits } = fields(json(found, 'api/v1/largest/games.json'));
  expect([playing, Array.isArray(visits)]).toEqual([null, true]);
  const entries = ownersIn(found);
  expect(entries.length).toBeGreaterThan(0);
  expect(new Set(entries.map((entry) => fields(entry)['groups']))).toEqual(new Set([null]));
  // An id says who created a game only along with its kind.
  const kinds = path('kinds');
  await built(await sample(), kinds, ['games.creator_type']);
  const owners = ownersIn(readTree(kinds));
  expect(owners.length).toBeGreaterThan(0);
  expect(new Set(owners.map((owner) => fields(owner)['games']))).toEqual(new Set([null]));
});

it('nothing leads to names or owners of which no column is measured', async () => {
  const out = path('nameless');
  await built(await sample(), out, ['users.username', 'usernames', 'groups.owner_id', 'games.creator_id']);
  const absent = absentIn(out);
  expect(absent['lookup-username']).toBe(
    'users.username and histories of usernames of users are not measured by this register',
  );
  expect(absent['owners-user']).toBe(
    'groups.owner_id and games.creator_id are not measured by this register',
  );
  const tree = readTree(out);
  for (const file of ['api/v1.json', 'api/v1/lookup.json'])
    expect(tree.get(file)?.text).not.toMatch(/lookup\/username|owners\/(?:user|group)/);
});
