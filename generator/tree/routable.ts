/** Whether the routes of a snapshot.json lead each request to one route, and each route to plain files. */
import type { LocatedRoute } from './snapshot-route.js';

/** The name of a parameter, in braces in templates. */
const PARAMETER = /\{([a-z][a-z_]{0,30})\}/g;

/** A segment of a path or of a file's name, with its parameters replaced. */
const SEGMENT = /^(?!\.)[\w.~-]+$/;
const isPlain = (path: string): boolean =>
  path.split('/').every((part, index) => SEGMENT.test(part) || (index === 0 && part === '.well-known'));

/** The segments of a path, each with one parameter at most, and that in place of nothing but itself. */
function hasRoutablePath({ path, parameters = [] }: LocatedRoute): boolean {
  const declared = parameters.flatMap((each) => (each.in === 'path' ? [each] : []));
  const segments = path.slice(1).split('/');
  const used = segments.flatMap((segment, index) =>
    [...segment.matchAll(PARAMETER)].map(([, name = '']) => ({ name, index })),
  );
  return (
    (path === '/' || isPlain(path.slice(1).replaceAll(PARAMETER, '0'))) &&
    used.length === declared.length &&
    new Set(used.map(({ index }) => index)).size === used.length &&
    used.every(({ name }) => declared.some((each) => each.name === name))
  );
}

/** Whether the file of a route is plain, and no parameter in it is unknown. */
const hasRoutableFile = ({ file }: Pick<LocatedRoute, 'file'>, { parameters = [] }: LocatedRoute): boolean =>
  isPlain(file.replaceAll(PARAMETER, '0')) &&
  [...file.matchAll(PARAMETER)].every(([, name]) => parameters.some((each) => each.name === name));

/** What two paths of one shape have in common: no request could tell them apart. */
const shapeOf = ({ path }: LocatedRoute): string => path.replaceAll(PARAMETER, '{}');

const areUnique = (texts: readonly string[]): boolean => new Set(texts).size === texts.length;

/** Whether requests lead to one route each, and each route to plain files. */
export function areRoutable(routes: readonly LocatedRoute[]): boolean {
  const byName = new Map(routes.map((each) => [each.name, each]));
  return (
    routes.length > 0 &&
    byName.size === routes.length &&
    areUnique(routes.map(shapeOf)) &&
    routes.every((each) => {
      const required = each.requires === undefined ? undefined : byName.get(each.requires);
      return (
        hasRoutablePath(each) &&
        hasRoutableFile(each, each) &&
        areUnique((each.parameters ?? []).map(({ name }) => name)) &&
        (each.requires === undefined ||
          (required !== undefined && required.requires === undefined && hasRoutableFile(required, each)))
      );
    })
  );
}
