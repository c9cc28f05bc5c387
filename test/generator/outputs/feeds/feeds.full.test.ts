/** The feeds as their readers see them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { FEEDS } from '../../../../generator/routes/feeds.js';
import { published } from '../../../support/build.js';
import { PROJECT, temporary } from '../../../support/folder.js';
import { writeRegister } from '../../../support/register.js';
import { NASTY } from './nasty.js';
import { HAS_READERS, readBy, validate, type Read } from './readers.js';

const path = temporary();

/** Where the register says that it is reached. */
const BASE = 'https://api.golden.example';

const NAMES = Object.values(FEEDS).map(({ name }) => name);

/** The feeds of a register. */
async function feedsOf(content: Parameters<typeof writeRegister>[1]) {
  const out = path('dist');
  await published({ register: writeRegister(path('register.sqlite'), content), out });
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
  });

  it('say field, from, to, and between which readings, with links to the page, the record and its history', () => {
    const [{ entries } = { entries: [] }] = feeds.read(['groups']);
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

  it('say the same as JSON Feed 1.1', () => {
    for (const [index, document] of feeds.read(NAMES).entries())
      expect(jsonFeed.parse(JSON.parse(feeds.text(`${NAMES[index]}.json`)))).toEqual(inJson(document));
  });

  it('are well-formed and keep the schema, all of them', () => {
    expect(feeds.validate).not.toThrow();
  });
});

it.skipIf(!HAS_READERS)('the feeds of an empty register are valid, and never updated', async () => {
  const feeds = await feedsOf(golden('empty'));
  expect(feeds.validate).not.toThrow();
  for (const { entries, updated } of feeds.read(NAMES.filter((name) => name !== 'snapshots')))
    expect({ entries, updated }).toEqual({ entries: [], updated: '1970-01-01T00:00:00Z' });
});

const NEWEST = '2026-11-20T08:00:00Z';

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

/** What the twin of a document in Atom must say. */
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
