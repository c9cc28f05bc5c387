/** The pages as HTML: valid whatever names the register holds, and with whatever is offered. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HtmlValidate } from 'html-validate';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildConfig } from '../../../../generator/config/config.js';
import { pages } from '../../../../generator/outputs/pages/index.js';
import type { Offers } from '../../../../generator/outputs/pages/index.js';
import { Shown } from '../../../../generator/outputs/pages/shown.js';
import { Register } from '../../../../generator/register/database.js';
import { entriesOf, overviewOf, recordsOf } from '../../../../generator/register/overview.js';
import { ROUTES, routeNamed } from '../../../../generator/routes/index.js';
import { OPERATOR, published } from '../../../support/build.js';
import { temporary } from '../../../support/folder.js';
import { writeRegister } from '../../../support/register.js';
import { hashes, readTree } from '../../../support/tree.js';
import { DOCUMENTATION_FILES, between, textOf } from './site.js';

const path = temporary();
const validator = new HtmlValidate({ extends: ['html-validate:recommended'] });
const FILES = [
  'index.html',
  ...DOCUMENTATION_FILES,
  'downloads.html',
  'feeds.html',
  'group.html',
  'item.html',
  '404.html',
  '429.html',
];

async function complaintsOf(html: string): Promise<string[]> {
  const { results } = await validator.validateString(html);
  return results.flatMap(({ messages }) => messages.map(({ ruleId, message }) => `${ruleId}: ${message}`));
}

async function built(content: Parameters<typeof writeRegister>[1]): Promise<Record<string, string>> {
  const out = path('dist');
  await published({ register: writeRegister(path('register.sqlite'), content), out });
  return Object.fromEntries(FILES.map((file) => [file, readFileSync(join(out, file), 'utf8')]));
}

const HOSTILE = '</script><script>alert(1)</script><!-- "\'& \u202Eרע מאוד';

describe('pages', () => {
  let empty: Readonly<Record<string, string>>;
  beforeAll(async () => {
    empty = await built('');
  });

  it('are valid without a single record', async () => {
    for (const [file, html] of Object.entries(empty)) expect(await complaintsOf(html), file).toEqual([]);
    expect(empty['index.html']).toContain('Nothing has been measured yet.');
  });

  it('are valid with names that try to be markup, and isolate and escape them', async () => {
    const files = await built({
      groups: [
        { id: 1, name: HOSTILE, member_count: 5, description: '<!--<script>' },
        { id: 2, name: null, member_count: 4 },
        { id: 3, name: 'W'.repeat(400), member_count: 3 },
      ],
      group_member_readings: [1, 2, 3].map((day) => ({
        group_id: 1,
        measured_at: `2026-11-0${day}T08:00:00Z`,
        member_count: 2 + day,
      })),
      users: [{ id: 1, username: HOSTILE }],
    });
    for (const [file, html] of Object.entries(files)) {
      expect(await complaintsOf(html), file).toEqual([]);
      expect(html, file).not.toContain('<script>alert');
    }
    expect(between(files['index.html'] ?? '', '<bdi>', '</bdi>')[0]).toBe(
      '&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!-- &quot;&#39;&amp; \u202Eרע מאוד',
    );
    expect(files['index.html']).toContain('Group 2');
  });

  it('have no style and no script in them but data, as their policy demands', async () => {
    for (const html of Object.values(empty)) {
      expect(html).not.toMatch(/ style="| on\w+="|<style/);
      const inline = [...html.matchAll(/<script(?![^>]*\bsrc=)([^>]*)>/g)].map(
        ([, attributes]) => attributes,
      );
      for (const attributes of inline) expect(attributes).toMatch(/type="application\/(ld\+)?json"/);
    }
  });

  it('are the same bytes from the same register', async () => {
    const register = writeRegister(path('register.sqlite'), { groups: [{ id: 1, member_count: 5 }] });
    const [one, two] = [path('one'), path('two')];
    await published({ register, out: one, at: '2026-12-01T00:00:00Z' });
    await published({ register, out: two, at: '2031-12-01T00:00:00Z' });
    const [first, second] = [hashes(readTree(one)), hashes(readTree(two))];
    const script = routeNamed(ROUTES, 'explorer-script').file;
    for (const file of [...FILES, script, 'developers.json', '.well-known/security.txt', 'robots.txt']) {
      expect(first[file], file).toBeDefined();
      expect(second[file], file).toBe(first[file]);
    }
  });
});

const sha256 = '1'.repeat(64);
const file = (name: string, format: string, bytes: number) => ({
  path: `/downloads/${name}`,
  format,
  type: format === 'CSV' ? 'text/csv' : 'application/vnd.apache.parquet',
  bytes,
  sha256,
});
const bulk = (name: string, rows: number, bytes: number, description: string) => ({
  path: `/downloads/${name}`,
  type: 'application/gzip',
  description,
  rows,
  bytes,
  sha256,
});

const OFFERS: Offers = {
  downloads: {
    asOf: '2026-11-20T08:00:00Z',
    tables: [
      {
        name: 'groups',
        plural: 'groups',
        description: 'Every one of groups.',
        rows: 12_345,
        newest: '2026-11-19T21:40:00Z',
        columns: [
          { name: 'id', type: 'id', nullable: false, description: 'Numeric id.' },
          { name: 'member_count', type: 'count', unit: 'members', nullable: true, description: 'Members.' },
          { name: 'verified', type: 'boolean', nullable: true, description: 'Verified.' },
          { name: 'measured_at', type: 'time', nullable: false, description: 'When.' },
        ],
        files: [file('groups.csv', 'CSV', 34_900_000), file('groups.parquet', 'Parquet', 999)],
      },
      {
        name: 'usernames',
        plural: 'users',
        description: 'Every one of usernames.',
        rows: 655,
        newest: null,
        columns: [{ name: 'username', type: 'text', nullable: true, description: 'Name.' }],
        files: [file('usernames.csv', 'CSV', 100_000), file('usernames.parquet', 'Parquet', 1001)],
      },
    ],
    bulk: [
      bulk('documents/group.ndjson.gz', 12_346, 2_000_000, 'Lines & bodies <of> groups.'),
      bulk('register.sqlite.gz', 13_000, 8_000_000, 'All tables.'),
    ],
  },
  feeds: [
    {
      title: 'All <changes>',
      description: 'Names & owners',
      atom: '/feeds/all.atom',
      json: '/feeds/all.json',
    },
  ],
};

/** All that is rendered with the offers, by route. */
const rendered = (): ReadonlyMap<string, string> => {
  const source = writeRegister(path('register.sqlite'), { groups: [{ id: 1, member_count: 5 }] });
  const config = buildConfig({ register: source, out: path('dist'), operator: OPERATOR });
  const register = Register.open(source);
  try {
    const known = overviewOf(recordsOf(register), entriesOf(register), register.measured);
    const all = pages(config, known, ROUTES, new Shown(known), OFFERS, () => undefined);
    return new Map([...all].map(({ route, body }) => [route, body.toString()]));
  } finally {
    register.close();
  }
};

/** The cells of a row as text. */
const cells = (row: string): string =>
  row
    .split(/<\/t[hd]>/)
    .map((cell) => textOf(cell).replaceAll(/\s+/g, ' ').trim())
    .filter((cell) => cell !== '')
    .join(' | ');

describe('what others offer', () => {
  let all: ReadonlyMap<string, string>;
  beforeAll(() => {
    all = rendered();
  });

  it('is shown with rows, sizes in short and times', async () => {
    const html = all.get('downloads-page') ?? '';
    expect(await complaintsOf(html)).toEqual([]);
    for (const text of [
      // 34,900,000 + 999 + 100,000 + 1,001 + 2,000,000 + 8,000,000 bytes
      '6 files, 45.0 MB in all',
      'As of <time datetime="2026-11-20T08:00:00Z">20 November 2026, 08:00 UTC</time>',
      'newest measurement <time datetime="2026-11-19T21:40:00Z">19 November 2026, 21:40 UTC</time>',
    ])
      expect(html).toContain(text);
    expect(html.match(/newest measurement/g)).toHaveLength(1);
    const row = (start: string, end: string): string => cells(between(html, start, end)[0] ?? '');
    expect(row('<tr id="groups">', '</tr>')).toBe(
      'groups Every one of groups. | Rows 12,345 | CSV 34.9 MB, groups.csv | Parquet 999 bytes, groups.parquet',
    );
    expect(row('<tfoot>', '</tfoot>')).toBe('All tables | Rows 13,000 | CSV 35.0 MB | Parquet 2.00 kB');
    expect(row('id="whole"', '</section>')).toContain('8.00 MB');
    // The largest file of a table is the one that resuming is worth most for.
    expect(html).toMatch(/curl -f --retry 5 -O -C - "[^"]*\/downloads\/groups\.csv"/);
  });

  it('has columns with their types in JSON and SQL, null as a mark, unit and meaning', () => {
    const html = all.get('downloads-page') ?? '';
    const [groups = ''] = between(html, '<summary><code>groups</code>', '</table>');
    expect(between(groups, '<tr><th scope="row">', '</tr>').map(cells)).toEqual([
      'id | integer · INTEGER | Numeric id.',
      'member_count | integer · INTEGER null | Members. Unit: members.',
      'verified | boolean · INTEGER null | Verified.',
      'measured_at | string · TEXT | When. RFC 3339, in UTC.',
    ]);
  });

  it('is what feed readers find on every page', async () => {
    for (const page of ['front-page', 'developers-page', 'downloads-page', 'feeds-page']) {
      const head = between(all.get(page) ?? '', '<head>', '</head>')[0] ?? '';
      const found = [
        ...head.matchAll(
          /<link rel="alternate" href="(\/feeds\/\w+\.(?:atom|json))" type="[^"]+" title="[^"]+">/g,
        ),
      ];
      expect(found.map(([, href]) => href)).toHaveLength(12);
    }
    const html = all.get('feeds-page') ?? '';
    expect(await complaintsOf(html)).toEqual([]);
    expect(html).toContain('Names &amp; owners');
  });
});
