/** The route table: each URL once, with files that stay in the tree. */
import { describe, expect, it } from 'vitest';
import { ROUTES, isMeasured, routeNamed, tableFor } from '../../../generator/routes/routes.js';
import { filler } from '../../../generator/routes/route.js';
import { redirectsIn } from '../../../generator/routes/redirects.js';
import { keyForm } from '../../../generator/routes/keys.js';
import { Measured } from '../../../generator/schema/measured.js';

/** The routes with files; others serve those of another one. */
const OWN_FILES = ROUTES.filter(({ requires }) => requires === undefined);

describe('the route table', () => {
  it('serves the page of a kind at the URLs of its records, each of which must be published', () => {
    const others = ROUTES.filter((route) => !OWN_FILES.includes(route));
    expect(others.map(({ path, file, requires }) => [path, file, requires])).toEqual([
      ['/group/{id}', 'group.html', 'group'],
      ['/user/{id}', 'user.html', 'user'],
      ['/game/{id}', 'game.html', 'game'],
      ['/item/{id}', 'item.html', 'item'],
    ]);
    for (const { file, requires = '', parameters, absent, bucket, class: cacheClass } of others) {
      const record = routeNamed(ROUTES, requires);
      expect({ parameters, absent }).toEqual({ parameters: record.parameters, absent: record.absent });
      expect([bucket, cacheClass]).toEqual(['page', 'page']);
      expect(OWN_FILES.map((route) => [route.path, route.file])).toContainEqual([`/${requires}`, file]);
    }
  });

  it('has a route where each redirect leads', () => {
    const redirects = redirectsIn(ROUTES);
    expect(redirects).toEqual([
      { path: '/docs', to: '/developers' },
      { path: '/openapi.json', to: '/api/v1/openapi.json' },
      { path: '/developers/reference', to: '/developers/reference/groups' },
      { path: '/developers/guides', to: '/developers/guides/limits' },
    ]);
    const withoutGroups = ROUTES.filter(({ name }) => name !== 'reference-groups-page');
    const first = { path: '/developers/reference', to: '/developers/reference/users' };
    expect(redirectsIn(withoutGroups)).toContainEqual(first);
    const paths = ROUTES.map(({ path }) => path);
    for (const { to } of redirects) expect(paths).toContain(to);
  });

  it('has no two routes of one file', () => {
    const files = OWN_FILES.map((route) => route.file);
    expect(new Set(files).size).toBe(files.length);
  });
});

it('the keys of prefixes are in the order of the number of digits, then of the text', () => {
  const texts = ['0', '1', '9', 'a', 'f', '00', '00a', '01', '0f', '10', 'ff', '000', 'fff', '000000000000'];
  const sorted = texts.toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1));
  const keys = sorted.map((text) => keyForm('prefix').keyOf(text));
  expect(keys.toSorted((a, b) => a - b)).toEqual(keys);
  expect(keys.map(filler('{prefix}'))).toEqual(sorted);
});

/** A route as it is for a register that doesn't measure some things. */
const routeFor = (name: string, ...absent: readonly string[]) =>
  routeNamed(tableFor(ROUTES, new Measured(absent)), name);

it.each([
  ['largest-games', ['games'], 'games are not'],
  ['owners-user', ['groups', 'games'], 'groups and games are not'],
  ['feed-users', ['usernames'], 'histories of usernames of users are not'],
  ['feed-users', ['users', 'usernames'], 'users are not'],
])('the table for a register has nothing at %s without %j', (name, absent, reason) => {
  expect(routeFor(name, ...absent).absent).toBe(`${reason} measured by this register`);
  expect(isMeasured(routeFor(name), new Measured(absent))).toBe(false);
});
