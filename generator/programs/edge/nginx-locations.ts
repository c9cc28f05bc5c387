/** The locations of an nginx configuration: for each route one, and one for its invalid paths. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isCompressed } from '../../routes/route.js';
import type { Snapshot, SnapshotRoute } from '../../tree/snapshot-json.js';
import { PLATFORM_ID_TEXT } from '../../routes/keys.js';
import { pathPattern, valuePattern } from './patterns.js';
import { contentHeaders } from './published.js';
import { partOf } from './rates.js';
import { Variable, pattern, quoted, words, type NginxText } from './nginx-text.js';

/** The variable of a parameter. The prefix keeps it apart from the hundreds of variables that nginx has. */
export const parameterVariable = (parameter: string): string => `parameter_${parameter}`;

/** The variable of a header. */
export const headerVariable = (header: string): string => header.toLowerCase().replaceAll('-', '_');

/** A text as it stands within the quotes of JSON. */
export const jsonText = (text: string): string => JSON.stringify(text).slice(1, -1);

/** The statuses of paths with an invalid parameter, by its type. */
const REFUSED: Readonly<Record<string, number>> = { id: 483, prefix: 485, platform_id: 483 };

/** The location of a route, and that of paths whose id or prefix is not valid. */
export function locationsOf(route: SnapshotRoute, { routes, limits, errors }: Snapshot, out: string) {
  const { path, file, class: cacheClass, bucket, parameters = [], absent, type } = route;
  const required = routes.find(({ name }) => name === route.requires);
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const query = parameters.find((parameter) => parameter.in === 'query');
  // What is wrong if there is no file: the id has no record, or the query parameter is not valid.
  const missing =
    query &&
    `${query.name}: expected one integer from ${query.minimum} to ${query.maximum} in plain decimal digits`;
  const detail = missing ?? absent;
  const names = new Set(parameters.map(({ name }) => name));
  /** A template, in which parameters are variables. */
  const filled = (template: string, ...start: readonly Variable[]): NginxText => {
    const pieces = template.split(/\{(\w+)\}/).map((piece, index) => {
      if (index % 2 === 0) return piece;
      return names.has(piece) ? new Variable(parameterVariable(piece)) : `{${piece}}`;
    });
    return quoted(...start, ...pieces);
  };
  const detailText = detail === undefined ? undefined : filled(jsonText(detail));
  const shared = {
    bucket,
    part: partOf(bytesOf(route, out), limits),
    set: { bucket: words(bucket), ...(isPage(route) && { form: words('problem') }) },
  };
  const matching = (replace: (name: string) => string): NginxText => pattern(pathPattern(path, replace), '');
  const values = new Map(
    inPath.map((each) => [each.name, `(?<${parameterVariable(each.name)}>${valuePattern(each)})`]),
  );
  const location = {
    ...shared,
    isPattern: inPath.length > 0,
    match: inPath.length === 0 ? quoted(path) : matching((name) => values.get(name) ?? ''),
    set: {
      class: words(cacheClass),
      ...shared.set,
      file: filled(`/${file}`),
      // A page that requires a document gets its detail where the document is missing.
      ...(detailText && required === undefined && { detail: detailText }),
      ...(required && { alternate: filled(alternateLink(required)) }),
      ...Object.fromEntries(
        Object.entries(contentHeaders(route)).map(([name, value]) => [
          `route_${headerVariable(name)}`,
          quoted(value),
        ]),
      ),
    },
    /** The document without which the response is a 404, and the detail of that 404. */
    required: required && {
      file: filled(`/${required.file}`, new Variable('document_root')),
      detail: detailText ?? quoted(new Variable('detail')),
    },
    type,
    hasFile: true,
    isCompressed: isCompressed(cacheClass),
    missing: query === undefined ? 404 : 484,
  };
  const refused = inPath.flatMap(({ type: of }) => {
    const { [of]: status } = REFUSED;
    if (status === undefined) return [];
    const expected = of === 'platform_id' ? `expected ${PLATFORM_ID_TEXT}` : errors['invalid_id']?.detail;
    return [{ status, ...(status === 483 && { detail: quoted(jsonText(expected ?? '')) }) }];
  });
  return [
    location,
    ...refused.map(({ status, detail: expected }) => ({
      ...shared,
      set: { ...shared.set, ...(expected && { detail: expected }) },
      isPattern: true,
      // A hidden file is a 404, whatever its name.
      match: matching(() => '(?![.])[^/]*'),
      missing: status,
    })),
  ];
}

/** The size of a route's only file at present; that of a whole download for others. */
const bytesOf = ({ path, file }: SnapshotRoute, out: string): number =>
  (path.includes('{') ? undefined : statSync(resolve(out, file), { throwIfNoEntry: false })?.size) ??
  Number.POSITIVE_INFINITY;

export const isPage = ({ class: cacheClass, type }: SnapshotRoute): boolean =>
  cacheClass === 'page' && type.startsWith('text/html');

/** The value of the header Link by which a page names the document that it requires. */
const alternateLink = ({ path, type }: SnapshotRoute): string =>
  `<${path}>; rel="alternate"; type="${type.replace(/;.*/, '')}"`;
