/** The routes in a snapshot.json: where their files are, and what their responses have. */
import * as z from 'zod';
import { BUCKETS, CACHE_CLASSES } from '../routes/route.js';
import {
  LIST_MOST,
  PATH_LENGTH,
  count,
  described,
  headers,
  listOf,
  printable,
  servicePath,
  text,
} from './values.js';

const parameterName = z.string().regex(/^[a-z][a-z_]{0,30}$/);

const pathParameter = <Type extends string, Name extends z.ZodType>(type: Type, name: Name) =>
  z.object({ name, in: z.literal('path'), type: z.literal(type), description: text });

const query = z
  .object({
    // The only one that has an error for values that are not valid.
    name: z.literal('limit'),
    in: z.literal('query'),
    type: z.literal('integer'),
    minimum: count,
    maximum: count,
    default: count,
    description: text,
  })
  .refine(({ minimum, default: byDefault, maximum }) => minimum <= byDefault && byDefault <= maximum);

const parameter = z.discriminatedUnion('in', [
  z.discriminatedUnion('type', [
    pathParameter('id', parameterName),
    pathParameter('prefix', z.literal('prefix')),
    pathParameter('platform_id', z.literal('platform_id')),
    pathParameter('asset', z.literal('asset')),
  ]),
  query,
]);

/** A text for a path or a file. */
const short = (form: RegExp) => z.string().max(PATH_LENGTH, { abort: true }).regex(form);

export const routeSchema = z.looseObject({
  name: described(short(/^[\w-]+$/), 'Name of the route.', 'group'),
  path: described(servicePath, 'Path, with its parameters in braces.', '/api/v1/group/{id}', {
    type: 'text',
  }),
  file: described(
    short(/^[^:]*$/),
    'File that is served, relative to the root of the tree.',
    'api/v1/group/{id}.json',
  ),
  class: described(z.enum(CACHE_CLASSES), 'How long the response may be cached.', 'record'),
  bucket: described(
    z.enum(BUCKETS),
    'The limit it counts against. A download counts against api, too.',
    'api',
  ),
  type: described(
    printable.regex(/^[\w.+-]+\/[\w.+-]+(; ?[\w-]+=([\w.-]+|"[\w.:/-]+"))*$/),
    'Media type of the response.',
    'application/json; charset=utf-8',
  ),
  attachment: described(
    short(/^[\w.-]+$/).exactOptional(),
    'File name to save it under, if it is a download.',
    'groups-2026-11-20.csv',
  ),
  headers: described(headers.default({}), 'On its 200 and 206, besides those of the class.'),
  description: described(text, 'What it returns.', 'Measured record of one group'),
  parameters: listOf(parameter, LIST_MOST).exactOptional(),
  example: described(text.exactOptional(), 'An example of a URL.', '/api/v1/group/7', { type: 'path' }),
  absent: described(
    text.exactOptional(),
    'Detail of the 404 for a valid URL that has no file, with parameters in braces.',
    'no group {id} in this register',
  ),
  requires: described(
    z.string().exactOptional(),
    'Name of a route: unless its document with the same parameters is published, the response is a 404.',
    'group',
  ),
  aliases: described(
    z.string().exactOptional(),
    'Name of a route: the files of this one are further names of some of its documents.',
    'group',
  ),
});

/** The part that locates its files. */
export const locatedRoute = routeSchema
  .pick({ name: true, path: true, file: true, class: true, parameters: true, requires: true, aliases: true })
  .loose();
export type LocatedRoute = z.infer<typeof locatedRoute>;

/** The name of a parameter, in braces in templates. */
const PARAMETER = /\{([a-z][a-z_]{0,30})\}/g;
const parametersIn = (template: string): readonly string[] =>
  [...template.matchAll(PARAMETER)].map(([, name = '']) => name);

/** A segment of a path or of a file's name, with its parameters replaced. */
const SEGMENT = /^(?!\.)[\w.~-]+$/;
const isPlain = (template: string): boolean =>
  template
    .replaceAll(PARAMETER, '0')
    .split('/')
    .every((part, index) => SEGMENT.test(part) || (index === 0 && part === '.well-known'));

/** Whether a path is plain and has the declared parameters, once each, and one at most in a segment. */
function hasRoutablePath({ path, parameters = [] }: LocatedRoute): boolean {
  const declared = parameters.flatMap((each) => (each.in === 'path' ? each.name : []));
  return (
    (path === '/' || isPlain(path.slice(1))) &&
    path.split('/').every((segment) => parametersIn(segment).length <= 1) &&
    parametersIn(path).toSorted().join() === declared.toSorted().join()
  );
}

/** Whether the name of a file is plain, and all parameters in it are among these. */
const isRoutableFile = (file: string, { parameters = [] }: LocatedRoute): boolean =>
  isPlain(file) && parametersIn(file).every((name) => parameters.some((each) => each.name === name));

const areUnique = (texts: readonly string[]): boolean => new Set(texts).size === texts.length;

/** Whether requests lead to one route each, and each route to plain files. */
export function areRoutable(routes: readonly LocatedRoute[]): boolean {
  const byName = new Map(routes.map((each) => [each.name, each]));
  return (
    routes.length > 0 &&
    byName.size === routes.length &&
    // No request could tell two paths of one shape apart.
    areUnique(routes.map(({ path }) => path.replaceAll(PARAMETER, '{}'))) &&
    routes.every((route) => {
      const required = route.requires === undefined ? undefined : byName.get(route.requires);
      return (
        hasRoutablePath(route) &&
        isRoutableFile(route.file, route) &&
        areUnique((route.parameters ?? []).map(({ name }) => name)) &&
        (route.requires === undefined ||
          (required !== undefined && required.requires === undefined && isRoutableFile(required.file, route)))
      );
    })
  );
}
