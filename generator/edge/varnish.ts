/** The configuration of Varnish before the proxy or nginx. */
import { HTML_PATTERN, codingPattern, namePattern, pathPattern } from './patterns.js';
import { problemOf } from './published.js';
import type { EdgeRoute, Published } from './published.js';
import { renderTemplate } from './template.js';

/** @param backend ADDRESS:PORT of the proxy or nginx */
export function varnishConfiguration(published: Published, backend: string): string {
  const { service, headers, routes } = published;
  const [, address = '', port = ''] = /^\[?([^\]]+?)\]?:(\d+)$/.exec(backend) ?? [];
  const queries = routes.flatMap(({ path, parameters = [] }) =>
    parameters.flatMap(({ in: where, name }) =>
      where === 'query' ? [{ path, name: namePattern(name) }] : [],
    ),
  );
  const error = (code: string) => {
    const { status, problem } = problemOf(published, code);
    return { status, body: quoted(JSON.stringify(problem)) };
  };
  return renderTemplate('varnish.vcl', {
    address,
    port,
    host: new URL(service.base_url).host,
    accepts: codingPattern,
    acceptsHtml: HTML_PATTERN,
    query: queries.map(({ path, name }) => `${start(path)}\\?(?:.*&)?${name}(?:[=&]|$)`).join('|'),
    // The only parameter of its name, with a plain value: `\1` is the path, `\2` the parameter.
    queries: queries.map(({ path, name }) => {
      const other = `(?!${name}(?:[=&]|$))[^&]*`;
      return {
        pattern: `(${start(path)}\\?)(?:${other}&)*(${name}=[0-9]+)(?:&${other})*$`,
        plain: `${start(path)}\\?${name}=[0-9]+$`,
      };
    }),
    downloads: `(?:${routes.flatMap(({ bucket, path }) => (bucket === 'download' ? start(path) : [])).join('|')})(?:[?]|$)`,
    stale: staleTimes(routes, headers.content),
    headers: Object.entries({ ...headers.all, ...headers.error }).map(([name, value]) => [
      name,
      quoted(value),
    ]),
    error: error('no_snapshot'),
    range: error('range_not_satisfiable'),
  });
}

/** The kinds of quotes of VCL. None has an escape for its own end. */
const QUOTES = [
  ['"', '"'],
  ['{"', '"}'],
  ['"""', '"""'],
] as const;

/** A text in quotes whose end it doesn't contain. @throws TypeError there are none */
function quoted(text: string): string {
  const fitting = QUOTES.find(([, end]) => (text + end).indexOf(end) === text.length);
  if (fitting === undefined) throw new TypeError(`VCL has no quotes for ${text}`);
  return fitting.join(text);
}

const start = (path: string): string => pathPattern(path, () => '').slice(0, -1);

/** The URLs that may be served while they are revalidated, by the seconds of it. */
function staleTimes(routes: readonly EdgeRoute[], content: Published['headers']['content']) {
  const byTime = new Map<string, string[]>();
  for (const { path, class: cacheClass } of routes) {
    const seconds = /stale-while-revalidate=(\d+)/.exec(
      content[cacheClass]?.['CDN-Cache-Control'] ?? '',
    )?.[1];
    if (seconds === undefined) continue;
    const patterns = byTime.get(seconds) ?? [];
    byTime.set(seconds, patterns);
    patterns.push(pathPattern(path, () => '[^/]*').slice(1, -1));
  }
  return [...byTime].map(([seconds, patterns]) => ({
    seconds,
    pattern: `^(?:${patterns.join('|')})(?:[?]|$)`,
  }));
}
