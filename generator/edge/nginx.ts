/** The nginx configuration that serves a published tree as the proxy does, as far as nginx can. */
import { resolve } from 'node:path';
import { BUCKETS, countedBy, isCompressed } from '../routes/index.js';
import type { Bucket } from '../routes/index.js';
import { HTML_PATTERN, codingPattern, namePattern, pagePattern, valuePattern } from './patterns.js';
import type { QueryParameter } from './patterns.js';
import { contentHeaders, problemOf, requiredBy } from './published.js';
import type { Published } from './published.js';
import { downloadZones, ratesOf } from './rates.js';
import type { DownloadPart } from './rates.js';
import { isPage, jsonText, locationsOf, variableName, variableOf } from './nginx-locations.js';
import { Variable, comment, pattern, quoted, renderNginx, words } from './nginx-text.js';
import type { NginxText } from './nginx-text.js';

export interface NginxOptions {
  /** The published tree. */
  readonly out: string;
  /** The file that is written, which the text names. */
  readonly file: string;
  /** ADDRESS:PORT */
  readonly listen: string;
  /** CIDR ranges of load balancers whose X-Forwarded-For names the client. */
  readonly trusted: readonly string[];
}

export interface Configuration {
  readonly text: string;
  /** How its limits differ from the published ones. */
  readonly notes: readonly string[];
}

/** The longest path that is read; published ones are much shorter. As in the proxy. */
const MAX_PATH_BYTES = 2_048;

/**
 * The errors, by code, and the statuses that lead to each. 48x are only names within the
 * configuration.
 */
const ERRORS: Readonly<Record<string, string>> = {
  not_found: '404',
  method_not_allowed: '405',
  precondition_failed: '412',
  uri_too_long: '486',
  range_not_satisfiable: '416',
  rate_limited: '429',
  internal: '403 500 502 504',
  no_snapshot: '503',
  invalid_path: '482',
  invalid_id: '483',
  invalid_limit: '484',
  invalid_prefix: '485',
};
/**
 * The errors that nginx raises before it has a path, without which there is no way to a named
 * location.
 */
const UNPARSED: Readonly<Record<string, string>> = {
  invalid_request: '400 413 494 501',
  uri_too_long: '414',
  version_not_supported: '505',
};
/** Those whose detail depends on the location: `$detail`. */
const DETAILED = new Set(['not_found', 'invalid_limit']);

/** @throws Failure usage: a limit that nginx can't count */
export function nginxConfiguration(published: Published, { out, ...options }: NginxOptions): Configuration {
  const { headers, limits, routes } = published;
  const rates = ratesOf(limits);
  const parts = downloadZones(limits);
  const notes = rates.flatMap(({ note }) => note ?? []);
  const data = {
    file: comment(options.file),
    listen: words(options.listen),
    isDualStack: options.listen.startsWith('[::]'),
    trusted: options.trusted.map((range) => words(range)),
    root: quoted(resolve(out)),
    notes: notes.map((note) => comment(note)),
    overlong: pattern(`^[^?]{${MAX_PATH_BYTES + 1}}`),
    accepts: (coding: string): NginxText => pattern(codingPattern(coding)),
    acceptsHtml: pattern(HTML_PATTERN),
    pagePath: pattern(pagePattern(published.problems_below)),
    rates: rates.map(({ bucket, rate, policy, state, retryAfter }) => ({
      bucket: words(bucket),
      client: words(bucket === 'download' ? 'download_client' : 'client'),
      rate: words(rate),
      policy: quoted(policy),
      at429: quoted(`429 ${bucket}`),
      state: quoted(state),
      retryAfter,
    })),
    parts: parts.map(({ part, rate }) => ({ part, rate: words(rate) })),
    zones: (bucket: Bucket, part: DownloadPart = 1): readonly NginxText[] =>
      rates
        .filter((rate) => countedBy(bucket).includes(rate.bucket))
        .map((rate) => (rate.bucket === 'download' && parts.find((each) => each.part === part)) || rate)
        .map(({ zone }) => words(zone)),
    always: Object.entries(headers.all).map(([name, value]) => ({ name: words(name), value: quoted(value) })),
    bySort: tableOf(sortsOf(published)),
    byRoute: tableOf(routes.map((route) => [route.name, contentHeaders(route)])),
    queries: routes.flatMap(({ parameters = [] }) =>
      parameters.flatMap((parameter) => (parameter.in === 'path' ? [] : [queryOf(parameter)])),
    ),
    locations: routes.flatMap((route) => locationsOf(route, requiredBy(published, route), { out, limits })),
    absentIn: BUCKETS.filter((bucket) =>
      routes.some((route) => route.requires !== undefined && route.bucket === bucket),
    ).map((bucket) => ({ bucket, name: words(bucket) })),
    redirects: published.redirects.map(({ path, to }) => ({ path: quoted(path), to: quoted(to) })),
    badPath: errorOf(published, 'invalid_path'),
    unparsed: Object.entries(UNPARSED).map(([code, on]) => ({
      on: words(on),
      name: words(code),
      isRequest: code === 'invalid_request',
      ...errorOf(published, code),
    })),
    errors: Object.entries(ERRORS).map(([code, on]) => ({
      code: words(code),
      on: words(on),
      isRange: code === 'range_not_satisfiable',
      page: errorPageOf(published, code),
      ...errorOf(published, code),
    })),
    nothing: quoted(jsonText(published.errors['not_found']?.detail ?? '')),
  };
  return { text: renderNginx(data), notes };
}

/** A query parameter: the patterns of its name and of `NAME=VALUE`, and its default. */
function queryOf(parameter: QueryParameter) {
  const [name, value] = [namePattern(parameter.name), valueName(parameter.name)];
  return {
    name: words(parameter.name),
    variable: words(variableName(parameter.name)),
    value: words(value),
    byDefault: parameter.default,
    repeated: pattern(`(?:^|&)${name}(?:=[^&]*)?&(?:.*&)?${name}(?:[=&]|$)`),
    valid: pattern(`(?:^|&)${name}=(?<${value}>${valuePattern(parameter)})(?:&|$)`),
    any: pattern(`(?:^|&)${name}(?:[=&]|$)`),
  };
}

const valueName = (parameter: string): string => `value_${parameter}`;

type Headers = Readonly<Record<string, string>>;

/** The headers that are not on every response, by `$sort`. */
function sortsOf({ headers }: Published): readonly (readonly [string, Headers])[] {
  const { content, options, not_found: notFound, error } = headers;
  const policy = content.page?.['Content-Security-Policy'] ?? '';
  const classes = Object.entries(content).map(([name, fields]) => {
    // A configuration can't tell which documents have compressed siblings. Downloads have none.
    // nginx adds Accept-Ranges itself.
    const { 'Accept-Ranges': _, ...added } = fields;
    return [name, isCompressed(name) ? { ...added, Vary: 'Accept-Encoding' } : added] as const;
  });
  return [
    ...classes,
    ['options', options],
    ['not_found', notFound],
    ['error', error],
    ['method_not_allowed', { ...error, Allow: options['Allow'] ?? '' }],
    // Errors that have a page as well.
    ...Object.entries({ not_found: notFound, rate_limited: error }).flatMap(([name, fields]) => [
      [`${name}_problem`, { ...fields, Vary: 'Accept' }] as const,
      [`${name}_page`, { ...fields, Vary: 'Accept', 'Content-Security-Policy': policy }] as const,
    ]),
  ];
}

/** Headers with a variable for each, and its values in quotes. */
function tableOf(entries: readonly (readonly [string, Headers])[]) {
  const names = [...new Set(entries.flatMap(([, fields]) => Object.keys(fields)))];
  return names.map((name) => ({
    name: words(name),
    variable: words(variableOf(name)),
    values: entries.flatMap(([key, { [name]: value }]) =>
      value === undefined ? [] : [{ key: words(key), value: quoted(value) }],
    ),
  }));
}

/** The status and body of an error, in which `$detail` stays a variable. */
function errorOf(published: Published, code: string) {
  const { status, problem } = problemOf(published, code);
  const { detail, ...before } = problem;
  // The members are in the order of the proxy: `detail` comes before the last.
  const { error, ...first } = before;
  const [start, end] = [
    `${JSON.stringify(first).slice(0, -1)},"detail":"`,
    `","error":${JSON.stringify(error)}}`,
  ];
  const middle = DETAILED.has(code) ? new Variable('detail') : jsonText(detail);
  return { status, body: quoted(start, middle, end) };
}

/** The page that browsers get instead of an error. */
function errorPageOf({ errors, routes }: Published, code: string) {
  const path = errors[code]?.page;
  const page = routes.find((route) => route.path === path && isPage(route));
  return page && { file: quoted(`/${page.file}`), type: quoted(page.type) };
}
