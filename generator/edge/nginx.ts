/** The nginx configuration that serves a published tree as the proxy does, as far as nginx can. */
import { resolve } from 'node:path';
import { BUCKETS, countedBy, isCompressed } from '../routes/index.js';
import type { Bucket } from '../routes/index.js';
import {
  HTML_PATTERN,
  codingPattern,
  namePattern,
  pagePattern,
  pathPattern,
  valuePattern,
} from './patterns.js';
import type { QueryParameter } from './patterns.js';
import { alternateLink, contentHeaders, problemOf, requiredBy } from './published.js';
import type { EdgeRoute, Published } from './published.js';
import { ratesOf } from './rates.js';
import { renderTemplate } from './template.js';

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
  uri_too_long: '414',
  range_not_satisfiable: '416',
  rate_limited: '429',
  internal: '403 500 502 504',
  no_snapshot: '503',
  version_not_supported: '505',
  invalid_path: '482',
  invalid_id: '483',
  invalid_limit: '484',
  invalid_prefix: '485',
};
/** Those whose detail depends on the location: `$detail`. */
const DETAILED = new Set(['not_found', 'invalid_limit']);

/** @throws Failure usage: a limit that nginx can't count */
export function nginxConfiguration(published: Published, { out, ...options }: NginxOptions): Configuration {
  const { headers, limits, routes } = published;
  const rates = ratesOf(limits);
  const notes = rates.flatMap(({ note }) => note ?? []);
  const text = renderTemplate('nginx.conf', {
    ...options,
    root: quoted(resolve(out)),
    notes,
    maxPathBytes: MAX_PATH_BYTES,
    accepts: codingPattern,
    acceptsHtml: HTML_PATTERN,
    pagePath: pagePattern(published.problems_below),
    rates: rates.map((rate) => ({ ...rate, policy: quoted(rate.policy), state: quoted(rate.state) })),
    limitReq: (bucket: Bucket): readonly string[] =>
      rates.flatMap((rate) => (countedBy(bucket).includes(rate.bucket) ? `limit_req ${rate.zone};` : [])),
    always: Object.entries(headers.all).map(([name, value]) => [name, quoted(value)]),
    bySort: tableOf(sortsOf(published)),
    byRoute: tableOf(routes.map((route) => [route.name, contentHeaders(route)])),
    queries: routes.flatMap(({ parameters = [] }) =>
      parameters.flatMap((parameter) =>
        parameter.in === 'path'
          ? []
          : [{ ...parameter, pattern: namePattern(parameter.name), valid: valuePattern(parameter) }],
      ),
    ),
    locations: routes.flatMap((route) => locationsOf(route, requiredBy(published, route))),
    absentIn: BUCKETS.filter((bucket) =>
      routes.some((route) => route.requires !== undefined && route.bucket === bucket),
    ),
    redirects: published.redirects,
    badPath: errorOf(published, 'invalid_path').body,
    badRequest: errorOf(published, 'invalid_request').body,
    errors: Object.entries(ERRORS).map(([code, on]) => ({
      code,
      on,
      page: errorPageOf(published, code),
      ...errorOf(published, code),
    })),
    nothing: quoted(jsonText(published.errors['not_found']?.detail ?? '')),
  });
  return { text, notes };
}

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
    name,
    variable: variableOf(name),
    values: entries.flatMap(([key, { [name]: value }]) =>
      value === undefined ? [] : [[key, quoted(value)]],
    ),
  }));
}

const variableOf = (header: string): string => header.toLowerCase().replaceAll('-', '_');

interface Location {
  readonly match: string;
  readonly bucket: Bucket;
  /** Assignments to variables. */
  readonly set: readonly (readonly [string, string])[];
  /** A document without which the response is a 404, and its detail. */
  readonly required?: { readonly file: string; readonly detail: string };
  readonly type?: string;
  /** The arguments of try_files. */
  readonly files: string;
}

/** The statuses of paths with an invalid parameter, by its type. */
const REFUSED: Readonly<Record<string, number>> = { id: 483, prefix: 485 };

/** The location of a route, and that of paths whose id or prefix is not valid. */
function locationsOf(route: EdgeRoute, required: EdgeRoute | undefined): readonly Location[] {
  const { path, file, class: cacheClass, bucket, parameters = [], absent, type } = route;
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const values = new Map(inPath.map((parameter) => [parameter.name, valuePattern(parameter)]));
  const files = isCompressed(cacheClass) ? '$file$best $file$gzip $file' : '$file';
  const query = parameters.find((parameter) => parameter.in === 'query');
  // What is wrong if there is no file: an id without a record, or a limit that is none.
  const detail = query === undefined ? absent : expectedInteger(query);
  const detailText = detail === undefined ? undefined : interpolated(jsonText(filled(detail)));
  const form = isPage(route) ? [['form', 'problem'] as const] : [];
  const location: Location = {
    match: inPath.length === 0 ? `= ${path}` : regex(path, (name) => `(?<${name}>${values.get(name)})`),
    bucket,
    set: [
      ['class', cacheClass],
      ['bucket', bucket],
      ...form,
      ['file', interpolated(`/${filled(file)}`)],
      // Otherwise it is the document that is missing, and the detail is about that.
      ...(detailText === undefined || required !== undefined ? [] : [['detail', detailText] as const]),
      ...(required === undefined
        ? []
        : [['alternate', interpolated(filled(alternateLink(required)))] as const]),
      ...Object.entries(contentHeaders(route)).map(
        ([name, value]) => [`route_${variableOf(name)}`, quoted(value)] as const,
      ),
    ],
    ...(required !== undefined && {
      required: {
        file: interpolated(`$document_root/${filled(required.file)}`),
        detail: detailText ?? '$detail',
      },
    }),
    type: quoted(type),
    files: `${files} =${query === undefined ? 404 : 484}`,
  };
  const [refused] = inPath.flatMap(({ type }) => REFUSED[type] ?? []);
  if (refused === undefined) return [location];
  const ofAny = [['bucket', bucket] as const, ...form];
  return [location, { match: regex(path, () => '[^/]*'), bucket, set: ofAny, files: `/.none =${refused}` }];
}

const isPage = ({ class: cacheClass, type }: EdgeRoute): boolean =>
  cacheClass === 'page' && type.startsWith('text/html');

const expectedInteger = ({ name, minimum, maximum }: QueryParameter): string =>
  `${name}: expected one integer from ${minimum} to ${maximum} in plain decimal digits`;

const regex = (path: string, replace: (name: string) => string): string =>
  `~ "${pathPattern(path, replace)}"`;

/** `{id}` -> `${id}`, the variable. */
const filled = (template: string): string => template.replaceAll(/\{(\w+)\}/g, '${$1}');

/** The status and body of an error, in which `$detail` stays a variable. */
function errorOf(published: Published, code: string) {
  const { status, problem } = problemOf(published, code, DETAILED.has(code) ? '$detail' : undefined);
  const [before = '', after = ''] = JSON.stringify(problem).split('$detail');
  const body = after === '' ? quoted(before) : interpolated(`${dollars(before)}$detail${dollars(after)}`);
  return { status, body };
}

/** The page that browsers get instead of an error. */
function errorPageOf({ errors, routes }: Published, code: string) {
  const path = errors[code]?.page;
  const page = routes.find((route) => route.path === path && isPage(route));
  return page && { file: page.file, type: quoted(page.type) };
}

/** A text as it stands within the quotes of JSON. */
const jsonText = (text: string): string => JSON.stringify(text).slice(1, -1);

/** nginx has no escape for "$". */
const dollars = (text: string): string => text.replaceAll('$', '${dollar}');
/** A text in the quotes of nginx, with the values of its variables. */
const interpolated = (text: string): string => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
const quoted = (text: string): string => interpolated(dollars(text));
