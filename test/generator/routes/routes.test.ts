/** The route table: each URL once, with files that stay in the tree. */
import { expect, it } from 'vitest';
import { LISTS, LISTS_REFERENCE } from '../../../generator/routes/lists.js';
import { ROUTES, isMeasured, routeNamed, tableFor } from '../../../generator/routes/routes.js';
import { redirectsIn } from '../../../generator/routes/redirects.js';
import { Measured } from '../../../generator/schema/measured.js';

/** The routes with files; others serve those of another one. */
const OWN_FILES = ROUTES.filter(({ requires }) => requires === undefined);

it('the route table serves the page of a kind at the URLs of its records, each of which must be published', () => {
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

it('the route table has a route where each redirect leads', () => {
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

it('every list has its place on the page that documents them', () => {
  const documented = new Set(LISTS_REFERENCE.flat());
  expect(LISTS.filter(({ name }) => !documented.has(name))).toEqual([]);
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
