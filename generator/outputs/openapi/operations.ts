/** The OpenAPI operation of a route. */
import { LOOKUP } from '../../routes/lookup.js';
import type { Resource } from '../../schema/field.js';
import { RESOURCES } from '../../schema/schema.js';
import { enumerated } from '../../schema/measured.js';
import type { Parameter, Route } from '../../routes/route.js';
import { textPattern } from '../../routes/keys.js';
import { PATHS } from '../../routes/paths.js';
import { ROUTES, routeNamed } from '../../routes/routes.js';
import { answersOf, isRanged, type Answer } from './answers.js';
import type { Components } from './components.js';
import { documentOf, shapeName } from './documents.js';
import { pascal, referTo, typeOf, type Schema } from './schemas.js';

const operationId = ({ name, operation }: Pick<Route, 'name' | 'operation'>): string =>
  operation ?? `get${pascal(name)}`;

/** The groups of operations: name, meaning, and routes. */
export const TAGS: readonly {
  readonly name: string;
  /** @param kinds the kinds that the register measures */
  readonly description: (kinds: readonly Resource[]) => string;
  readonly holds: (route: Route) => boolean;
}[] = [
  {
    name: 'Records',
    description: (kinds) =>
      `The measured record of one ${enumerated(
        kinds.map(({ kind }) => kind),
        'or',
      )}${kinds.some(({ histories }) => histories.length > 0) ? ', and its history' : ''}.`,
    holds: ({ class: cacheClass }) => cacheClass === 'record',
  },
  {
    name: 'Finding',
    description: () => 'All ids, and records by what is known of them.',
    holds: ({ name }) => LOOKUP.some((route) => route.name === name),
  },
  {
    name: 'Register',
    description: () => 'The register as a whole.',
    holds: ({ class: cacheClass, path }) => cacheClass === 'summary' && path.startsWith(PATHS.base),
  },
  {
    name: 'Publishing',
    description: () =>
      'The published snapshot, what each changed, the list of the downloads, and this description.',
    holds: () => true,
  },
];

/** The group of a route's operation. */
export function tagOf(route: Route): string {
  const tag = TAGS.find(({ holds }) => holds(route));
  if (tag === undefined) throw new TypeError(`no tag holds the route "${route.name}"`);
  return tag.name;
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** @param declared the example of the field that the parameter has the value of */
function parameterOf(parameter: Parameter, declared: number | string | undefined): Schema {
  const { name, in: place, description } = parameter;
  const example = declared === undefined ? {} : { example: declared };
  if (parameter.in === 'path') {
    const schema =
      parameter.type === 'id'
        ? typeOf({ type: parameter.type })
        : { type: 'string', pattern: `^${textPattern(parameter.type)}$` };
    return { name, in: place, required: true, description: sentence(description), schema, ...example };
  }
  const { minimum, maximum, default: byDefault } = parameter;
  const schema = { type: parameter.type, minimum, maximum, default: byDefault };
  return { name, in: place, description: sentence(description), schema };
}

/** Request headers that any URL accepts, by component name. */
export const REQUEST_HEADERS: Readonly<Record<string, Schema>> = {
  IfNoneMatch: requestHeader(
    'If-None-Match',
    'The ETag of the client’s copy. The response is a 304 if it is still current.',
  ),
  IfModifiedSince: requestHeader(
    'If-Modified-Since',
    'The Last-Modified of the client’s copy. The response is a 304 if the document has not changed since. If-None-Match is more exact and takes precedence.',
  ),
  Range: requestHeader(
    'Range',
    'One range of bytes, for example to resume a download. The response is a 206 if the range is within the document.',
  ),
  IfMatch: requestHeader(
    'If-Match',
    'The ETag that the document must have. The response is a 412 if it has another.',
  ),
  IfUnmodifiedSince: requestHeader(
    'If-Unmodified-Since',
    'The Last-Modified of the client’s copy. The response is a 412 if the document has changed since. If-Match is more exact and takes precedence.',
  ),
  IfRange: requestHeader(
    'If-Range',
    'With Range: the ETag of the client’s copy. If the document has another, the response is the whole document.',
  ),
};

/** Those that are described with bundles of changes alone. */
const RANGE_HEADERS = new Set(['Range', 'IfRange']);

function requestHeader(name: string, description: string): Schema {
  return { name, in: 'header', description, schema: { type: 'string' } };
}

/** A link to the record or history of an id. @param id JSON Pointer to the id in the document */
const linkTo = (link: string, route: string, id: string): readonly [string, Schema] => [
  link,
  { operationId: operationId(routeNamed(ROUTES, route)), parameters: { id: `$response.body#${id}` } },
];

/** The links of a document, as operations. */
function linksFrom(route: Route, isDescribed: (route: string) => boolean): Schema {
  const name = shapeName(route);
  const documents = RESOURCES.flatMap(({ record, history }) => [record, ...(history ? [history] : [])]);
  const fields = documents.find(({ route }) => route === name)?.fields ?? [];
  const links = fields.flatMap((field) => (field.is === 'links' ? Object.entries(field.targets) : []));
  return Object.fromEntries(
    links.flatMap(([link, target]) => {
      if (typeof target === 'string')
        return target === name || !isDescribed(target) ? [] : [linkTo(link, target, '/id')];
      // The id is in the object of the link's name. A link leads to a single operation, so not to
      // records of several kinds.
      return typeof target.kind === 'string' && isDescribed(target.kind)
        ? [linkTo(link, target.kind, `/${link}/id`)]
        : [];
    }),
  );
}

/** `text/csv; charset=utf-8` -> `text/csv`: OpenAPI needs no parameters of media types. */
const mediaType = ({ type }: Route): string => type.replace(/;.*/, '');

/** Bytes have no schema in JSON: OpenAPI 3.1 describes them so. */
const TEXT: Schema = { type: 'string' };

/** A response with the document or part of it, which is bytes. */
function contentAnswer(
  route: Route,
  { status, description }: Answer,
  components: Components,
  isDescribed: (route: string) => boolean,
): Schema {
  const isWhole = status === 200;
  const isOurs = documentOf(shapeName(route)) !== undefined;
  const links = isWhole ? linksFrom(route, isDescribed) : {};
  const type = mediaType(route);
  const whole = isOurs
    ? referTo('schemas', pascal(shapeName(route)))
    : type === 'application/json'
      ? { type: 'object' }
      : TEXT;
  return {
    description,
    headers: components.headers(route, status),
    content: { [type]: { schema: isWhole ? whole : TEXT } },
    ...(Object.keys(links).length === 0 ? {} : { links }),
  };
}

/** The default response of an operation, which covers methods that are not allowed. */
const OTHERWISE: Answer = {
  status: 405,
  description:
    'Any other error: 405 with Allow for methods other than GET, HEAD and OPTIONS; 400 or 505 for requests that are not valid HTTP/1.1.',
  problems: ['method_not_allowed', 'invalid_request', 'version_not_supported'],
};

/** The example of the field of a document that has the name of a parameter. */
function declaredExample(route: Route, { name }: Parameter): number | string | undefined {
  const field = documentOf(shapeName(route))?.members.find((member) => member.name === name);
  const example = field?.is === 'value' ? field.example : undefined;
  return typeof example === 'number' || typeof example === 'string' ? example : undefined;
}

/**
 * GET of a route.
 * @param isDescribed whether a route has an operation
 */
export function operationOf(
  route: Route,
  components: Components,
  isDescribed: (route: string) => boolean,
): Schema {
  const { description, parameters = [] } = route;
  const about = documentOf(shapeName(route))?.description;
  return {
    operationId: operationId(route),
    summary: description,
    ...(about === undefined ? {} : { description: about }),
    tags: [tagOf(route)],
    parameters: [
      ...parameters.map((parameter) => parameterOf(parameter, declaredExample(route, parameter))),
      ...Object.keys(REQUEST_HEADERS)
        .filter((header) => isRanged(route) || !RANGE_HEADERS.has(header))
        .map((header) => referTo('parameters', header)),
    ],
    responses: {
      ...Object.fromEntries(
        answersOf(route).map((answer) => [
          String(answer.status),
          answer.status < 300
            ? contentAnswer(route, answer, components, isDescribed)
            : components.answer(route, answer),
        ]),
      ),
      default: components.answer(route, OTHERWISE),
    },
  };
}
