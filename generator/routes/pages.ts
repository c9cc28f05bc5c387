/**
 * The routes of the pages, their assets and the well-known files. File names suit any static host,
 * which adds `.html` or `index.html`.
 */
import { assets } from '../base/assets.js';
import { DOCUMENTATION, SEARCH_PATH, type DocumentationPage } from './documentation.js';
import type { UnlistedRoute } from './route.js';
import type { PATHS } from './paths.js';
import { RECORDS } from './endpoints.js';

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';
/** Not registered; what registries of modules send, and Deno takes for TypeScript. */
const TYPESCRIPT = 'application/typescript; charset=utf-8';
/** Not registered either. */
const PYTHON = 'text/x-python; charset=utf-8';
const SVG = 'image/svg+xml';
const ICON = 'image/vnd.microsoft.icon';
const PNG = 'image/png';
const XML = 'application/xml; charset=utf-8';
const FONT = 'font/woff2';
const JSON_TYPE = 'application/json; charset=utf-8';
/** RFC 9727, section 4.1. */
const LINKSET = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

const file = (name: string, path: string, type: string, description: string): UnlistedRoute => ({
  name,
  path,
  file: path.slice(1),
  class: 'page',
  bucket: 'page',
  type,
  description,
});

export const page = (name: string, path: string, description: string): UnlistedRoute => ({
  ...file(name, path, HTML, description),
  file: path === '/' ? 'index.html' : `${path.slice(1)}.html`,
});

/** The folder of all assets. */
const ASSETS = 'assets';

/** The start of the names of routes of former assets, which the format of the tree fixes. */
export const FORMER = 'former-';

/** The assets that only earlier snapshots had: one route for each type, since a route has one. */
export const FORMER_ASSETS: readonly UnlistedRoute[] = Object.entries({
  css: CSS,
  js: SCRIPT,
  woff2: FONT,
}).map(([extension, type]) => ({
  ...file(
    FORMER + extension,
    `/${ASSETS}/{asset}.${extension}`,
    type,
    `Assets (.${extension}) of snapshots of the last 7 days, which pages in caches still load`,
  ),
  class: 'asset',
  absent: `no asset {asset}.${extension}`,
  parameters: [
    { name: 'asset', in: 'path', type: 'asset', description: 'name with a hash of the content, as in pages' },
  ],
}));

const asset = (name: string, type: string, description: string): UnlistedRoute => {
  const path = assets().get(name)?.path;
  if (path === undefined) throw new TypeError(`no asset is named "${name}"`);
  return { ...file(name, path, type, description), class: 'asset' };
};

const documentationPage = ({
  name,
  path,
  title,
  description,
  measures,
}: DocumentationPage): UnlistedRoute => ({
  ...page(name, path, `Documentation, ${title}: ${description}`),
  ...(measures && { measures }),
});

/** @param paths the paths of pages that the specification fixes and the index lists */
export const pageRoutes = (paths: typeof PATHS): readonly UnlistedRoute[] => [
  page('front-page', '/', 'Front page: what is measured, how much of it, and where to go next'),
  ...DOCUMENTATION.map(documentationPage),
  file('client', paths.client, TYPESCRIPT, 'Client in TypeScript, with the types of all documents'),
  file('client-changes', paths.clientChanges, TYPESCRIPT, 'What follows changes with that client'),
  file('client-follow', paths.clientFollow, PYTHON, 'Script that keeps a copy of the database current'),
  file('client-mirror', paths.clientMirror, PYTHON, 'Script that keeps a copy of all files current'),
  file('embed', paths.embed, SCRIPT, 'Script that shows what was measured of a record in any page'),
  file('documentation-search', SEARCH_PATH, JSON_TYPE, 'What the search field of the documentation finds'),
  page('downloads-page', paths.bulk, 'Page about the bulk downloads'),
  page('feeds-page', paths.feeds, 'Page about the feeds'),
  page('not-found-page', paths.notFound, 'What a browser gets instead of the problem document of a 404'),
  page('too-many-page', paths.tooMany, 'What a browser gets instead of the problem document of a 429'),
  asset('serif', FONT, 'Display face of the pages'),
  asset('serif-latin-1', FONT, 'Display face for names with accents'),
  asset('serif-latin-a', FONT, 'Display face for names with further accents'),
  asset('style', CSS, 'Style sheet of all pages'),
  asset('front-style', CSS, 'Style sheet of the front page and of that of an error'),
  asset('data-style', CSS, 'Style sheet of the pages about downloads and feeds'),
  asset('docs-style', CSS, 'Style sheet of the documentation'),
  asset('record-style', CSS, 'Style sheet of the pages of records'),
  asset('chart-style', CSS, 'Style sheet of the charts'),
  asset('copy-script', SCRIPT, 'Script that copies commands and addresses'),
  asset('tabs-script', SCRIPT, 'Script that shows sections as tabs'),
  asset('chart-script', SCRIPT, 'Script that draws a member history, with the library for it'),
  asset('lookup-script', SCRIPT, 'Script of the field that finds records'),
  asset('cite-script', SCRIPT, 'Script that says how to cite a record'),
  asset('record-script', SCRIPT, 'Script of the pages of records'),
  asset('explorer-script', SCRIPT, 'Script of the explorer'),
  asset('docs-script', SCRIPT, 'Script of the documentation: contents and search'),
  file('favicon', '/favicon.svg', SVG, 'Icon of the site'),
  file('favicon-ico', '/favicon.ico', ICON, 'Icon of the site for older browsers'),
  file('preview', '/preview.png', PNG, 'Picture of the site where others link to it'),
  file('sitemap', '/sitemap.xml', XML, 'Addresses of the pages for search engines'),
  // A summary has the header Link, which RFC 9727 requires of the catalog.
  {
    ...file('api-catalog', paths.catalog, LINKSET, 'Catalog with links to the API and its description'),
    class: 'summary',
  },
  file('security-contact', '/.well-known/security.txt', TEXT, 'Contact for security reports'),
  file('robots', '/robots.txt', TEXT, 'Paths that crawlers are asked not to visit'),
];

/** The names of the routes of a kind: its page, and that page at the URLs of records. */
export const shellRoute = (kind: string): string => `${kind}-shell`;
export const recordPage = (kind: string): string => `${kind}-page`;

export const RECORD_PAGES: readonly UnlistedRoute[] = RECORDS.flatMap(
  ({ name: kind, parameters = [], absent = '', measures = [] }): readonly UnlistedRoute[] => {
    // One tag for both, so that a CDN can be purged of a page that has changed.
    const shell = {
      ...page(shellRoute(kind), `/${kind}`, `Page to look up one ${kind}`),
      tag: recordPage(kind),
      measures,
    };
    const record = { name: recordPage(kind), path: `/${kind}/{id}`, description: `Page of one ${kind}` };
    return [shell, { ...shell, ...record, requires: kind, parameters, absent }];
  },
);
