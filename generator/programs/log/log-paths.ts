/** Where the signed log of a tree is, below the tree. */
import { keyForm, type KeyForm } from '../../routes/keys.js';
import type { PublishedRoute } from '../../tree/published-routes.js';

/** The folder of a tree's log. Other trees have others, so that no log is taken for another one. */
export const logFolder = (treeId: string): string => `log/${treeId}`;

/** The newest head of the log, as a signed note. */
export const checkpointFile = (treeId: string): string => `${logFolder(treeId)}/checkpoint`;

/** The folder of what leads from documents to the digest (see log/chunk-index.ts). */
export const indexFolder = (treeId: string): string => `${logFolder(treeId)}/index`;

/** The list of the lists of a route's chunks. */
export const LISTS_FILE = 'chunks.txt';
/** The text whose hash is the digest. */
export const ROUTES_FILE = 'routes.txt';

/** The form of the keys by which a route's chunks are named; undefined if it has one document. */
export function chunkForm({ parameters = [] }: Pick<PublishedRoute, 'parameters'>): KeyForm | undefined {
  const [parameter] = parameters;
  return parameter && keyForm(parameter.name);
}
