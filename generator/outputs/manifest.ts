/** /snapshot.json: the tree's description of itself, which the proxy serves by. The only place with a build time. */
import { basename } from 'node:path/posix';
import type { BuildConfig, Limit } from '../config.js';
import { COMPRESSED_FROM_BYTES } from '../publish/codings.js';
import { FORMAT } from '../publish/manifest.js';
import type { Plan } from '../publish/publisher.js';
import type { Overview } from '../register/published.js';
import { PATHS, filler } from '../routes.js';
import type { Route } from '../routes.js';

/** What is known only when everything is rendered. */
export interface ManifestFacts {
  readonly config: BuildConfig;
  readonly overview: Overview;
  readonly table: readonly Route[];
  readonly plan: Plan;
  /** RFC 3339 UTC. */
  readonly builtAt: string;
  readonly generator: { readonly name: string; readonly version: string };
}

const bucket = ({ tokens, refillSeconds }: Limit) => ({ tokens, refill_seconds: refillSeconds });

export function manifest({ config, overview, table, plan, builtAt, generator }: ManifestFacts): string {
  const { operator, limits } = config;
  return JSON.stringify({
    format: FORMAT,
    sequence: plan.sequence,
    as_of: overview.asOf,
    built_at: builtAt,
    generator,
    service: {
      name: operator.name,
      url: operator.url,
      base_url: operator.baseUrl,
      docs: PATHS.docs,
      description: PATHS.description,
      licence: operator.licence,
      tag_authority: operator.tagAuthority,
    },
    limits: { api: bucket(limits.api), download: bucket(limits.download) },
    counts: Object.fromEntries(
      overview.populations.map(({ resource, records }) => [resource.plural, records]),
    ),
    digest: plan.digest,
    tree: { files: plan.files, bytes: plan.bytes },
    layout: config.layout,
    compressed_from: COMPRESSED_FROM_BYTES,
    routes: table.map((route) => described(route, plan.firstKeys.get(route.name), overview.asOf)),
  });
}

/** A route as the proxy reads it. A route by id gets the first record there is as its example. */
function described(route: Route, firstKey: number | undefined, asOf: string | null) {
  const { name, path, file, class: cacheClass, type, description, parameters, example } = route;
  const byId = path.includes('{') && firstKey !== undefined ? filler(path)(firstKey) : undefined;
  // JSON leaves out what is undefined.
  return {
    name,
    path,
    file,
    class: cacheClass,
    type,
    attachment: cacheClass === 'download' ? dated(path, asOf) : undefined,
    description,
    parameters,
    example: example ?? byId,
  };
}

/** What a browser shall call a download: `groups.csv.gz` -> `groups-2026-11-20.csv.gz`, by the day of the newest reading. */
function dated(path: string, asOf: string | null): string {
  const [stem = '', ...suffixes] = basename(path).split('.');
  const day = asOf === null ? [] : [asOf.slice(0, 'YYYY-MM-DD'.length)];
  return [[stem, ...day].join('-'), ...suffixes].join('.');
}
