/** What a register doesn't measure is null or absent in the API, never empty or zero. */
import { beforeAll, describe, expect } from 'vitest';
import { always, it, some } from '../../support/thorough.js';
import { writeSample } from '../../../data/sample.js';
import { published } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { writeOperator } from '../../support/operator.js';
import { contentOf, manifestOf } from '../../support/published.js';
import { changeRegister } from '../../support/register.js';
import { containing } from '../../support/values.js';
import { json, readTree } from '../../support/tree.js';
import type { Tree } from '../../support/tree.js';
import { readDescription } from './openapi/support.js';

const path = temporary();

/** Tables that a hobbyist doesn't have. */
const ABSENT = ['items', 'group_names', 'group_owners', 'usernames'];

async function sample(): Promise<string> {
  const file = path('register.sqlite');
  await writeSample({ file, records: 200, seed: 23 });
  return file;
}

async function lacking(tables: readonly string[] = ABSENT): Promise<string> {
  const file = await sample();
  changeRegister(file, tables.map((table) => `DROP TABLE ${table};`).join(' '));
  return file;
}

/** An operator file that says that something is not measured. */
const operator = (...notMeasured: readonly string[]): string =>
  writeOperator(path('site'), { not_measured: notMeasured });

describe('a register without a kind and without histories', () => {
  const out = path('dist');
  let tree: Tree;
  beforeAll(async () => {
    await published({ register: await lacking(), out });
    tree = readTree(out);
  });

  it('has no files of what is absent, and says so where they would be', async () => {
    // Pages have tests of their own.
    const files = [...tree.keys()]
      .filter((each) => !/\.html$|^assets\/|sitemap/.test(each))
      .filter((each) =>
        /item|group_names|group_owners|usernames\.(csv|parquet)|feeds\/(groups|users|items)/.test(each),
      );
    expect(files).toEqual([]);
    const absent = Object.fromEntries(manifestOf(out).routes.map((route) => [route.name, route['absent']]));
    const NOT = 'not measured by this register';
    expect(absent).toMatchObject({
      item: `items are ${NOT}`,
      'feed-groups': `histories of names of groups and histories of owners of groups are ${NOT}`,
      'download-usernames-csv': `histories of usernames of users are ${NOT}`,
      game: 'no game {id} in this register',
    });
  });

  it('names it nowhere: not in the index, the description, the downloads and the feeds', async () => {
    const textOf = (file: string): string => tree.get(file)?.text ?? '';
    expect(textOf('api/v1.json')).not.toMatch(/item/);
    const { paths, components } = readDescription(out);
    expect(Object.keys(paths).filter((each) => /item|feeds\/(groups|users)/.test(each))).toEqual([]);
    expect(Object.keys(components.schemas)).not.toContain('Item');
    for (const file of ['downloads/README.txt', 'downloads/SHA256SUMS', 'downloads/datapackage.json'])
      expect(textOf(file)).not.toMatch(/items\.csv|group_names|usernames\.csv/);
    expect(json(tree, 'feeds/all.json')).toMatchObject({ description: 'Games measured for the first time' });
  });

  const GROUPS = ['groups', 'group_member_readings', 'group_names', 'group_owners'];
  const TABLES: readonly (readonly [string, readonly string[]])[] = [
    ['tables', ABSENT],
    ['a kind with its histories', ['users', 'usernames']],
    ['all kinds but one', [...GROUPS, 'users', 'usernames', 'items']],
  ];
  always.each(some(TABLES, 1))(
    'is published like one whose operator says that they are not measured: %s',
    async (_, tables) => {
      const [one, other] = [path('one'), path('other')];
      await published({ register: await lacking(tables), out: one });
      await published({ register: await sample(), out: other, operator: operator(...tables) });
      expect(contentOf(other)).toEqual(contentOf(one));
    },
  );
});

describe('the commands', () => {
  it('say in one line what is not measured', async () => {
    const register = await lacking();
    const args = ['--register', register, '--operator', operator('groups.description')];
    const check = await inProcess('check', ...args);
    expect(check.stdout).toContain(
      '  not measured: groups.description, group_names, group_owners, usernames, items\n',
    );
    const build = await inProcess('build', ...args, '--out', path('dist'));
    expect(build.stdout).toContain(
      '  absent     groups.description, group_names, group_owners, usernames, items (not measured)\n',
    );
    const { stdout } = await inProcess('check', ...args, '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      absent: ['groups.description', 'group_names', 'group_owners', 'usernames', 'items'],
      counts: { groups: expect.any(Number) as unknown },
      warnings: [],
    });
    expect(JSON.parse(stdout)).not.toHaveProperty('counts.items');
  });

  it('refuse a register that measures nothing', async () => {
    const register = await lacking(['groups', 'users', 'games', 'items']);
    const message = `register "${register}" measures nothing, expected at least one of groups, users, games, items`;
    for (const command of [['check'], ['build', '--out', path('dist')]])
      expect(await inProcess(...command, '--register', register)).toMatchObject({
        code: 1,
        stderr: containing(message),
      });
  });
});
