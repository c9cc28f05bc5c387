/** The nginx configuration that serves a published tree as the proxy does, as far as nginx can. */
import { resolve } from 'node:path';
import { BUCKETS, countedBy, isCompressed, type Bucket } from '../../routes/route.js';
import {
  HTML_PATTERN,
  codingPattern,
  namePattern,
  pagePattern,
  pathPattern,
  valuePattern,
  type QueryParameter,
} from './patterns.js';
import type { Snapshot } from '../../tree/snapshot-json.js';
import { contentHeaders, problemOf } from './published.js';
import { downloadZones, ratesOf, type DownloadPart } from './rates.js';
import { isPage, jsonText, locationsOf, parameterVariable, headerVariable } from './nginx-locations.js';
import { Variable, quoted, renderNginx } from './nginx-text.js';

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
 * The errors that nginx raises before it has a path. Without a path, it can't go to a named location.
 */
const UNPARSED: Readonly<Record<string, string>> = {
  invalid_request: '400 413 494 501',
  uri_too_long: '414',
  version_not_supported: '505',
};
/** The errors whose detail depends on the location: `$detail`. */
const DETAILED = new Set(['not_found', 'invalid_limit', 'invalid_id']);

/**
 * @returns the text, and notes on how its limits differ from the published ones
 * @throws Failure usage: a limit that nginx can't count
 */
export function nginxConfiguration(published: Snapshot, { out, ...options }: NginxOptions) {
  const { headers, limits, routes, redirects, errors } = published;
  const rates = ratesOf(limits);
  const parts = downloadZones(limits);
  const notes = rates.flatMap(({ note }) => note ?? []);
  const data = {
    ...options,
    notes,
    root: resolve(out),
    overlong: `^[^?]{${MAX_PATH_BYTES + 1}}`,
    codingPattern,
    acceptsHtml: HTML_PATTERN,
    pagePath: pagePattern(published.problems_below),
    rates,
    parts,
    zones: (bucket: Bucket, part: DownloadPart = 1): readonly string[] =>
      rates
        .filter((rate) => countedBy(bucket).includes(rate.bucket))
        .map((rate) => (rate.bucket === 'download' && parts.find((each) => each.part === part)) || rate)
        .map(({ zone }) => zone),
    always: Object.entries(headers.all),
    byKind: tableOf(kindsOf(published)),
    byRoute: tableOf(routes.map((route) => [route.name, contentHeaders(route)])),
    queries: routes.flatMap(({ path, parameters = [] }) =>
      parameters.flatMap((parameter) => (parameter.in === 'path' ? [] : [queryOf(path, parameter)])),
    ),
    // As in the proxy, the page of a 404 has that status at its own path, too: no location leads there.
    locations: routes
      .filter(({ path }) => path !== errors['not_found']?.page)
      .flatMap((route) => locationsOf(route, published, out)),
    absentIn: BUCKETS.filter((bucket) =>
      routes.some((route) => route.requires !== undefined && route.bucket === bucket),
    ),
    redirects,
    badPath: errorOf(published, 'invalid_path'),
    unparsed: Object.entries(UNPARSED).map(([code, on]) => ({ on, ...errorOf(published, code) })),
    errors: Object.entries(ERRORS).map(([code, on]) => ({
      on,
      page: routes.find((route) => route.path === errors[code]?.page && isPage(route)),
      ...errorOf(published, code),
    })),
    nothing: jsonText(errors['not_found']?.detail ?? ''),
  };
  return { text: renderNginx(data), notes };
}

/** A query parameter: the patterns of its route's path, of its name and of `NAME=VALUE`, and its default. */
function queryOf(path: string, parameter: QueryParameter) {
  const pattern = namePattern(parameter.name);
  const value = `value_${parameter.name}`;
  const variable = parameterVariable(parameter.name);
  return {
    name: parameter.name,
    variable,
    path: pathPattern(path, () => '[^/]*'),
    given: quoted(`?${parameter.name}=`, new Variable(variable)),
    value,
    byDefault: parameter.default,
    repeated: `(?:^|&)${pattern}(?:=[^&]*)?&(?:.*&)?${pattern}(?:[=&]|$)`,
    valid: `(?:^|&)${pattern}=(?<${value}>${valuePattern(parameter)})(?:&|$)`,
    any: `(?:^|&)${pattern}(?:[=&]|$)`,
  };
}

type SentFields = Readonly<Record<string, string>>;

/** The headers that are not on every response, by `$kind`. */
function kindsOf({ headers }: Snapshot): readonly (readonly [string, SentFields])[] {
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

/** Headers with a variable for each, and its values. */
function tableOf(entries: readonly (readonly [string, SentFields])[]) {
  const names = [...new Set(entries.flatMap(([, fields]) => Object.keys(fields)))];
  return names.map((name) => ({
    name,
    variable: headerVariable(name),
    values: entries.flatMap(([key, { [name]: value }]) => (value === undefined ? [] : [{ key, value }])),
  }));
}

/** The status and body of an error, in which `$detail` stays a variable. */
function errorOf(published: Snapshot, code: string) {
  const { detail, error, ...first } = problemOf(published, code);
  const [start, end] = [
    `${JSON.stringify(first).slice(0, -1)},"detail":"`,
    `","error":${JSON.stringify(error)}}`,
  ];
  const middle = DETAILED.has(code) ? new Variable('detail') : jsonText(detail);
  return { code, status: first.status, body: quoted(start, middle, end) };
}
