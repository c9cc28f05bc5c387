/** The routes of a published tree, and which of them have documents. */
import { hasFiles, type Route } from '../routes/route.js';
import { FORMER } from '../routes/pages.js';
import { BUNDLE } from '../routes/publishing.js';

/** The part of a route that locates its files and URLs. */
export type PublishedRoute = Pick<Route, 'name' | 'path' | 'file' | 'class' | 'parameters' | 'requires'>;

/** The publisher's own routes, derived from the commit instead of the register. */
const OWN = new Set([
  'snapshot',
  'changes',
  'change-list',
  BUNDLE.name,
  'feed-snapshots',
  'feed-snapshots-json',
]);
export const isOwn = ({ name }: Pick<PublishedRoute, 'name'>): boolean => OWN.has(name);

/** Whether a route is of assets of earlier snapshots (see publish/former-assets.ts). */
export const isFormer = ({ name }: Pick<PublishedRoute, 'name'>): boolean => name.startsWith(FORMER);

/** Whether a route has documents: files that the state lists. */
export const isRendered = (route: Pick<PublishedRoute, 'name' | 'requires'>): boolean =>
  hasFiles(route) && !isOwn(route) && !isFormer(route);
