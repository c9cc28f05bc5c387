/** `_headers`, `_redirects` and `api/404.html`, as Netlify, Cloudflare Pages and others read them. */
import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../../base/errors.js';
import { PATHS } from '../../routes/paths.js';
import { contentHeaders, problemOf } from './published.js';
import type { Snapshot, SnapshotRoute } from '../../tree/snapshot-json.js';

const ABOUT = [
  '# Written by "npm run snapshot -- edge headers". These files know paths, but no statuses: errors have no',
  '# problem bodies, CORS or lifetimes of their own, and there are no limits. See docs/edge-servers.md.',
];

/**
 * The rules of `_headers`: for every path, then for each route, or for a whole folder whose routes
 * have the same headers. All that match apply.
 */
export function hostHeaders({ headers, routes: published }: Snapshot): string {
  // These hosts have no limits, so nothing leads to the page about them.
  const routes = published.filter(({ path }) => path !== PATHS.tooMany);
  const fieldsOf = (route: SnapshotRoute): Fields => ({
    // Hosts know the types of style sheets, scripts and fonts.
    ...(route.class !== 'asset' && { 'Content-Type': route.type }),
    ...headers.content[route.class],
    ...contentHeaders(route),
  });
  // A header without the file name can be shared: browsers take the name from the URL.
  const shared = new Map(
    routes.map((route) => {
      const { 'Content-Disposition': name, ...fields } = fieldsOf(route);
      return [route, name === undefined ? fields : { ...fields, 'Content-Disposition': 'attachment' }];
    }),
  );
  const rules = new Map<string, Fields>();
  for (const route of routes) {
    const fields = shared.get(route) ?? {};
    const folder = foldersOf(route.path).find((each) => {
      const inside = routes.filter(({ path }) => path.startsWith(each));
      return inside.length > 1 && inside.every((other) => isDeepStrictEqual(shared.get(other), fields));
    });
    if (folder === undefined) rules.set(route.path, fieldsOf(route));
    else rules.set(`${folder}*`, fields);
  }
  return lines([
    ...ABOUT,
    ...rule('/*', headers.all),
    ...[...rules].flatMap(([path, fields]) => rule(placeholders(path), fields)),
  ]);
}

type Fields = Readonly<Record<string, string>>;

/** `/a/b/c` -> `/a/`, `/a/b/` */
function foldersOf(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.slice(2).map((_, index) => `${parts.slice(0, index + 2).join('/')}/`);
}

/**
 * The rewrites of `_redirects`, for URLs whose file has another name. The first that matches
 * applies; hosts look up those without placeholders faster if they come first.
 */
export function hostRedirects({ routes, redirects }: Snapshot): string {
  const rules = [
    // 301 is what all of these hosts know; only GET and HEAD get here.
    ...redirects.map(({ path, to }) => `${path} ${to} 301`),
    ...routes.flatMap((route) => rewrites(route, routes)),
  ];
  return lines([...ABOUT, ...rules.filter(isPlain), ...rules.filter((rule) => !isPlain(rule))]);
}

/**
 * `api/404.html`, for hosts that take the one nearest to the path, such as Cloudflare Pages: the
 * tree's own is the page for browsers. It is JSON, since the response to an unknown id has the type
 * of the route.
 */
export const hostNotFound = (published: Snapshot): string =>
  `${JSON.stringify(problemOf(published, 'not_found'))}\n`;

function rewrites(route: SnapshotRoute, routes: readonly SnapshotRoute[]): readonly string[] {
  const { path, file, class: cacheClass, parameters = [], requires } = route;
  if (requires !== undefined) {
    // The target is the URL of the file, since some hosts redirect from its name.
    const url = routes.find((other) => other.file === file && other.requires === undefined)?.path;
    return url === undefined ? [] : [`${placeholders(path)} ${url} 200`];
  }
  // Hosts find `developers.html` and `index.html` by themselves, and some redirect if a rule names them.
  if (`/${file}` === path || cacheClass === 'page') return [];
  const from = placeholders(path);
  const rewrite = (target: string, query = ''): string => `${from}${query} /${target} 200`;
  const queries = parameters.flatMap((parameter) => (parameter.in === 'query' ? [parameter] : []));
  if (queries.length === 0) return [rewrite(placeholders(file))];
  // Hosts that don't read query parameters ignore the first rule, or refuse it.
  return queries.flatMap(({ name, default: byDefault }) => [
    rewrite(placeholders(file), ` ${name}=:${name}`),
    rewrite(file.replace(`{${name}}`, String(byDefault))),
  ]);
}

/** Whether the path of a rule has no placeholder. */
const isPlain = (rule: string): boolean => !/^\S*:/.test(rule);
const placeholders = (template: string): string => template.replaceAll(/\{(\w+)\}/g, ':$1');
/** Joins lines, in which nothing can be quoted or escaped. @throws Failure usage: a text can't be one line */
const lines = (texts: readonly string[]): string =>
  texts
    .map((text) => {
      if (/^[ -~]*$/.test(text)) return `${text}\n`;
      throw Failure.usage(
        `${JSON.stringify(text)} can't be a line of a host's files, expected printable ASCII`,
      );
    })
    .join('');
const rule = (path: string, fields: Fields): readonly string[] => [
  path,
  ...Object.entries(fields).map(([name, value]) => `  ${name}: ${value}`),
];
