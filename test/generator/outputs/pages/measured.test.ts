/** Pages and texts of a register that measures little, in the words of its operator. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { published } from '../../../support/build.js';
import { temporary } from '../../../support/folder.js';
import { writeOperator } from '../../../support/operator.js';
import { runSql } from '../../../support/register.js';
import { containing, matching } from '../../../support/values.js';
import { textOf } from './site.js';
import { CLUBS, MEASURED, READ, writeClubs } from '../../../system/pages/clubs.js';

const path = temporary();

async function built(register: string, keys: object) {
  const out = path('dist');
  await published({ register, out, operator: writeOperator(path('site'), keys) });
  return { out, page: (name: string): string => readFileSync(join(out, name), 'utf8') };
}

const words = (html: string): string => textOf(html).replaceAll(/\s+/g, ' ').trim();
const filesIn = (out: string): string[] =>
  readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((file) => !/\.(gz|br)$/.test(file));
const pagesIn = (out: string): string[] => filesIn(out).filter((file) => file.endsWith('.html'));

/** A page as its readers see it, with its title, descriptions and labels, without code. */
const seen = (html: string): string =>
  words(
    html
      .replaceAll(/<(pre|script|code)\b[^]*?<\/\1>/g, '')
      .replaceAll(/<[^>]*?\b(?:content|aria-label|title)="([^"]*)"[^>]*>/g, ' $1 '),
  );
const site = await built(writeClubs(path('register.sqlite')), CLUBS);

describe('a register of clubs, players and islands', () => {
  it('says in no page, feed or file for crawlers what it doesn’t have', () => {
    expect(pagesIn(site.out)).not.toContain('item.html');
    expect(pagesIn(site.out)).not.toContain('developers/reference/items.html');
    for (const file of pagesIn(site.out)) {
      // Documents about all kinds have null for the one that is absent, and say so.
      if (/^developers\/reference\/(ids|lists|names|register|publishing)\.html$/.test(file)) continue;
      const text = seen(site.page(file));
      expect(text, file).not.toMatch(/\bcatalogue|\b(?<!An )items?\b/i);
      expect(text, file).not.toMatch(
        /renamed lately|renamed groups|new names|new owners|today’s or a former/i,
      );
    }
    for (const file of ['robots.txt', 'sitemap.xml', 'developers.json'])
      expect(site.page(file), file).not.toMatch(/\/items?\b/);
    expect(existsSync(join(site.out, 'feeds/groups.atom'))).toBe(false);
    const links = [...site.page('index.html').matchAll(/<link rel="alternate" href="([^"]*)"/g)];
    expect(links.map(([, href]) => href)).toEqual(
      ['all', 'new-groups', 'new-users', 'games', 'snapshots'].flatMap((name) => [
        `/feeds/${name}.atom`,
        `/feeds/${name}.json`,
      ]),
    );
  });

  it('calls the kinds what its operator calls them, on pages', () => {
    for (const file of pagesIn(site.out)) {
      if (file.startsWith('developers/reference/')) continue;
      const text = seen(site.page(file))
        .replaceAll(/https?:\/\/\S*|\/[a-z][\w/{}.]*/g, '')
        .replaceAll(/\b(documents\/)?[\w-]+\.(csv|parquet|ndjson)\S*/g, '');
      expect(text, file).not.toMatch(/\b(groups?|users?|games?)\b/i);
    }
    expect(site.page('developers.html')).toContain(`<a href="${CLUBS.source_url}">register-api</a>`);
    const front = words(site.page('index.html'));
    expect(front).toContain('The largest clubs');
    expect(front).toContain('3 clubs, 1 player, 1 island, 4 readings of member counts.');
    expect(site.page('group.html')).toContain('<title>Club – Golden</title>');
    expect(words(site.page('game.html'))).toContain('An island in this register');
    expect(words(site.page('developers/reference/groups.html'))).toContain('Measured record of one club.');
  });

  it('calls them so in feeds, and by their own names in addresses and fields', () => {
    expect(JSON.parse(site.page('feeds/games.json'))).toMatchObject({
      title: 'Golden: islands',
      description: matching(/^Islands measured for the first time: the newest 200/),
      items: [
        {
          title: 'Island measured for the first time: “Lagoon”',
          content_html: containing('/game/9">Island 9</a>'),
          _register: { kind: 'game', id: 9 },
        },
      ],
    });
    const snapshots = site.page('feeds/snapshots.atom');
    expect(snapshots).toContain('<dt>clubs</dt><dd>3 added, 0 changed, 0 removed</dd>');
    expect(snapshots).not.toMatch(/<dt>(items|things|groups)/);
    const documents = filesIn(site.out).filter(
      (name) => /\.(json|csv|txt)$/.test(name) && !/^(feeds\/|developers\.json)/.test(name),
    );
    expect(documents.length).toBeGreaterThan(100);
    expect(documents.filter((name) => /\bclubs?\b|island/i.test(site.page(name)))).toEqual([]);
  });

  it('says in the reference what is not measured, and in no guide what it hasn’t', () => {
    const groups = words(site.page('developers/reference/groups.html'));
    expect(groups).toMatch(/Description, exactly as read\. Always null: this register does not measure it\./);
    expect(groups).not.toMatch(/Member count[^.]*\. Always null/);
    const start = words(site.page('developers.html'));
    expect(start).not.toMatch(/is an experience|universe id|changed_after|history of one group/);
    expect(site.page('api/v1/openapi.json')).not.toMatch(/price_state|name and ownership/);
  });
});

it('prices are in the unit that the operator names, in pages and descriptions', async () => {
  const sql = `PRAGMA user_version = 1; CREATE TABLE items (id INTEGER PRIMARY KEY, price INT, ${MEASURED}) STRICT;
    INSERT INTO items VALUES (3, 120, ${READ});`;
  const { page } = await built(runSql(path('register.sqlite'), sql), { price_unit: 'US cents' });
  const described = ['api/v1/openapi.json', 'downloads/datapackage.json'];
  for (const file of ['developers/reference/items.html', 'downloads.html', 'item.html', ...described]) {
    expect(words(page(file)), file).toContain('US cents');
    expect(words(page(file)), file).not.toContain('currency unit');
  }
});

const ID = 'id INTEGER PRIMARY KEY';
const [OLD, NEW] = ['2026-10-01T08:00:00Z', '2026-11-20T08:00:00Z'];
it.each([
  {
    what: 'items without values',
    sql: `CREATE TABLE items (${ID}, ${MEASURED}) STRICT; INSERT INTO items VALUES (3, ${READ});`,
    lists: 'what is new',
    names: ['Look-up', 'How records can be found'],
    finding: 'From a kind to all ids',
    texts: { index: 'new items, as they are found', developers: 'item.measured_at' },
  },
  {
    what: 'groups and their owners',
    sql: `CREATE TABLE groups (${ID}, owner_id INT, owner_state TEXT, ${MEASURED}) STRICT;
        INSERT INTO groups VALUES (4, 7, 'owned', ${READ});`,
    lists: 'the largest',
    names: ['Owners', 'Records by an owner'],
    finding: 'From an owner to records, and to all ids',
    texts: { 'developers/guides/finding': 'The groups that a user owns' },
  },
  {
    what: 'groups and their names, the first of which is empty',
    sql: `CREATE TABLE groups (${ID}, name TEXT, ${MEASURED}) STRICT;
        CREATE TABLE group_names (group_id INT, position INT, name TEXT, first_measured_at TEXT,
          last_measured_at TEXT, PRIMARY KEY (group_id, position)) STRICT;
        INSERT INTO groups VALUES (4, 'Quiet Arcade', ${READ});
        INSERT INTO group_names VALUES (4, 1, '', '${OLD}', '${OLD}'), (4, 2, 'Quiet Arcade', '${NEW}', '${NEW}');`,
    lists: 'the largest, what is new',
    names: ['Names', 'Records by a name'],
    finding: 'From a name to records, and to all ids',
    texts: { index: 'an empty name' },
  },
])('a register of $what has pages that promise no more', async ({ sql, lists, names, finding, texts }) => {
  const { page } = await built(runSql(path('register.sqlite'), `PRAGMA user_version = 1; ${sql}`), {});
  const titleOf = (name: string): readonly (string | undefined)[] => {
    const html = page(`developers/${name}.html`);
    return [/<title>(.*?): doc/.exec(html)?.[1], / – (.*?): documentation of/.exec(html)?.[1]];
  };
  expect(titleOf('reference/lists')).toEqual(['Lists', `What stands out: ${lists}`]);
  expect(titleOf('reference/names')).toEqual(names);
  expect(titleOf('guides/finding')).toEqual(['Finding records', finding]);
  for (const [name, text] of Object.entries(texts)) expect(words(page(`${name}.html`))).toContain(text);
});
