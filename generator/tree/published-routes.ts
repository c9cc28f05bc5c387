/** The routes of a published tree, and which of them have documents. */
import { hasFiles, type Route } from '../routes/route.js';
import { FORMER } from '../routes/pages.js';
import { PATHS } from '../routes/paths.js';
import { BUNDLE } from '../routes/publishing.js';

/** The part of a route that locates its files and URLs. */
export type PublishedRoute = Pick<
  Route,
  'name' | 'path' | 'file' | 'class' | 'parameters' | 'requires' | 'aliases'
>;

/** The routes whose files follow from the commit instead of the register. */
const OF_COMMIT = new Set(['snapshot', 'changes', BUNDLE.name, 'feed-snapshots', 'feed-snapshots-json']);
export const isOfCommit = ({ name }: Pick<PublishedRoute, 'name'>): boolean => OF_COMMIT.has(name);

/** Whether a route has the assets of earlier snapshots (see publish/assets.ts). */
const isFormer = ({ name }: Pick<PublishedRoute, 'name'>): boolean => name.startsWith(FORMER);

/** Whether a route's files are further names of another's documents: only the lists know their keys. */
export const isAlias = ({ aliases }: Pick<PublishedRoute, 'aliases'>): boolean => aliases !== undefined;

/** Whether a route has documents: files that follow from the register. */
export const hasDocuments = (route: Pick<PublishedRoute, 'name' | 'requires' | 'aliases'>): boolean =>
  hasFiles(route) && !isOfCommit(route) && !isFormer(route);

/** Whether the digest covers a route's documents: all but the downloads, with what describes them. */
export const isInDigest = (route: Pick<PublishedRoute, 'name' | 'path' | 'requires' | 'aliases'>): boolean =>
  hasDocuments(route) && route.path !== PATHS.bulk && !route.path.startsWith(`${PATHS.bulk}/`);

/** The paths of pages that exist only along with a document of a route. */
export const pagesOf = ({ name }: PublishedRoute, table: readonly PublishedRoute[]): readonly string[] =>
  table.flatMap(({ requires, path }) => (requires === name ? [path] : []));

/** The route whose files are further names of a route's documents. */
export const aliasOf = (
  { name }: PublishedRoute,
  table: readonly PublishedRoute[],
): PublishedRoute | undefined => table.find(({ aliases }) => aliases === name);
