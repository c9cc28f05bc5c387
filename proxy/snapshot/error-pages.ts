import type { HeaderList } from './headers.js';
import type { RouteMatch } from './router.js';
import type { Disk } from '../tree/disk.js';
import type { RouteDeclaration, Snapshot } from './snapshot.js';

/**
 * The pages that browsers get instead of problem documents. They are read once for each snapshot,
 * so that an error never waits for the disk, and no number of errors costs memory.
 */

/** A larger page is not used. 256 KiB. */
const PAGE_MAX_BYTES = 256 * 1024;

/** What a page needs besides the headers of its error. */
const PAGE_HEADERS = ['Content-Security-Policy'];

export interface ErrorPage {
  readonly body: Buffer;
  /** Content-Type, and the headers that protect pages. */
  readonly headers: HeaderList;
}

/** The error pages of a snapshot, as far as they could be read. */
export interface ErrorPages {
  /** By the code of the error. */
  readonly pages: ReadonlyMap<string, ErrorPage>;
  /** The names of the routes whose content is an HTML page. */
  readonly routes: ReadonlySet<string>;
  /** The paths at and below which there are only problem documents. */
  readonly problemsBelow: readonly string[];
}

export const NO_ERROR_PAGES: ErrorPages = { pages: new Map(), routes: new Set(), problemsBelow: [] };

/**
 * Reads the pages that a snapshot names. One that is missing or unreadable is left out until the
 * next snapshot: the error is then a problem document.
 *
 * @param root the tree's folder
 */
export async function readErrorPages(snapshot: Snapshot, root: string, disk: Disk): Promise<ErrorPages> {
  const { errors, routes, headers, problems_below: problemsBelow } = snapshot;
  const pages = new Map<string, ErrorPage>();
  const protection = PAGE_HEADERS.flatMap((name) => {
    const value = headers.content.page[name];
    return value === undefined ? [] : [name, value];
  });
  for (const [code, { page: path }] of Object.entries(errors)) {
    const route = path === undefined ? undefined : routes.find((candidate) => candidate.path === path);
    if (route === undefined || !isPage(route)) continue;
    const request = { root, path: route.file, maxBytes: PAGE_MAX_BYTES };
    const file = await disk.read(request).catch(() => undefined);
    if (file?.bytes === undefined) continue;
    pages.set(code, { body: Buffer.from(file.bytes), headers: [...protection, 'Content-Type', route.type] });
  }
  return { pages, routes: new Set(routes.filter(isPage).map(({ name }) => name)), problemsBelow };
}

/**
 * The page of an error, if a person may have opened this address: the route is that of a page, or
 * there is no route, and the path looks like that of a page. A browser gets the page, everything
 * else the problem document.
 */
export function errorPageOf(
  { pages, routes, problemsBelow }: ErrorPages,
  match: RouteMatch,
  code: string,
): ErrorPage | undefined {
  const page = pages.get(code);
  if (page === undefined || match.kind === 'redirect') return undefined;
  const isOfPage =
    match.kind === 'refusal' && match.route === undefined
      ? match.code === 'not_found' && isPagePath(match.path, problemsBelow)
      : match.route !== undefined && routes.has(match.route.name);
  return isOfPage ? page : undefined;
}

/** Whether a path without a route has no extension, and is not among those for programs. */
function isPagePath(path: string, problemsBelow: readonly string[]): boolean {
  return (
    !path.includes('.', path.lastIndexOf('/')) &&
    !problemsBelow.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))
  );
}

function isPage({ class: cacheClass, type }: RouteDeclaration): boolean {
  return cacheClass === 'page' && type.startsWith('text/html');
}
