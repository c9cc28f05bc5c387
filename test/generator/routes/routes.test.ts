/** The route table: each URL once, with files that stay in the tree, its class and limit; and the headers of classes. */
import { expect, it } from 'vitest';
import { LISTS, LISTS_REFERENCE } from '../../../generator/routes/lists.js';
import { ROUTES, isMeasured, routeNamed, tableFor } from '../../../generator/routes/routes.js';
import { redirectsIn } from '../../../generator/routes/redirects.js';
import { Measured } from '../../../generator/schema/measured.js';
import { buildConfig } from '../../../generator/config/config.js';
import { publishedHeaders, routeHeaders } from '../../../generator/routes/headers.js';
import { policyText } from '../../../generator/outputs/openapi/headers.js';
import { PROBLEMS } from '../../../generator/outputs/openapi/problems.js';
import { OPERATOR } from '../../support/build.js';
import { HEADERS } from '../../support/snapshot.js';

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

const TERMS = '<https://licence.example/by/4.0/>; rel="license"';
const LINK = {
  Link:
    '</api/v1/openapi.json>; rel="service-desc"; type="application/json", ' +
    `</developers>; rel="service-doc"; type="text/html", ${TERMS}, ` +
    '</.well-known/api-catalog>; rel="api-catalog"',
};
/** Pages and what they load stay with this origin. */
const POLICY = {
  'Content-Security-Policy':
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
};

it('the published headers are those of the decisions', () => {
  const { record, summary, download, page, asset, ...others } = HEADERS.content;
  const cdn = 'max-age=300, stale-while-revalidate=3600, stale-if-error=86400';
  expect(publishedHeaders('https://licence.example/by/4.0/')).toEqual({
    ...HEADERS,
    not_found: { ...HEADERS.not_found, ...LINK },
    error: { ...HEADERS.error, ...LINK },
    content: {
      ...others,
      record: { ...record, ...LINK },
      summary: { ...summary, ...LINK },
      // A file that is saved needs no description of the API, but its licence.
      download: { ...download, Link: TERMS },
      page: { ...page, 'CDN-Cache-Control': cdn, ...POLICY },
      asset: { ...asset, ...POLICY },
    },
  });
});

it('the published headers are ASCII, whatever the licence is called', () => {
  const values = JSON.stringify(publishedHeaders('https://liçence.example/">é'));
  expect(values).toMatch(/^[ -~]+$/);
  expect(values).toContain('%22%3E%C3%A9>; rel=');
});

/** The paths of what a CDN purges by this tag, whichever header it reads. */
const taggedBy = (tag: string): string[] =>
  ROUTES.filter((route) => Object.values(routeHeaders(route)).every((each) => each === tag))
    .map(({ path }) => path)
    .toSorted();

it('a CDN purges what is of records by their kind', () => {
  expect(['group', 'user', 'game', 'item'].map(taggedBy)).toEqual([
    ['/api/v1/group/platform/{platform_id}', '/api/v1/group/{id}', '/group/{id}/history.json'],
    ['/api/v1/user/platform/{platform_id}', '/api/v1/user/{id}', '/user/{id}/usernames.json'],
    ['/api/v1/game/platform/{platform_id}', '/api/v1/game/{id}'],
    ['/api/v1/item/platform/{platform_id}', '/api/v1/item/{id}'],
  ]);
});

const ROUTES_OF: Readonly<Record<string, string>> = {
  'record api': 'group user-usernames',
  'summary api': 'index largest snapshot',
  'download download': 'download-groups-csv download-items-parquet',
  'download api': 'datapackage checksums downloads-readme',
  'feed api': 'feed-all',
  'page api': 'openapi',
  'page page': 'front-page favicon robots security-contact',
  'asset page': 'style explorer-script',
  'summary page': 'api-catalog',
};

it('every route has its class and limit', () => {
  for (const [expected, names] of Object.entries(ROUTES_OF))
    for (const name of names.split(' ')) {
      const { class: cacheClass, bucket } = routeNamed(ROUTES, name);
      expect(`${cacheClass} ${bucket}`, name).toBe(expected);
    }
});

it('every route that has a path parameter says what is absent by it, and no other does', () => {
  for (const { path, absent, name } of ROUTES) {
    const named = absent?.match(/\{\w+\}/g) ?? [];
    expect(named.toSorted(), name).toEqual((path.match(/\{\w+\}/g) ?? []).toSorted());
  }
});

it('the errors have the codes and statuses of the decisions', () => {
  expect(
    PROBLEMS.map(({ code, status }) => `${status} ${code}`)
      .toSorted()
      .join(', '),
  ).toBe(
    '400 invalid_id, 400 invalid_limit, 400 invalid_path, 400 invalid_prefix, 400 invalid_request, ' +
      '404 not_found, 405 method_not_allowed, 412 precondition_failed, 414 uri_too_long, ' +
      '416 range_not_satisfiable, 429 rate_limited, 500 internal, 503 no_snapshot, 505 version_not_supported',
  );
});

const { limits } = buildConfig({ operator: OPERATOR });

it('the limits are a policy for each limit that counts: how much at once, and whole seconds until all is back', () => {
  expect(policyText('api', limits)).toBe('"api";q=60;w=60');
  expect(policyText('download', limits)).toBe('"download";q=12;w=720, "api";q=60;w=60');
  expect(policyText('page', limits)).toBe('"page";q=240;w=60');
  // 70 * 0.1 is more than 7 in floating point.
  const fractions = { ...limits, api: { tokens: 70, refillSeconds: 0.1 } };
  expect(policyText('api', fractions)).toBe('"api";q=70;w=7');
  expect(policyText('page', { ...limits, page: { tokens: 3, refillSeconds: 0.5 } })).toBe('"page";q=3;w=2');
});
