/** The pages of records: one file a kind, whatever the number of records, at the URLs of all of them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { OPERATOR } from '../../support/build.js';
import { startProxy } from '../../support/proxy.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { damageOf, filesOf, inProcess, listOf, temporary } from './support.js';

const path = temporary();
const BASE = 'https://api.golden.example';
const SHELLS = ['game.html', 'group.html', 'item.html', 'user.html'];

const register = path('register.sqlite');
const out = path('dist');
const purgeList = path('purge');

const seen = { first_measured_at: '2026-11-01T08:00:00Z', last_measured_at: '2026-11-20T08:00:00Z' };

/** Builds, and returns the lines of the purge list. */
async function build(): Promise<readonly string[]> {
  const args = ['--register', register, '--out', out, '--operator', OPERATOR, '--accept-removals'];
  const { code, stderr } = await inProcess('build', '--quiet', ...args, '--purge-list', purgeList);
  expect([code, stderr]).toEqual([0, '']);
  return readFileSync(purgeList, 'utf8').trimEnd().split('\n');
}

const text = (file: string): string => readFileSync(join(out, file), 'utf8');

const snapshotSchema = z.looseObject({
  routes: z.array(z.looseObject({ name: z.string(), path: z.string(), file: z.string() })),
  redirects: z.unknown(),
});
const routeNamed = (name: string) =>
  snapshotSchema.parse(JSON.parse(text('snapshot.json'))).routes.find((route) => route.name === name);

beforeAll(async () => {
  writeRegister(register, {
    groups: [
      { id: 45, name: 'New' },
      { id: 46, name: 'Other' },
    ],
    group_names: [
      { group_id: 45, position: 1, name: 'Old', ...seen, last_measured_at: '2026-11-10T08:00:00Z' },
      { group_id: 45, position: 2, name: 'New', ...seen, first_measured_at: '2026-11-20T08:00:00Z' },
    ],
    games: [{ id: 3, name: 'Game' }],
  });
  await build();
});

describe('the pages of records', () => {
  it('are a file for each kind, and a route with it', () => {
    expect([...filesOf(out).keys()].filter((file) => SHELLS.includes(file))).toEqual(SHELLS);
    expect(routeNamed('group-shell')).toMatchObject({ path: '/group', file: 'group.html', class: 'page' });
    expect(routeNamed('group-page')).toEqual({
      name: 'group-page',
      path: '/group/{id}',
      file: 'group.html',
      class: 'page',
      bucket: 'page',
      type: 'text/html; charset=utf-8',
      headers: { 'Cache-Tag': 'group-page', 'Surrogate-Key': 'group-page' },
      description: 'Page of one group',
      parameters: [{ name: 'id', in: 'path', type: 'id', description: 'numeric group id' }],
      example: '/group/45',
      absent: 'no group {id} in this register',
      requires: 'group',
    });
    expect(routeNamed('item-page')).not.toHaveProperty('example');
    expect(routeNamed('group-shell')).toMatchObject({ headers: { 'Cache-Tag': 'group-page' } });
  });

  it('are no documents of the index, of the description or of the lists for clients', async () => {
    const { paths } = z
      .object({ paths: z.record(z.string(), z.unknown()) })
      .parse(JSON.parse(text('api/v1/openapi.json')));
    expect(Object.keys(paths).filter((url) => /^\/(group|user|game|item)(\/\{id\})?$/.test(url))).toEqual([]);
    expect(text('api/v1.json')).not.toContain('"/group/{id}"');
    expect(text('sitemap.xml')).not.toContain('{id}');
    expect(existsSync(join(out, '..', '.dist-state/index/group-page'))).toBe(false);
    expect(await damageOf(out)).toEqual([]);
    expect((await inProcess('verify', '--out', out)).stdout).not.toContain('untracked');
  });

  it('are not for crawlers, as the records are not', () => {
    const lines = text('robots.txt').split('\n');
    for (const kind of ['group', 'user', 'game', 'item']) expect(lines).toContain(`Disallow: /${kind}/`);
  });

  it('have no time and no address of their own, so that the file is the same with each snapshot', async () => {
    for (const file of SHELLS) {
      expect(text(file)).not.toContain('rel="canonical"');
      expect(text(file)).not.toContain('og:url');
      expect(text(file)).not.toContain('20 November 2026');
    }
    expect(text('developers.html')).toContain(`<link rel="canonical" href="${BASE}/developers">`);
  });

  it('say where the JSON is to whoever has no script', () => {
    expect(text('group.html')).toContain('<h1>A group in this register</h1>');
    expect(text('group.html')).toContain(`${BASE}/api/v1/group/{id}`);
    expect(text('group.html')).toContain(`${BASE}/group/{id}/history.json`);
    expect(text('game.html')).toContain(`${BASE}/api/v1/game/{id}`);
    expect(text('game.html')).not.toContain('history.json');
  });

  it('are what the entries of feeds lead to, along with the JSON', () => {
    const entry = text('feeds/groups.atom').split('<entry>')[1] ?? '';
    expect(entry).toContain('<id>tag:golden.example,2026:group/45/name/2</id>');
    const links = [...entry.matchAll(/<link ([^>]*)\/>/g)].map(([, attributes = '']) =>
      ['rel', 'type', 'href'].map((name) => new RegExp(`${name}="([^"]*)"`).exec(attributes)?.[1]),
    );
    expect(links).toEqual([
      ['related', 'application/json', `${BASE}/api/v1/group/45`],
      ['related', 'application/json', `${BASE}/group/45/history.json`],
      // Without a rel, a link is an alternate one (RFC 4287, section 4.2.7.2).
      [undefined, undefined, `${BASE}/group/45`],
    ]);
    const feed = z
      .object({
        items: z.array(z.looseObject({ id: z.string(), url: z.string(), content_html: z.string() })),
      })
      .parse(JSON.parse(text('feeds/games.json')));
    expect(feed.items.map(({ id, url }) => [id, url])).toEqual([
      ['tag:golden.example,2026:game/3/first_measured_at/1', `${BASE}/game/3`],
    ]);
    expect(feed.items[0]?.content_html).toContain(
      `<p><a href="${BASE}/game/3">Game 3</a>. As JSON: <a href="${BASE}/api/v1/game/3">its record</a></p>`,
    );
  });

  it('are served as long as the record is there, and redirects lead to the documentation', async () => {
    const proxy = await startProxy(out);
    try {
      const page = await proxy.get('/group/45');
      expect([page.status, page.headers.get('link'), await page.text()]).toEqual([
        200,
        '</api/v1/group/45>; rel="alternate"; type="application/json"',
        text('group.html'),
      ]);
      expect((await proxy.get('/game/3')).headers.get('link')).toContain('</api/v1/game/3>');
      expect((await proxy.get('/user/45')).status).toBe(404);
      expect((await proxy.get('/item/x')).status).toBe(400);
      expect((await proxy.get('/user')).status).toBe(200);
      for (const [from, to] of [
        ['/docs', '/developers'],
        ['/openapi.json', '/api/v1/openapi.json'],
      ] as const) {
        const answer = await proxy.get(from, { redirect: 'manual' });
        expect([answer.status, answer.headers.get('location')]).toEqual([308, to]);
      }
    } finally {
      await proxy.stop();
    }
  });

  it('are purged with a record that is added or removed, not with one that changes', async () => {
    changeRegister(
      register,
      `UPDATE groups SET description = 'changed' WHERE id = 46;
       INSERT INTO games (id, name, first_measured_at, measured_at, measurements)
         VALUES (4, 'More', '2026-11-01T08:00:00Z', '2026-11-20T08:00:00Z', 1);
       DELETE FROM games WHERE id = 3;`,
    );
    const purged = await build();
    expect(purged).toContain(`${BASE}/api/v1/group/46`);
    expect(purged.filter((url) => /\/\/[^/]+\/(group|user|game|item)(\/\d+)?$/.test(url)).toSorted()).toEqual(
      // The field on the page of games names the first of them.
      [`${BASE}/game`, `${BASE}/game/3`, `${BASE}/game/4`],
    );
    const { put, delete: gone } = listOf(out, 2);
    expect([...put.map((each) => each.path), ...gone].filter((url) => /^\/game\/?/.test(url))).toEqual([
      '/game',
    ]);
  });

  it('are purged with a record that is withheld', async () => {
    changeRegister(register, `INSERT INTO withheld VALUES ('group', 46, '2026-11-21T00:00:00Z')`);
    expect(await build()).toContain(`${BASE}/group/46`);
  });

  it('are repaired as any file', async () => {
    writeFileSync(join(out, 'group.html'), 'x');
    expect(await damageOf(out)).toEqual([{ file: 'group.html', what: 'altered' }]);
    const args = ['--register', register, '--out', out, '--operator', OPERATOR, '--accept-removals'];
    expect((await inProcess('verify', ...args, '--repair')).code).toBe(0);
    expect(text('group.html')).toContain('A group in this register');
    expect(await damageOf(out)).toEqual([]);
  });
});
