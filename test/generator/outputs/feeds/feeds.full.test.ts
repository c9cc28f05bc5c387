/** The feeds as programs that nobody here wrote read them. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { FEEDS } from '../../../../generator/routes/feeds.js';
import { PROJECT, temporary } from '../../../support/folder.js';
import { has } from '../../../support/programs.js';
import type { Rows } from '../../../support/register.js';
import { siteOf } from '../../../support/site.js';

const path = temporary();

const HAS_READERS = has('feeds as others read them', 'xmllint', 'jing', 'feedparser');

const SCHEMA = join(PROJECT, 'test/generator/outputs/feeds/atom.rnc');
const OUTPUT_BYTES = 256 * 1024 * 1024;

/** Well-formed XML that keeps the schema of RFC 4287; what is wrong is thrown. */
function validate(files: readonly string[]): void {
  execFileSync('xmllint', ['--noout', ...files], { stdio: 'pipe' });
  execFileSync('jing', ['-c', SCHEMA, ...files], { stdio: 'pipe' });
}

/** feedparser, asked not to clean or resolve anything; HTML values are given as text, as a browser shows it. */
const READ = `
import feedparser, html, json, re, sys
feedparser.SANITIZE_HTML = 0
feedparser.RESOLVE_RELATIVE_URIS = 0
def text(markup):
    return html.unescape(re.sub('<[^>]*>', '', markup))
def facts(markup):
    return {text(name): text(value) for name, value in re.findall('<dt>(.*?)</dt>.*?<dd>(.*?)</dd>', markup, re.S)}
feeds = []
for file in sys.argv[1:]:
    with open(file, 'rb') as stream:
        feed = feedparser.parse(stream.read())
    entries = []
    for entry in feed.entries:
        entries.append({
            'id': entry.id, 'title': text(entry.title), 'updated': entry.updated,
            'facts': facts(entry.content[0].value),
            'links': {link.rel: link.href for link in entry.links},
            'related': [link.href for link in entry.links if link.rel == 'related'],
        })
    feeds.append({
        'bozo': str(feed.get('bozo_exception', '')), 'title': feed.feed.title,
        'author': feed.feed.author_detail.name, 'updated': feed.feed.updated,
        'links': {link.rel: link.href for link in feed.feed.links}, 'entries': entries,
    })
json.dump(feeds, sys.stdout)
`;

const links = z.record(z.string(), z.string());
const parsed = z.array(
  z.object({
    bozo: z.string(),
    title: z.string(),
    author: z.string(),
    updated: z.string(),
    links,
    entries: z.array(
      z.object({
        id: z.string(),
        title: z.string(),
        updated: z.string(),
        facts: z.record(z.string(), z.string()),
        links,
        /** Those of which there can be more than one. */
        related: z.array(z.string()),
      }),
    ),
  }),
);
type Read = z.infer<typeof parsed>[number];

/** What feedparser reads in each file; what it finds fault with is thrown. */
function readBy(files: readonly string[]): readonly Read[] {
  const options = { encoding: 'utf8', maxBuffer: OUTPUT_BYTES } as const;
  const feeds = parsed.parse(JSON.parse(execFileSync('/usr/bin/python3', ['-c', READ, ...files], options)));
  for (const [index, { bozo }] of feeds.entries())
    if (bozo !== '') throw new Error(`feedparser finds fault with ${files[index]}: ${bozo}`);
  return feeds;
}

const BASE = 'https://api.golden.example';

const NAMES = Object.values(FEEDS).map(({ name }) => name);

async function feedsOf(content: Rows | string) {
  const { out } = await siteOf(path, content);
  const file = (name: string): string => join(out, 'feeds', name);
  return {
    validate: () => validate(NAMES.map((name) => file(`${name}.atom`))),
    read: (names: readonly string[]) => readBy(names.map((name) => file(`${name}.atom`))),
    text: (name: string) => readFileSync(file(name), 'utf8'),
  };
}

const golden = (name: string): string =>
  readFileSync(join(PROJECT, 'test/system/golden', name, 'register.sql'), 'utf8');

const jsonFeed = z.object({
  version: z.literal('https://jsonfeed.org/version/1.1'),
  feed_url: z.string(),
  items: z.array(z.object({ id: z.string(), title: z.string(), url: z.string(), date_modified: z.string() })),
});

const briefly = ({ entries }: Read) =>
  entries.map(({ id, title, updated }) => [id.replace('tag:golden.example,2026:', ''), updated, title]);

describe.skipIf(!HAS_READERS)('the feeds of the golden register "histories"', () => {
  let feeds: Awaited<ReturnType<typeof feedsOf>>;
  beforeAll(async () => {
    feeds = await feedsOf(golden('histories'));
  });

  it('tell of groups: renamed, and with a new owner', () => {
    const [current] = feeds.read(['groups']);
    expect(current).toMatchObject({
      title: 'The Golden Register: groups',
      author: 'The Golden Register',
      updated: '2026-11-01T08:00:00Z',
      links: { self: `${BASE}/feeds/groups.atom`, alternate: `${BASE}/feeds` },
    });
    expect(briefly(current!)).toEqual([
      ['group/2/name/2', '2026-11-01T08:00:00Z', 'Group renamed from “Old” to “Newer”'],
      ['group/1/name/3', '2026-03-08T00:00:00Z', 'Group renamed from “B” to “A”'],
      ['group/1/owner/3', '2026-03-02T00:00:00Z', 'Owner of group “B” changed from no owner to user 12'],
      ['group/1/name/2', '2026-02-05T00:00:00Z', 'Group renamed from “A” to “B”'],
      ['group/1/owner/2', '2026-02-02T00:00:00Z', 'Owner of group “A” changed from “ana” to no owner'],
    ]);
    // Field, from, to, and between which readings, with links to the page, the record and its history.
    const { entries } = current!;
    const facts = entries.map((entry) => entry.facts);
    expect(facts[1]).toEqual({
      Changed: 'group name',
      From: 'B',
      To: 'A',
      'New value first measured at': '2026-03-08T00:00:00Z',
      'Old value last measured at': '2026-03-01T00:00:00Z',
    });
    expect(facts[3]).toEqual({
      Changed: 'group name',
      From: 'A',
      To: 'B',
      'Changed at': '2026-02-03T12:00:00Z, according to the platform',
      'New value first measured at': '2026-02-05T00:00:00Z',
      'Old value last measured at': '2026-02-01T00:00:00Z',
    });
    expect(facts[4]).toMatchObject({
      Group: 'A',
      Changed: 'group owner',
      From: 'ana (user 11)',
      To: 'no owner',
    });
    expect(facts[0]).toMatchObject({
      'Old value last measured at': 'unknown: both values were learned at the same time',
    });
    expect(entries[1]?.links['alternate']).toBe(`${BASE}/group/1`);
    expect(entries[1]?.related).toEqual([`${BASE}/api/v1/group/1`, `${BASE}/group/1/history.json`]);
  });

  it('say who publishes them, under which terms, and in which language', () => {
    const text = feeds.text('groups.atom');
    for (const part of [
      'xml:lang="en"',
      '<link rel="license" href="https://creativecommons.org/publicdomain/zero/1.0/"/>',
      '<uri>https://golden.example/</uri>',
      '<generator>register-api</generator>',
      // Of an entry: a JSON document.
      '<link rel="related" href="https://api.golden.example/api/v1/group/1" type="application/json"/>',
    ])
      expect(text).toContain(part);
    expect(text.match(/<rights>/g)).toHaveLength(1);
    expect(JSON.parse(feeds.text('groups.json'))).toMatchObject({
      home_page_url: `${BASE}/feeds`,
      description:
        'Groups with a new name or a new owner: the newest 200, or all of the last 48 hours up to 2,000.' +
        ` The rest is in ${BASE}/downloads; to miss nothing, follow ${BASE}/changes/index.json`,
      language: 'en',
      authors: [{ name: 'The Golden Register', url: 'https://golden.example' }],
    });
  });

  it('are well-formed, keep the schema, and say the same as JSON Feed 1.1, all of them', () => {
    expect(feeds.validate).not.toThrow();
    for (const [index, document] of feeds.read(NAMES).entries())
      expect(jsonFeed.parse(JSON.parse(feeds.text(`${NAMES[index]}.json`)))).toEqual(inJson(document));
  });
});

it.skipIf(!HAS_READERS)('the feeds of an empty register are valid, and never updated', async () => {
  const feeds = await feedsOf(golden('empty'));
  expect(feeds.validate).not.toThrow();
  for (const { entries, updated } of feeds.read(NAMES.filter((name) => name !== 'snapshots')))
    expect({ entries, updated }).toEqual({ entries: [], updated: '1970-01-01T00:00:00Z' });
});

const NEWEST = '2026-11-20T08:00:00Z';

const C0 = Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code));

const as = (what: string, text: string, shown = text) => ({ what, text, shown });

/** Written out, so that the test does not share the source's arithmetic. */
const PICTURES = '␀␁␂␃␄␅␆␇␈\t\n␋␌␍␎␏␐␑␒␓␔␕␖␗␘␙␚␛␜␝␞␟';

/** Texts that break feeds, and what a feed must say of them: the text itself, or its documented visible substitute. */
const NASTY = [
  as('all C0 controls', C0.join(''), PICTURES),
  as('U+FFFE', 'a\ufffeb', 'a\ufffdb'),
  as('U+FFFF', 'a\uffffb', 'a\ufffdb'),
  as('a carriage return and line feed', 'one\r\ntwo', 'one␍\ntwo'),
  as('the end of CDATA twice', ']]>]]>'),
  as('the start of CDATA', '<![CDATA[x'),
  as('an entity twice', '&amp;amp;&amp;'),
  as('an ampersand', 'Q & A'),
  as('references', '&#0;&#x7;&lt;&nbsp;&quot;&unknown;'),
  as('a comment', '<!-- x --> <?php ?> <!DOCTYPE x>'),
  as('closing tags of our own', '</bdi></dd></dl></content></entry></feed>'),
  as('a replacement pattern', `$& $1 $$ $\` $'`),
  as('a template', '{id} {month} ${x}'),
  as('mixed directions', 'abc שלום 123'),
  as('an override that is not ended', '\u202eevil'),
  as('a balanced isolate', '\u2067שלום\u2069 x'),
  as('C1 controls and DEL', 'a\u007f\u0080\u0085\u009fb', 'a␡\ufffd\ufffd\ufffdb'),
  as('what comes after C1', '\u00a0\u00ad'),
  as('line and paragraph separators', 'a\u2028b\u2029c'),
  as('noncharacters beyond the first plane', 'a\u{1fffe}\u{10ffff}b'),
  as('outer spaces', '  both  '),
  as('tabs and lines', '\tone\n\n two\t'),
  as('nothing', ''),
  as('10,000 characters that grow', '<&>"'.repeat(2500)),
];

const text = (id: number): string => NASTY[id - 1]!.text;

it.skipIf(!HAS_READERS)('the feeds carry each nasty text, or what is shown for it', async () => {
  const ids = NASTY.map((_, index) => index + 1);
  const seen = { first_measured_at: NEWEST, last_measured_at: NEWEST };
  const feeds = await feedsOf({
    groups: ids.map((id) => ({
      id,
      name: text(id),
      owner_state: 'owned',
      owner_id: id,
      owner_name: text(id),
    })),
    group_names: ids.flatMap((id) => [
      { group_id: id, position: 1, name: text(ids.length + 1 - id), ...seen },
      { group_id: id, position: 2, name: text(id), ...seen },
    ]),
    group_owners: ids.flatMap((id) => [
      { group_id: id, position: 1, owner_state: 'none', ...seen },
      { group_id: id, position: 2, owner_state: 'owned', owner_id: id, owner_name: text(id), ...seen },
    ]),
    users: ids.map((id) => ({ id, username: text(id) })),
    usernames: ids.flatMap((id) => [
      { user_id: id, position: 1, username: 'x', ...seen },
      { user_id: id, position: 2, username: text(id), ...seen },
    ]),
    games: ids.map((id) => ({ id, name: text(id) })),
    items: ids.map((id) => ({ id, name: text(id) })),
  });
  expect(feeds.validate).not.toThrow();
  const found = new Map<string, Readonly<Record<string, string>>>();
  for (const { entries } of feeds.read(NAMES.filter((name) => !/all|snapshots/.test(name)))) {
    for (const { id, facts, title } of entries) {
      found.set(id.replace('tag:golden.example,2026:', ''), facts);
      // Whatever the text, it stays between its marks.
      expect(title).toMatch(/”$|\(empty\)$/);
      expect(title).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    }
  }
  expect(found.size).toBe(7 * ids.length);
  for (const [index, { what, shown }] of NASTY.entries()) {
    const id = index + 1;
    const other = NASTY[ids.length - id]!.shown;
    const owner = { From: 'no owner', To: `${shown} (user ${id})` };
    expect(found.get(`group/${id}/name/2`), what).toMatchObject({ From: other, To: shown });
    expect(found.get(`group/${id}/owner/2`), what).toMatchObject(owner);
    expect(found.get(`user/${id}/username/2`), what).toMatchObject({ From: 'x', To: shown });
    for (const kind of ['group', 'user', 'game', 'item'])
      expect(found.get(`${kind}/${id}/first_measured_at/1`), what).toMatchObject({ Name: shown });
  }
  for (const name of NAMES) expect(() => void JSON.parse(feeds.text(`${name}.json`)), name).not.toThrow();
});

const inJson = ({ entries, links: { self } }: Read): z.infer<typeof jsonFeed> => ({
  version: 'https://jsonfeed.org/version/1.1',
  feed_url: self?.replace(/atom$/, 'json') ?? '',
  items: entries.map(({ id, title, updated, links }) => ({
    id,
    title,
    url: links['alternate'] ?? '',
    date_modified: updated,
  })),
});
