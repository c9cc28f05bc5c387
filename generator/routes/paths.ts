/** Paths that are named in many places. */

/** The version of the API, which the base path repeats. */
export const API_VERSION = 1;

export const PATHS = {
  base: '/api/v1',
  docs: '/developers',
  description: '/api/v1/openapi.json',
  /** The typed client, what follows changes with it, and the scripts that keep a copy of the database or of all files. */
  client: '/clients/client.ts',
  clientChanges: '/clients/changes.ts',
  clientFollow: '/clients/follow.py',
  clientMirror: '/clients/mirror.py',
  /** The chart in pages of others, which name this path for years. */
  embed: '/embed.js',
  /** The page of the downloads, and the prefix of all of them. */
  bulk: '/downloads',
  feeds: '/feeds',
  catalog: '/.well-known/api-catalog',
  changes: '/changes/index.json',
  notFound: '/404',
  tooMany: '/429',
} as const;

/** What is at and below these is for programs: an error there is never a page. */
export const MACHINE_PATHS = ['/api', '/changes', '/downloads', '/feeds', '/.well-known'] as const;

/** Files that `edge headers` writes for static hosts, which find them next to the files of a tree. */
export const HOST_FILES = { headers: '_headers', redirects: '_redirects', notFound: 'api/404.html' } as const;
