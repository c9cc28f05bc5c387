/** The pages of the reference: each endpoint with its fields, a real request and its response. */
import { parseJson } from '../../../base/portable.js';
import type { PublishedHeaders } from '../../../routes/headers.js';
import type { ReferencePage } from '../../../routes/documentation.js';
import { routeNamed } from '../../../routes/routes.js';
import { filler, isDocument, urlTemplate, type Parameter, type Route } from '../../../routes/route.js';
import { MAX_INTEGER } from '../../../schema/shape.js';
import { OWNER_CASES, OWNER_COLUMNS } from '../../../schema/group.js';
import { RESOURCES, documentsOf } from '../../../schema/schema.js';
import { measuredFields, type Measured } from '../../../schema/measured.js';
import { capitalized, type InWords } from '../../../schema/words.js';
import { PUBLISHING } from '../../../routes/publishing.js';
import { PLATFORM_ID_TEXT, PREFIX_DIGITS } from '../../../routes/keys.js';
import { problemsOf } from '../../openapi/answers.js';
import { documentOf } from '../../openapi/documents.js';
import { fieldRows, type FieldRow } from '../fields.js';
import { sample } from '../sample.js';
import { exampleOf } from './example.js';
import { snippets } from './requests.js';
import type { SiteConfig } from '../../../config/config.js';
import { Shown } from '../shown.js';
import type { Overview } from '../../../register/overview.js';
import type { IsThere } from './titles.js';
import type { ReadDocument } from '../documents.js';

/** What the documentation is about. */
export interface Documented {
  readonly config: SiteConfig;
  readonly table: readonly Route[];
  readonly shown: Shown;
  readonly overview: Overview;
  readonly inWords: InWords;
  /** Whether there is something at a route. */
  readonly isThere: IsThere;
  readonly read: ReadDocument;
  /** The first key of a route's documents. */
  readonly firstKey: (route: string) => number | undefined;
  /** The URL path of the first further name of a route's documents. */
  readonly firstAlias: (route: string) => string | undefined;
}

/** The values that a parameter may have, after its description. */
function valuesOf(parameter: Parameter): string {
  switch (parameter.type) {
    case 'integer':
      return `an integer from ${parameter.minimum} to ${parameter.maximum}; ${parameter.default} if it is left out`;
    case 'id':
      return `decimal digits without a sign or leading zero, at most ${MAX_INTEGER}`;
    case 'prefix':
      return `1 to ${PREFIX_DIGITS} lower-case hexadecimal digits`;
    case 'platform_id':
      return PLATFORM_ID_TEXT;
    case 'asset':
      return 'a name in lower case that ends in 10 hexadecimal digits';
  }
}

/** The URL path of a route's example; undefined if nothing is published there. */
export function exampleUrl(route: Route, { shown, firstKey, firstAlias }: Documented): string | undefined {
  const { name, parameters = [], aliases } = route;
  if (parameters.length === 0) return route.path;
  if (aliases !== undefined) return firstAlias(aliases);
  const key = shown.key(name) ?? firstKey(name);
  return key === undefined ? undefined : filler(urlTemplate(route))(key);
}

/** A real response; undefined if there is none, or if it differs from build to build, or comes after the pages. */
function bodyOf(route: Route, { shown, read, firstKey }: Documented): string | undefined {
  const { name, parameters = [] } = route;
  const body = shown.body(name);
  if (body !== undefined || !isDocument(route) || PUBLISHING.some((each) => each.name === name)) return body;
  const key = parameters.length === 0 ? 0 : firstKey(name);
  const text = key === undefined ? undefined : read(name, key);
  // A published file that somebody has damaged counts as absent.
  return text !== undefined && parseJson(text) !== undefined ? text : undefined;
}

/** Whether the fields of a route's document are all shown, those inside objects too. */
const isMain = (name: string): boolean => RESOURCES.some(({ record }) => record.route === name);

/** Says of the fields of records and histories which are null because nothing of them is measured. */
function withoutUnmeasured(
  route: string,
  rows: readonly FieldRow[],
  measured: Measured,
): readonly FieldRow[] {
  const names = RESOURCES.flatMap((resource) => {
    const document = documentsOf(resource).find((each) => each.route === route);
    return document === undefined ? [] : measuredFields(resource, measured, document).map(({ name }) => name);
  });
  if (names.length === 0) return rows;
  return rows.map((row) =>
    names.includes(row.name)
      ? row
      : { ...row, members: [], words: [], notes: 'Always null: this register does not measure it.' },
  );
}

/** The parameters of routes, one for each name. */
const parametersOf = (routes: readonly Route[]): readonly Parameter[] =>
  [
    ...new Map(
      routes
        .toReversed()
        .flatMap(({ parameters = [] }) => parameters.map((each) => [each.name, each] as const)),
    ).values(),
  ].toReversed();

function sectionOf(names: readonly string[], documented: Documented, { content }: PublishedHeaders) {
  const { table, config, inWords } = documented;
  const routes = names.map((name) => routeNamed(table, name));
  const [route] = routes;
  if (route === undefined) throw new TypeError('a section of the reference has no route');
  const document = documentOf(route.name);
  const url = exampleUrl(route, documented);
  const body = bodyOf(route, documented);
  const isRecord = route.class === 'record';
  return {
    routes: routes.map(({ name, path, description }) => ({ name, path, description: inWords(description) })),
    name: route.name,
    path: route.path,
    url,
    parameters: parametersOf(routes).map((parameter) => ({
      ...parameter,
      description: inWords(capitalized(parameter.description)),
      values: valuesOf(parameter),
    })),
    snippets: url === undefined ? [] : snippets(config.operator.baseUrl + url),
    /** A real response, or one of example values, which is none of this service. */
    sample:
      body !== undefined
        ? sample(body)
        : document === undefined || isRecord
          ? undefined
          : sample(JSON.stringify(exampleOf(document))),
    isReal: body !== undefined,
    isRecord,
    isMain: isMain(route.name),
    fields:
      document === undefined
        ? []
        : withoutUnmeasured(route.name, fieldRows(document, inWords), documented.overview.measured),
    problems: problemsOf(route),
    kept: content[route.class]['Cache-Control'],
  };
}

/** The data for the template of a page of the reference. */
export const referencePage = (
  { title, description, sections }: ReferencePage,
  documented: Documented,
  published: PublishedHeaders,
) => ({
  title,
  description,
  sections: sections
    .map((names) => names.filter(documented.isThere))
    .filter((names) => names.length > 0)
    .map((names) => sectionOf(names, documented, published)),
  ownerCases:
    sections.flat().includes('group') && documented.overview.measured.hasAny(OWNER_COLUMNS)
      ? OWNER_CASES
      : [],
});
