/** The locations of an nginx configuration: for each route one, and one for its invalid paths. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isCompressed } from '../routes/index.js';
import type { Bucket } from '../routes/index.js';
import { pathPattern, valuePattern } from './patterns.js';
import type { QueryParameter } from './patterns.js';
import { alternateLink, contentHeaders } from './published.js';
import type { EdgeRoute, Published } from './published.js';
import { partOf } from './rates.js';
import type { DownloadPart } from './rates.js';
import { Variable, pattern, quoted, words } from './nginx-text.js';
import type { NginxText } from './nginx-text.js';

/** The variable of a parameter. nginx has hundreds of its own, which must not be taken for it. */
export const variableName = (parameter: string): string => `parameter_${parameter}`;

/** The variable of a header. */
export const variableOf = (header: string): string => header.toLowerCase().replaceAll('-', '_');

/** A text as it stands within the quotes of JSON. */
export const jsonText = (text: string): string => JSON.stringify(text).slice(1, -1);

interface Location {
  /** What the path is compared with: a path, or a pattern. */
  readonly match: NginxText;
  readonly isPattern: boolean;
  readonly zone: Bucket;
  readonly part: DownloadPart;
  /** Assignments to variables. */
  readonly set: readonly { readonly variable: NginxText; readonly value: NginxText }[];
  /** A document without which the response is a 404, its detail, and where that is made. */
  readonly required?: { readonly file: NginxText; readonly detail: NginxText; readonly bucket: NginxText };
  readonly type?: NginxText;
  /** Whether there is a file, perhaps with compressed siblings. */
  readonly hasFile: boolean;
  readonly isCompressed: boolean;
  /** The status without the file. */
  readonly missing: number;
}

/** The statuses of paths with an invalid parameter, by its type. */
const REFUSED: Readonly<Record<string, number>> = { id: 483, prefix: 485 };

/** The location of a route, and that of paths whose id or prefix is not valid. */
export function locationsOf(
  route: EdgeRoute,
  required: EdgeRoute | undefined,
  { out, limits }: Pick<Published, 'limits'> & { readonly out: string },
): readonly Location[] {
  const part = partOf(bytesOf(route, out), limits);
  const { path, file, class: cacheClass, bucket, parameters = [], absent, type } = route;
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const values = new Map(inPath.map((parameter) => [parameter.name, valuePattern(parameter)]));
  const names = new Set(parameters.map(({ name }) => name));
  const query = parameters.find((parameter) => parameter.in === 'query');
  // What is wrong if there is no file: an id without a record, or a limit that is none.
  const detail = query === undefined ? absent : expectedInteger(query);
  const detailText = detail === undefined ? undefined : quoted(...filled(jsonText(detail), names));
  const form = isPage(route) ? [set('form', words('problem'))] : [];
  const location: Location = {
    isPattern: inPath.length > 0,
    match:
      inPath.length === 0
        ? quoted(path)
        : matching(path, (name) => `(?<${variableName(name)}>${values.get(name)})`),
    zone: bucket,
    part,
    set: [
      set('class', words(cacheClass)),
      set('bucket', words(bucket)),
      ...form,
      set('file', quoted(...filled(`/${file}`, names))),
      // Otherwise it is the document that is missing, and the detail is about that.
      ...(detailText === undefined || required !== undefined ? [] : [set('detail', detailText)]),
      ...(required === undefined
        ? []
        : [set('alternate', quoted(...filled(alternateLink(required), names)))]),
      ...Object.entries(contentHeaders(route)).map(([name, value]) =>
        set(`route_${variableOf(name)}`, quoted(value)),
      ),
    ],
    ...(required !== undefined && {
      required: {
        file: quoted(new Variable('document_root'), ...filled(`/${required.file}`, names)),
        detail: detailText ?? quoted(new Variable('detail')),
        bucket: words(bucket),
      },
    }),
    type: quoted(type),
    hasFile: true,
    isCompressed: isCompressed(cacheClass),
    missing: query === undefined ? 404 : 484,
  };
  const [refused] = inPath.flatMap(({ type }) => REFUSED[type] ?? []);
  if (refused === undefined) return [location];
  return [
    location,
    {
      isPattern: true,
      match: matching(path, () => '[^/]*'),
      zone: bucket,
      part,
      set: [set('bucket', words(bucket)), ...form],
      hasFile: false,
      isCompressed: false,
      missing: refused,
    },
  ];
}

/** The size of a route's only file at present; that of a whole download for others. */
const bytesOf = ({ path, file }: EdgeRoute, out: string): number =>
  (path.includes('{') ? undefined : statSync(resolve(out, file), { throwIfNoEntry: false })?.size) ??
  Number.POSITIVE_INFINITY;

const set = (variable: string, value: NginxText) => ({ variable: words(variable), value });

export const isPage = ({ class: cacheClass, type }: EdgeRoute): boolean =>
  cacheClass === 'page' && type.startsWith('text/html');

const expectedInteger = ({ name, minimum, maximum }: QueryParameter): string =>
  `${name}: expected one integer from ${minimum} to ${maximum} in plain decimal digits`;

const matching = (path: string, replace: (name: string) => string): NginxText =>
  pattern(pathPattern(path, replace), '');

/** The pieces of a template, in which parameters are variables. */
const filled = (template: string, names: ReadonlySet<string>): readonly (string | Variable)[] =>
  template.split(/(\{\w+\})/).map((piece, index) => {
    const name = piece.slice(1, -1);
    return index % 2 === 1 && names.has(name) ? new Variable(variableName(name)) : piece;
  });
