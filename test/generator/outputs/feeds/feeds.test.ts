/** Feeds: how far back they go, what is legible, what entries say, and the documents of both formats. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { temporary } from '../../../support/folder.js';
import type { Rows } from '../../../support/register.js';
import { siteOf } from '../../../support/site.js';
import { OWNERS } from '../../../../generator/outputs/feeds/changes.js';
import type { FeedDocument, FeedOperator } from '../../../../generator/outputs/feeds/document.js';
import { EntryMaker } from '../../../../generator/outputs/feeds/entries.js';
import { atom, jsonFeed } from '../../../../generator/outputs/feeds/render.js';
import { snapshotFeed } from '../../../../generator/outputs/feeds/snapshots.js';
import { cut } from '../../../../generator/outputs/pages/words.js';
import { ROUTES } from '../../../../generator/routes/routes.js';
import { Measured } from '../../../../generator/schema/measured.js';

const path = temporary();
const AS_OF = '2026-11-20T08:00:00Z';
const TWO_DAYS_BEFORE = '2026-11-18T08:00:00Z';
const EARLIER = '2026-11-18T07:59:59Z';

const feed = z.object({ items: z.array(z.object({ id: z.string(), date_published: z.string() })) });

const firsts = (from: number, count: number, first_measured_at: string) =>
  Array.from({ length: count }, (_, index) => ({ id: from + index, first_measured_at }));

const renamed = (count: number, time: string): Rows => ({
  groups: [{ id: 1, name: `name ${count}`, first_measured_at: EARLIER }],
  group_names: Array.from({ length: count + 1 }, (_, index) => {
    const seen = index === 0 ? EARLIER : time;
    const times = { first_measured_at: seen, last_measured_at: seen };
    return { group_id: 1, position: index + 1, name: `name ${index}`, ...times };
  }),
});

async function feedsOf(rows: Rows): Promise<(name: string) => z.infer<typeof feed>['items']> {
  const { out } = await siteOf(path, rows);
  return (name) => feed.parse(JSON.parse(readFileSync(join(out, `feeds/${name}.json`), 'utf8'))).items;
}

it('a feed has its newest 200, or all of 48 hours, or the newest 2,000 of them', async () => {
  const itemsOf = await feedsOf({
    users: [...firsts(1, 3, TWO_DAYS_BEFORE), ...firsts(5000, 300, EARLIER)],
    items: [...firsts(1, 201, TWO_DAYS_BEFORE), ...firsts(5000, 300, EARLIER)],
    games: firsts(1, 2001, TWO_DAYS_BEFORE),
    groups: [{ id: 1, measured_at: AS_OF }],
  });
  expect(['new-users', 'items', 'games'].map((name) => itemsOf(name).length)).toEqual([200, 201, 2000]);
});

it.each([
  [150, EARLIER, 200, 100],
  [1500, AS_OF, 2000, 500],
])('at most half of the feed of all are first measurements, along with %i changes', async (...row) => {
  const [changes, time, entries, most] = row;
  const itemsOf = await feedsOf({ games: firsts(1, 600, AS_OF), ...renamed(changes, time) });
  const items = itemsOf('all');
  expect(items).toHaveLength(entries);
  expect(items.filter(({ id }) => id.includes('/first_measured_at/'))).toHaveLength(most);
  const dates = items.map((each) => each.date_published);
  expect(dates).toEqual(dates.toSorted().toReversed());
});

const IMPRINT: FeedOperator = {
  name: 'The Golden Register',
  url: 'https://golden.example/about?a=1&b=2',
  baseUrl: 'https://api.golden.example',
  licence: { name: 'CC0 1.0', url: 'https://creativecommons.org/publicdomain/zero/1.0/' },
  tagAuthority: 'golden.example',
};

it('text is cut between characters, whatever they take, and says so', () => {
  expect(['abc', '😀😀😀', 'abcd', '😀😀😀😀'].map((text) => cut(text, 3))).toEqual([
    'abc',
    '😀😀😀',
    'abc…',
    '😀😀😀…',
  ]);
  expect(cut('a😀b😀c', 2)).toBe('a😀…');
});

it('an entry about an owner names the group by its id, where it had no name', () => {
  const { title, content } = new EntryMaker(IMPRINT, new Measured(), ROUTES).entry({
    source: OWNERS,
    id: 7,
    position: 2,
    from: ['none', null, null],
    to: ['owned', 8, null],
    changedAt: null,
    measuredAt: '2026-05-27T08:00:00Z',
    changedAfter: null,
    name: null,
  });
  expect(title).toBe('Owner of group 7 changed from no owner to user 8');
  expect(content).not.toContain('<dt>Group</dt>');
});

it.each([
  ['Atom', atom, '<uri>https://golden.example/about?a=1&amp;b=2</uri>'],
  ['JSON Feed', jsonFeed, '"url":"https://golden.example/about?a=1&b=2"'],
])('%s has no texts of its operator that readers can’t show, and URLs as they are', (_, render, url) => {
  const document: FeedDocument = {
    id: 'tag:golden.example,2026:feeds/test',
    title: 'Title\u0000',
    description: 'About\u0000',
    updated: '2026-11-20T08:00:00Z',
    self: 'https://api.golden.example/feeds/test.atom?a=1&b=2',
    entries: [],
  };
  const text = render(document, { ...IMPRINT, name: 'The Golden\u0007Register\ud83d' });
  for (const shown of ['Title␀', 'About␀', 'The Golden␇Register\ufffd', url]) expect(text).toContain(shown);
  for (const hidden of ['\u0000', '\u0007', '\ud83d', String.raw`\u`]) expect(text).not.toContain(hidden);
});

const made = (sequence: number, added = 0, changed = 0) => {
  const digests = { from_digest: '', digest: '' };
  const counts = { items: { added, changed, removed: 0 } };
  const built_at = `2026-12-0${sequence}T00:00:00Z`;
  return { sequence, from: sequence - 1, ...digests, as_of: null, built_at, counts, bundle: null };
};

it('the feed of snapshots lists those that changed records, and is dated by the newest of them', () => {
  const [feed] = snapshotFeed(IMPRINT, ['items'], [made(4), made(3, 0, 1), made(2), made(1, 1)]);
  const titles = [...String(feed?.body).matchAll(/<title type="html">.*?(Snapshot[^\]<]*)/g)];
  expect(titles.map(([, title]) => title)).toEqual([
    'Snapshot 3: 0 records added, 1 changed, 0 removed',
    'Snapshot 1: 1 record added, 0 changed, 0 removed',
  ]);
  expect(/<updated>([^<]*)/.exec(String(feed?.body))?.[1]).toBe('2026-12-03T00:00:00Z');
});
