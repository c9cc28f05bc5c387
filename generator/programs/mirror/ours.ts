/**
 * What a copy tells browsers and clients in the name of whoever serves it: headers, media types and
 * lifetimes. If nobody has signed those of an origin, they must be as this version writes them.
 */
import { extname } from 'node:path/posix';
import { contentType } from 'mime-types';
import { Failure } from '../../base/errors.js';
import { TAG_HEADERS, publishedHeaders, type Headers } from '../../routes/headers.js';
import { tableOf } from '../../routes/routes.js';
import { CACHE_CLASSES, type CacheClass } from '../../routes/route.js';
import type { Snapshot, SnapshotRoute } from '../../tree/snapshot-json.js';

const OURS = tableOf({ isSigned: true });
const TAG = /^[\w ,:.-]{1,200}$/;
const LIFETIME =
  /^(?:public, )?max-age=(\d{1,8})(?:, stale-while-revalidate=(\d{1,8}))?(?:, stale-if-error=(\d{1,8}))?(, immutable)?$/;
const WEEK = 7 * 86_400;
const YEAR = 365 * 86_400;
/** Types that no browser runs anything of. */
const INERT =
  /^(application\/(json|gzip|octet-stream|vnd\.apache\.parquet|feed\+json|atom\+xml)|text\/(csv|plain))(;|$)/;

/** @throws Failure invalid: a copy would serve what nobody has signed, and this version does not write */
export function requireOurs({ headers, routes }: Snapshot): void {
  const ours = publishedHeaders(licenceIn(headers.error['Link']));
  const { content } = headers;
  const groups = (['all', 'options', 'not_found', 'error'] as const).map((name) =>
    differenceIn(`headers.${name}`, headers[name], ours[name], WEEK),
  );
  const classes = CACHE_CLASSES.map((name) => {
    const fields = content[name];
    return fields && differenceIn(`headers.content.${name}`, fields, ours.content[name], longest(name));
  });
  const difference = [...groups, ...classes, ...routes.map(differenceOf)].find((each) => each !== undefined);
  if (difference === undefined) return;
  throw Failure.invalid(
    `/snapshot.json of the origin is not signed by a given key, and says what this version does not: ${difference}; ` +
      'give the key of its log with --key, or use the version of the origin',
  );
}

/** What is immutable may be kept for a year. */
const longest = (cacheClass: CacheClass): number => (['asset', 'tile'].includes(cacheClass) ? YEAR : WEEK);

/** The URL of the licence, the only part of the headers that operators choose. */
function licenceIn(link = ''): string {
  const url = /<(https?:\/\/[^<>"\s]+)>; rel="license"/.exec(link)?.[1];
  return url !== undefined && URL.canParse(url) ? url : 'https://licence.example/';
}

const quoted = (value: string | undefined): string =>
  value === undefined ? 'nothing' : JSON.stringify(value.slice(0, 200));

function differenceIn(place: string, theirs: Headers, ours: Headers, seconds: number): string | undefined {
  for (const name of new Set([...Object.keys(theirs), ...Object.keys(ours)])) {
    const [value, expected] = [theirs[name], ours[name]];
    const isLifetime = /^(CDN-)?Cache-Control$/.test(name) && expected !== 'no-store';
    const isSame = isLifetime && value !== undefined ? isBounded(value, seconds) : value === expected;
    if (!isSame)
      return `${place}.${name} is ${quoted(value)}, expected ${isLifetime ? `at most ${seconds} s` : quoted(expected)}`;
  }
  return undefined;
}

function isBounded(lifetime: string, seconds: number): boolean {
  const [all, ...times] = LIFETIME.exec(lifetime) ?? [];
  const isImmutable = lifetime.endsWith(', immutable');
  return (
    all !== undefined &&
    (!isImmutable || seconds === YEAR) &&
    times.slice(0, 3).every((each) => Number(each ?? 0) <= seconds)
  );
}

/** Whether a route is one of this version's, or has the type that its file's name says. */
function differenceOf(route: SnapshotRoute): string | undefined {
  const { name, path, file, type, class: cacheClass, headers } = route;
  const place = `the route ${name}`;
  const own = OURS.find((each) => each.name === name && each.path === path && each.file === file);
  const expected = own?.type ?? (contentType(extname(file)) || 'application/octet-stream');
  if (type !== expected) return `${place} has the type ${quoted(type)}, expected ${quoted(expected)}`;
  // Only these have a policy that keeps a page from running what it should not.
  if (!INERT.test(type) && !['page', 'asset'].includes(cacheClass) && own?.class !== cacheClass)
    return `${place} is of the class ${cacheClass}, expected page`;
  for (const [header, value] of Object.entries(headers))
    if (!TAG_HEADERS.some((each) => each === header) || !TAG.test(value))
      return `${place} has the header ${header}: ${quoted(value)}, expected ${TAG_HEADERS.join(' and ')} alone`;
  return undefined;
}
