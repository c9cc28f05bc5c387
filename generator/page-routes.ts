/**
 * The URLs of the pages for people, of what the pages load, and of what is found by its well-known name; with
 * files that any static host finds: it adds `.html`, or `index.html`.
 */

/** A route as the route table takes it. Summaries carry the Link header, which RFC 9727 wants of the catalog. */
interface PageRoute {
  readonly name: string;
  readonly path: string;
  readonly file: string;
  readonly class: 'page' | 'summary';
  readonly type: string;
  readonly description: string;
}

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';
const SVG = 'image/svg+xml';
/** RFC 9727, section 4.1. */
const LINKSET = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

const page = (name: string, path: string, description: string): PageRoute => ({
  name,
  path,
  file: path === '/' ? 'index.html' : `${path.slice(1)}.html`,
  class: 'page',
  type: HTML,
  description,
});

const file = (name: string, path: string, type: string, description: string): PageRoute => ({
  name,
  path,
  file: path.slice(1),
  class: 'page',
  type,
  description,
});

/** @param paths where the specification wants the pages that have a path of their own in the index */
export const pageRoutes = (paths: {
  readonly docs: string;
  readonly bulk: string;
  readonly feeds: string;
}): readonly PageRoute[] => [
  page('front-page', '/', 'Front page: what is measured, how much, and where to go'),
  page('developers-page', paths.docs, 'Documentation for developers, with an explorer'),
  page('downloads-page', paths.bulk, 'The bulk downloads, for people'),
  page('feeds-page', paths.feeds, 'The feeds, for people'),
  file('style', '/assets/style.css', CSS, 'Style of the pages'),
  file('chart-style', '/assets/uplot.css', CSS, 'Style of the charts'),
  file('chart-library', '/assets/uplot.js', SCRIPT, 'Library that draws the charts'),
  file('gaps-script', '/assets/gaps.js', SCRIPT, 'Script that finds the gaps in a history'),
  file('highlight-script', '/assets/highlight.js', SCRIPT, 'Script that colours JSON'),
  file('chart-script', '/assets/chart.js', SCRIPT, 'Script that draws a member history'),
  file('request-script', '/assets/request.js', SCRIPT, 'Script that asks the API and says what came back'),
  file('explorer-script', '/assets/explorer.js', SCRIPT, 'Script of the explorer'),
  file('favicon', '/favicon.svg', SVG, 'Icon of the site'),
  {
    ...file('api-catalog', '/.well-known/api-catalog', LINKSET, 'Where the API and its description are'),
    class: 'summary',
  },
  file('security-contact', '/.well-known/security.txt', TEXT, 'Whom to tell of a security problem'),
  file('robots', '/robots.txt', TEXT, 'What crawlers are asked to leave alone'),
];
