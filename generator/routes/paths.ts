/** Paths that are named in many places. */

/** The version of the API, which the base path repeats. */
export const API_VERSION = 1;

export const PATHS = {
  base: '/api/v1',
  docs: '/developers',
  description: '/api/v1/openapi.json',
  /** The page of the downloads, and the prefix of all of them. */
  bulk: '/downloads',
  feeds: '/feeds',
  catalog: '/.well-known/api-catalog',
  changes: '/changes/index.json',
} as const;
