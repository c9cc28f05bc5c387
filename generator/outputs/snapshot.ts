/** /snapshot.json: the tree's description of itself, which configures the proxy. */
import { basename } from 'node:path/posix';
import type { SiteConfig } from '../config/config.js';
import type { Limit } from '../config/operator-file.js';
import type { Downloads } from '../exports/downloads.js';
import type { Content } from '../base/sink.js';
import { populationOf, type Overview } from '../register/overview.js';
import { publishedHeaders, routeHeaders } from '../routes/headers.js';
import { DOWNLOAD_TOKEN_BYTES, filler, isDated, type Route } from '../routes/route.js';
import { MACHINE_PATHS, PATHS } from '../routes/paths.js';
import { redirectsIn } from '../routes/redirects.js';
import { RESOURCES } from '../schema/schema.js';
import { COMPRESSED_FROM_BYTES } from '../tree/codings.js';
import { FORMAT, snapshotMembers } from '../tree/snapshot-json.js';
import { documentShape } from './described-schema.js';
import { PROBLEMS, type Problem } from './openapi/problems.js';
import { PARAMETERS } from './parameters.js';
import { ifMeasured, nested, part, value } from './parts.js';

/** The totals of a snapshot. */
interface Plan {
  /** Identifies the tree for as long as it lives, in hex. */
  readonly tree: string;
  readonly sequence: number;
  readonly digest: string;
  readonly files: number;
  readonly bytes: number;
  /** The lowest key of each route that has documents. */
  readonly firstKeys: ReadonlyMap<string, number>;
  /** The URL path of the first further name of each route that has any. */
  readonly aliases: ReadonlyMap<string, string>;
  /** What the digest leaves out, and other files above 1 MiB, by path below the tree. */
  readonly named: Readonly<Record<string, Content>>;
}

/** The facts, some of which are known only when everything is rendered. */
export interface SnapshotFacts {
  readonly config: SiteConfig;
  readonly overview: Overview;
  readonly downloads: Downloads;
  readonly table: readonly Route[];
  readonly plan: Plan;
  /** RFC 3339 UTC. */
  readonly builtAt: string;
  readonly generator: { readonly name: string; readonly version: string };
}

const COUNTS = nested(
  'counts',
  'Number of published records of each kind.',
  RESOURCES.map(({ kind, plural }) =>
    ifMeasured(
      part(
        value(plural, 'count', 48_213, `Number of published ${plural}.`, { unit: plural }),
        ({ populations }: Overview) => populationOf(populations, { kind }).records,
      ),
      ({ measured }) => measured.has(plural),
    ),
  ),
);

export const SNAPSHOT_SHAPE = documentShape('snapshot', snapshotMembers, {
  counts: COUNTS.shape,
  parameters: PARAMETERS.shape,
});

const bucket = ({ tokens, refillSeconds }: Limit) => ({ tokens, refill_seconds: refillSeconds });

/** A dated name for a download: `groups.csv.gz` -> `groups-2026-11-20.csv.gz` (newest measurement). */
function dated(path: string, asOf: string | null): string {
  const [stem = '', ...suffixes] = basename(path).split('.');
  const day = asOf === null ? [] : [asOf.slice(0, 'YYYY-MM-DD'.length)];
  return [[stem, ...day].join('-'), ...suffixes].join('.');
}

/** What a route may need that is known only of a snapshot. */
interface RouteFacts {
  /** The newest measurement in the bulk downloads. */
  readonly asOf: string | null;
  /** The lowest key of its files. */
  readonly firstKey: number | undefined;
  /** The URL path of the first of its aliases. */
  readonly alias?: string | undefined;
}

/** A route as snapshot.json has it. JSON leaves out what is undefined. */
export const describeRoute = (
  route: Route,
  { asOf, firstKey, alias }: RouteFacts = { asOf: null, firstKey: undefined },
) => ({
  name: route.name,
  path: route.path,
  file: route.file,
  class: route.class,
  bucket: route.bucket,
  type: route.type,
  attachment: isDated(route) ? dated(route.path, asOf) : undefined,
  headers: routeHeaders(route),
  description: route.description,
  parameters: PARAMETERS.of(route),
  // The example of a route by id is its first record.
  example:
    route.example ??
    alias ??
    (route.path.includes('{') && firstKey !== undefined ? filler(route.path)(firstKey) : undefined),
  absent: route.absent,
  requires: route.requires,
  aliases: route.aliases,
});

/** Whether a file is below /downloads. */
const isBulk = ({ file }: { readonly file: string }): boolean => file.startsWith(`${PATHS.bulk}/`);

export function snapshotJson(facts: SnapshotFacts): string {
  const { config, overview, downloads, table, plan, builtAt, generator } = facts;
  const { operator, limits } = config;
  const { sequence, digest } = downloads.snapshot;
  const files = Object.entries(plan.named).map(([file, content]) => ({ file: `/${file}`, ...content }));
  return JSON.stringify({
    format: FORMAT,
    sequence: plan.sequence,
    as_of: overview.asOf,
    built_at: builtAt,
    generator: { name: generator.name, version: generator.version },
    service: {
      name: operator.name,
      url: operator.url,
      base_url: operator.baseUrl,
      docs: PATHS.docs,
      description: PATHS.description,
      licence: { name: operator.licence.name, url: operator.licence.url },
      tag_authority: operator.tagAuthority,
    },
    limits: {
      api: bucket(limits.api),
      download: { ...bucket(limits.download), token_bytes: DOWNLOAD_TOKEN_BYTES },
      page: bucket(limits.page),
    },
    headers: publishedHeaders(operator.licence.url),
    errors: Object.fromEntries(
      PROBLEMS.map(({ code, status, title, detail, page }: Problem) => [
        code,
        { status, title, detail, page },
      ]),
    ),
    problems_below: MACHINE_PATHS,
    counts: COUNTS.of(overview),
    digest: plan.digest,
    tree: { id: plan.tree, files: plan.files, bytes: plan.bytes },
    downloads: { as_of: downloads.asOf, sequence, digest, files: files.filter(isBulk) },
    files: files.filter((file) => !isBulk(file)),
    compressed_from: COMPRESSED_FROM_BYTES,
    routes: table.map((route) =>
      describeRoute(route, {
        asOf: downloads.asOf,
        firstKey: plan.firstKeys.get(route.requires ?? route.name),
        alias: route.aliases && plan.aliases.get(route.aliases),
      }),
    ),
    redirects: redirectsIn(table),
  });
}
