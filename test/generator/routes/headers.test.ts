/** The headers and errors of snapshot.json are those of the decisions, and each route has the class and limit it should. */
import { expect, it } from 'vitest';
import { buildConfig } from '../../../generator/config/config.js';
import { publishedHeaders, routeHeaders } from '../../../generator/routes/headers.js';
import { policyText } from '../../../generator/outputs/openapi/headers.js';
import { PROBLEMS } from '../../../generator/outputs/openapi/problems.js';
import { ROUTES, routeNamed } from '../../../generator/routes/routes.js';
import { OPERATOR } from '../../support/build.js';
import { HEADERS } from '../../support/snapshot.js';

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

/** Routes of each class and limit. */
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
