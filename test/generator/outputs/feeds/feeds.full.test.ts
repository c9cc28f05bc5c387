/** The feeds as clients meet them: built by the command line, served by the proxy. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FEEDS } from '../../../../generator/routes/feeds.js';
import { buildArgs, snapshot } from '../../../support/cli.js';
import { PROJECT, temporary } from '../../../support/folder.js';
import { startProxy, type RunningProxy } from '../../../support/proxy.js';
import { writeRegister } from '../../../support/register.js';
import { readTree } from '../../../support/tree.js';
import { NASTY } from './nasty.js';
import { BASE, HAS_CHECKERS, Subscriber, validate, type Fetched, type JsonFeed } from './subscriber.js';

const path = temporary();

async function build(register: string, out: string): Promise<void> {
  const { code, stderr } = await snapshot(buildArgs(register, out));
  if (code !== 0) throw new Error(`the build ended with ${code}: ${stderr}`);
}

const feedFiles = (out: string, ending: string): string[] =>
  [...readTree(out).keys()]
    .filter((file) => file.startsWith('feeds/') && file.endsWith(ending))
    .map((file) => join(out, file));

/** Text that is JSON. */
const json = z.string().transform((text): unknown => JSON.parse(text));

const NAMES = Object.values(FEEDS).map(({ name }) => name);
const running: RunningProxy[] = [];
afterAll(() => Promise.all(running.map((proxy) => proxy.stop())));

/** Builds a register and serves it. */
async function served(
  register: string,
): Promise<{ out: string; proxy: RunningProxy; subscriber: Subscriber }> {
  const out = path('dist');
  await build(register, out);
  const proxy = await startProxy(out);
  running.push(proxy);
  return { out, proxy, subscriber: new Subscriber(proxy, path) };
}

const golden = (name: string): string =>
  writeRegister(
    path('register.sqlite'),
    readFileSync(join(PROJECT, 'test/system/golden', name, 'register.sql'), 'utf8'),
  );

const briefly = ({ entries }: Fetched) =>
  entries.map(({ id, title, updated }) => [id.replace('tag:golden.example,2026:', ''), updated, title]);

describe.skipIf(!HAS_CHECKERS)('the feeds of the golden register "histories"', () => {
  const register = golden('histories');
  let site: Awaited<ReturnType<typeof served>>;
  beforeAll(async () => {
    site = await served(register);
  });

  it('tell of groups: renamed, and with a new owner', async () => {
    const [current] = await site.subscriber.atoms(['/feeds/groups.atom']);
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

  it('say field, from, to, and between which readings, with links to the page, the record and its history', async () => {
    const [{ entries } = { entries: [] }] = await site.subscriber.atoms(['/feeds/groups.atom']);
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

  it('say who publishes them, under which terms, and in which language', async () => {
    const [{ text } = { text: '' }] = await site.subscriber.atoms(['/feeds/groups.atom']);
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
    const feed = await (await site.proxy.get('/feeds/groups.json')).json();
    expect(feed).toMatchObject({
      home_page_url: `${BASE}/feeds`,
      description:
        'Groups with a new name or a new owner: the newest 200, or all of the last 48 hours up to 2,000.' +
        ` The rest is in ${BASE}/downloads; to miss nothing, follow ${BASE}/changes/index.json`,
      language: 'en',
      authors: [{ name: 'The Golden Register', url: 'https://golden.example' }],
    });
  });

  it('say the same as JSON Feed 1.1', async () => {
    for (const name of NAMES) {
      const twin = await site.subscriber.json(`/feeds/${name}.json`);
      const [document] = await site.subscriber.atoms([`/feeds/${name}.atom`]);
      expect(twin).toEqual(inJson(document!));
    }
  });

  it('are well-formed and keep the schema, all of them', () => {
    expect(feedFiles(site.out, '.atom')).toHaveLength(NAMES.length);
    expect(() => validate(feedFiles(site.out, '.atom'))).not.toThrow();
  });
});

describe.skipIf(!HAS_CHECKERS)('the feeds of an empty register', () => {
  it('are valid, without entries, and never updated', async () => {
    const { out, subscriber } = await served(golden('empty'));
    expect(() => validate(feedFiles(out, '.atom'))).not.toThrow();
    const names = NAMES.filter((name) => name !== 'snapshots');
    for (const { entries, updated } of await subscriber.atoms(names.map((name) => `/feeds/${name}.atom`))) {
      expect({ entries, updated }).toEqual({ entries: [], updated: '1970-01-01T00:00:00Z' });
    }
  });
});

const NEWEST = '2026-11-20T08:00:00Z';

const text = (id: number): string => NASTY[id - 1]!.text;

describe.skipIf(!HAS_CHECKERS)('the feeds of a register of nasty texts', () => {
  it('carry each where it is measured, or what is shown for it', async () => {
    const ids = NASTY.map((_, index) => index + 1);
    const seen = { first_measured_at: NEWEST, last_measured_at: NEWEST };
    const register = writeRegister(path('register.sqlite'), {
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
    const { out, subscriber } = await served(register);
    expect(() => validate(feedFiles(out, '.atom'))).not.toThrow();
    const found = new Map<string, Readonly<Record<string, string>>>();
    for (const { entries } of await subscriber.atoms(
      ['groups', 'users', 'new-groups', 'new-users', 'games', 'items'].map((name) => `/feeds/${name}.atom`),
    )) {
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
    for (const file of feedFiles(out, '.json'))
      expect(json.safeParse(readFileSync(file, 'utf8')).success, file).toBe(true);
  });
});

/** What the twin of a document in Atom must say. */
const inJson = ({ entries, links: { self } }: Fetched): JsonFeed => ({
  version: 'https://jsonfeed.org/version/1.1',
  feed_url: self?.replace(/atom$/, 'json') ?? '',
  items: entries.map(({ id, title, updated, links }) => ({
    id,
    title,
    url: links['alternate'] ?? '',
    date_modified: updated,
  })),
});
