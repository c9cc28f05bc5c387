/** Paths that people guess, and the path of what they look for. */
import { PATHS } from './paths.js';

/** A path that responds with 308, at no cost for the client. */
export interface Redirect {
  readonly path: string;
  readonly to: string;
}

export const REDIRECTS: readonly Redirect[] = [
  { path: '/docs', to: PATHS.docs },
  { path: '/openapi.json', to: PATHS.description },
];
