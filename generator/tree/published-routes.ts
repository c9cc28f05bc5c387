/** The routes of a published tree, and which of them have documents. */
import { LOG_ROUTES } from '../routes/routes.js';
import { hasFiles, type Route } from '../routes/route.js';
import { FORMER } from '../routes/pages.js';
import { BUNDLE } from '../routes/publishing.js';

/** The part of a route that locates its files and URLs. */
export type PublishedRoute = Pick<Route, 'name' | 'path' | 'file' | 'class' | 'parameters' | 'requires'>;

/** The publisher's own routes, derived from the commit instead of the register. */
const OWN = new Set([
  'snapshot',
  'changes',
  BUNDLE.name,
  'feed-snapshots',
  'feed-snapshots-json',
  ...LOG_ROUTES.map(({ name }) => name),
]);
export const isOwn = ({ name }: Pick<PublishedRoute, 'name'>): boolean => OWN.has(name);

/** Whether a route is one of the signed log. Its files have names that are no keys. */
export const isLog = ({ name }: Pick<PublishedRoute, 'name'>): boolean =>
  LOG_ROUTES.some((route) => route.name === name);

/** Whether a table has the log: then the chunks of documents are published. */
export const hasLog = (routes: readonly Pick<PublishedRoute, 'name'>[]): boolean => routes.some(isLog);

/** Whether a route is of assets of earlier snapshots (see publish/former-assets.ts). */
export const isFormer = ({ name }: Pick<PublishedRoute, 'name'>): boolean => name.startsWith(FORMER);

/** Whether a route has documents: files that the state lists. */
export const isRendered = (route: Pick<PublishedRoute, 'name' | 'requires'>): boolean =>
  hasFiles(route) && !isOwn(route) && !isFormer(route);
