/** The headers and errors of snapshot.json are those of the decisions, and each route has the class and limit it should. */
import { describe, expect, it } from 'vitest';
import { buildConfig } from '../../../generator/config/config.js';
import { publishedHeaders } from '../../../generator/routes/headers.js';
import { policyText } from '../../../generator/outputs/openapi/headers.js';
import { PROBLEMS } from '../../../generator/outputs/openapi/problems.js';
import { CACHE_CLASSES, ROUTES, routeNamed, tableOf } from '../../../generator/routes/index.js';
import { OPERATOR } from '../../support/build.js';

/** The routes of a signed tree. */
const TABLE = tableOf({ isSigned: true });

const headers = publishedHeaders('https://licence.example/by/4.0/');
const absentOf = (name: string): string | undefined => routeNamed(ROUTES, name).absent;

describe('the published headers', () => {
  it('let every page read, from anywhere', () => {
    expect(headers.all).toEqual({
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Expose-Headers':
        'ETag, Retry-After, RateLimit, RateLimit-Policy, Content-Range, Accept-Ranges, Age, Content-Disposition, Link',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'X-Content-Type-Options': 'nosniff',
    });
    expect(headers.options).toEqual({
      Allow: 'GET, HEAD, OPTIONS',
      'Access-Control-Allow-Methods': 'GET, OPTIONS',
      'Access-Control-Allow-Headers': '*',
      'Access-Control-Max-Age': '86400',
      'Cache-Control': 'no-store',
    });
  });

  /** Cache-Control, and CDN-Cache-Control where it is not the same without `public`. */
  const CLASSES: Readonly<Record<(typeof CACHE_CLASSES)[number], readonly [string, string?]>> = {
    record: ['max-age=300, stale-while-revalidate=600, stale-if-error=86400'],
    summary: ['max-age=60, stale-while-revalidate=120, stale-if-error=3600'],
    download: ['max-age=3600, stale-if-error=86400'],
    feed: ['max-age=900, stale-if-error=86400'],
    page: [
      'max-age=300, stale-if-error=86400',
      'max-age=300, stale-while-revalidate=3600, stale-if-error=86400',
    ],
    asset: ['max-age=31536000, immutable', 'public, max-age=31536000, immutable'],
    checkpoint: ['max-age=5, stale-if-error=60'],
    tile: ['max-age=31536000, immutable', 'public, max-age=31536000, immutable'],
  };
  it.each(CACHE_CLASSES)('keep class "%s" as decided', (cacheClass) => {
    const [own, cdn = own] = CLASSES[cacheClass];
    expect(headers.content[cacheClass]).toMatchObject({
      'Cache-Control': `public, ${own}`,
      'CDN-Cache-Control': cdn,
      'Accept-Ranges': 'bytes',
    });
  });

  it('keep a 404 for a minute, and no other error', () => {
    expect(headers.not_found).toMatchObject({
      'Cache-Control': 'public, max-age=60',
      'CDN-Cache-Control': 'max-age=60',
    });
    expect(headers.error['Cache-Control']).toBe('no-store');
    expect(headers.error).not.toHaveProperty('CDN-Cache-Control');
  });

  it('lead from the API and from errors to its description, its page, its licence and its catalog', () => {
    const link =
      '</api/v1/openapi.json>; rel="service-desc"; type="application/json", ' +
      '</developers>; rel="service-doc"; type="text/html", ' +
      '<https://licence.example/by/4.0/>; rel="license", ' +
      '</.well-known/api-catalog>; rel="api-catalog"';
    const { record, summary, download, ...others } = headers.content;
    // A file that is saved needs no description of the API, but its licence.
    expect(download['Link']).toBe('<https://licence.example/by/4.0/>; rel="license"');
    for (const some of [record, summary, headers.not_found, headers.error]) expect(some['Link']).toBe(link);
    for (const some of Object.values(others)) expect(some).not.toHaveProperty('Link');
  });

  it('are ASCII, whatever the licence is called', () => {
    const values = JSON.stringify(publishedHeaders('https://liçence.example/">é'));
    expect(values).toMatch(/^[ -~]+$/);
    expect(values).toContain('%22%3E%C3%A9>; rel=');
  });

  it('keep pages and what they load to this origin', () => {
    const policy =
      "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
    const having = CACHE_CLASSES.filter((name) => 'Content-Security-Policy' in headers.content[name]);
    expect(having).toEqual(['page', 'asset']);
    for (const name of having) expect(headers.content[name]['Content-Security-Policy']).toBe(policy);
  });
});

/** Routes of each class and limit. */
const ROUTES_OF: Readonly<Record<string, string>> = {
  'record api': 'group user-usernames',
  'summary api': 'index largest snapshot change-list',
  'download download': 'download-groups-csv download-items-parquet',
  'download api': 'datapackage checksums downloads-readme',
  'feed api': 'feed-all',
  'page api': 'openapi',
  'page page': 'front-page favicon robots security-contact',
  'asset page': 'style explorer-script',
  'summary page': 'api-catalog',
  'checkpoint page': 'log-checkpoint log-index',
  'tile page': 'log-tile',
};

describe('every route', () => {
  it.each(Object.entries(ROUTES_OF))('has its class and its limit: %s, such as %s', (expected, names) => {
    for (const name of names.split(' ')) {
      const { class: cacheClass, bucket } = routeNamed(TABLE, name);
      expect([name, `${cacheClass} ${bucket}`]).toEqual([name, expected]);
    }
  });

  it('that has a path parameter says what is absent by it, and no other does', () => {
    for (const { path, absent, name } of TABLE) {
      const named = absent?.match(/\{\w+\}/g) ?? [];
      expect(named.toSorted(), name).toEqual((path.match(/\{\w+\}/g) ?? []).toSorted());
    }
    expect(absentOf('group')).toBe('no group {id} in this register');
    expect(absentOf('group-history')).toBe(absentOf('group'));
    expect(absentOf('user-usernames')).toBe('no user {id} in this register');
    expect(absentOf('change-list')).toBe('no change list {sequence}');
    expect(absentOf('feed-groups-archive')).toBe('no entries for {month}');
  });
});

it('the errors have the codes and statuses of the decisions', () => {
  const client = PROBLEMS.filter(({ status }) => status === 400).map(({ code }) => code);
  expect(client.join(' ')).toBe('invalid_id invalid_limit invalid_prefix invalid_path invalid_request');
  expect(
    PROBLEMS.filter(({ status }) => status > 400)
      .map(({ code, status }) => `${code} ${status}`)
      .join(', '),
  ).toBe(
    'not_found 404, method_not_allowed 405, precondition_failed 412, uri_too_long 414, ' +
      'range_not_satisfiable 416, rate_limited 429, internal 500, no_snapshot 503, version_not_supported 505',
  );
});

describe('the limits', () => {
  const { limits } = buildConfig({ operator: OPERATOR });

  it('are a policy for each limit that counts: how much at once, and whole seconds until all is back', () => {
    expect(policyText('api', limits)).toBe('"api";q=60;w=60');
    expect(policyText('download', limits)).toBe('"download";q=12;w=720, "api";q=60;w=60');
    expect(policyText('page', limits)).toBe('"page";q=240;w=60');
    // 70 * 0.1 is more than 7 in floating point.
    const fractions = { ...limits, api: { tokens: 70, refillSeconds: 0.1 } };
    expect(policyText('api', fractions)).toBe('"api";q=70;w=7');
    expect(policyText('page', { ...limits, page: { tokens: 3, refillSeconds: 0.5 } })).toBe('"page";q=3;w=2');
  });
});
