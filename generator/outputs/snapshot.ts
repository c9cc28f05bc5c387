/** /snapshot.json: the tree's description of itself, which configures the proxy. */
import type { BuildConfig, Limit } from '../config/config.js';
import type { Downloads } from '../exports/exports.js';
import { publishedHeaders } from '../routes/headers.js';
import type { Headers, PublishedHeaders } from '../routes/headers.js';
import { COMPRESSED_FROM_BYTES } from '../tree/codings.js';
import { FORMAT } from '../tree/snapshot-json.js';
import type { Plan } from '../publish/plan.js';
import { populationOf } from '../register/overview.js';
import type { Overview } from '../register/overview.js';
import { RESOURCES } from '../schema/index.js';
import type { ObjectShape } from '../schema/shape.js';
import { MACHINE_PATHS, PATHS } from '../routes/paths.js';
import { DOWNLOAD_TOKEN_BYTES } from '../routes/index.js';
import type { Bucket, Route } from '../routes/index.js';
import { REDIRECTS } from '../routes/redirects.js';
import type { Redirect } from '../routes/redirects.js';
import { EXAMPLE_DIGEST, downloadsState } from './downloads/state.js';
import { PROBLEMS } from './openapi/problems.js';
import type { Problem } from './openapi/problems.js';
import { SNAPSHOT_LOG, snapshotLog } from './snapshot-log.js';
import { HEADER, publishedRoute } from './snapshot-routes.js';
import { ifMeasured, listed, mapped, nested, part, shapeOfParts, value, valuesOf } from './parts.js';
import type { Part } from './parts.js';

/** The facts, some of which are known only when everything is rendered. */
export interface ManifestFacts {
  readonly config: BuildConfig;
  readonly overview: Overview;
  readonly downloads: Downloads;
  readonly table: readonly Route[];
  readonly plan: Plan;
  /** RFC 3339 UTC. */
  readonly builtAt: string;
  readonly generator: { readonly name: string; readonly version: string };
}

const bucket = (
  name: Bucket,
  description: string,
  tokens: number,
  seconds: number,
  more: readonly Part<ManifestFacts>[] = [],
): Part<ManifestFacts> => {
  const from = ({ config }: ManifestFacts): Limit => config.limits[name];
  return nested(name, description, [
    part(
      value('tokens', 'ordinal', tokens, 'Requests allowed at once.', { unit: 'requests' }),
      (facts) => from(facts).tokens,
    ),
    part(
      value('refill_seconds', 'duration', seconds, 'Time until one more is allowed.', { unit: 'seconds' }),
      (facts) => from(facts).refillSeconds,
    ),
    ...more,
  ]);
};

/** The headers that a tree needs: those of the classes that it has. */
type SentHeaders = Omit<PublishedHeaders, 'content'> & {
  readonly content: Readonly<Record<string, Headers>>;
};

function sentHeaders({ config, table }: ManifestFacts): SentHeaders {
  const { content, ...others } = publishedHeaders(config.operator.licence.url);
  const classes = new Set<string>(table.map((route) => route.class));
  const sent = Object.entries(content).filter(([name]) => classes.has(name));
  return { ...others, content: Object.fromEntries(sent) };
}

const sent = (name: Exclude<keyof SentHeaders, 'content'>, description: string): Part<SentHeaders> =>
  mapped(name, description, HEADER, (headers) => headers[name]);

const HEADERS: readonly Part<SentHeaders>[] = [
  sent('all', 'On every response.'),
  sent('options', 'On 204, the response to OPTIONS. A 405 has the same Allow.'),
  sent('not_found', 'On 404 and 308.'),
  sent('error', 'On every other error.'),
  mapped(
    'content',
    'On 200, 206 and 304, by the class of the route.',
    { is: 'map', name: '{class}', description: 'Headers of one class.', of: HEADER },
    ({ content }) => content,
  ),
];

const PROBLEM: readonly Part<Problem>[] = [
  part(value('status', 'ordinal', 404, 'The HTTP status.'), ({ status }) => status),
  part(value('title', 'text', 'Not found', 'Title of the error.'), ({ title }) => title),
  part(
    value(
      'detail',
      'text',
      'nothing is published at this path',
      'The detail where a server knows no more about the request.',
    ),
    ({ detail }) => detail,
  ),
  part(
    value(
      'page',
      'path',
      PATHS.notFound,
      'Path of the page that browsers get instead of the problem document: on routes of HTML pages, and on paths of no route without an extension, except at and below problems_below.',
      { optional: true },
    ),
    ({ page }) => page,
  ),
];

const SERVICE: readonly Part<ManifestFacts>[] = [
  part(
    value('name', 'text', 'The Example Register', 'Name of the register.'),
    ({ config }) => config.operator.name,
  ),
  part(
    value('url', 'url', 'https://register.example', 'The URL that credits should link to.'),
    ({ config }) => config.operator.url,
  ),
  part(
    value('base_url', 'url', 'https://register.example', 'Base URL of the service.'),
    ({ config }) => config.operator.baseUrl,
  ),
  part(value('docs', 'path', PATHS.docs, 'Path of the documentation page for developers.'), () => PATHS.docs),
  part(value('description', 'path', PATHS.description, 'The OpenAPI description.'), () => PATHS.description),
  nested('licence', 'Licence of the data.', [
    part(
      value('name', 'text', 'CC BY 4.0', 'Name of the licence.'),
      ({ config }) => config.operator.licence.name,
    ),
    part(
      value('url', 'url', 'https://creativecommons.org/licenses/by/4.0/', 'URL of the licence text.'),
      ({ config }) => config.operator.licence.url,
    ),
  ]),
  part(
    value('tag_authority', 'text', 'register.example', 'The domain in the ids of feed entries (tag URIs).'),
    ({ config }) => config.operator.tagAuthority,
  ),
];

const TREE: readonly Part<ManifestFacts>[] = [
  part(
    value(
      'id',
      'text',
      '9f86d081884c7d65',
      'Identifies the tree. One that starts over counts from 1 and has another.',
    ),
    ({ plan }) => plan.treeId,
  ),
  part(
    value('files', 'count', 96_841, 'Files, excluding compressed copies, snapshot.json and change lists.', {
      unit: 'files',
    }),
    ({ plan }) => plan.files,
  ),
  part(value('bytes', 'count', 61_203_377, 'Their total size.', { unit: 'bytes' }), ({ plan }) => plan.bytes),
];

/** A member of a signed tree alone. */
const SIGNED_LOG: Part<ManifestFacts> = {
  shape: { ...SNAPSHOT_LOG, optional: true },
  of: ({ config: { log }, plan }) => log && snapshotLog(log, plan.treeId),
};

const REDIRECT: readonly Part<Redirect>[] = [
  part(value('path', 'path', '/docs', 'The path.'), ({ path }) => path),
  part(value('to', 'path', PATHS.docs, 'The path to which it leads.'), ({ to }) => to),
];

const partsOf = (isSigned: boolean): readonly Part<ManifestFacts>[] => [
  part(value('format', 'ordinal', FORMAT, 'Version of this format.'), () => FORMAT),
  part(
    value(
      'sequence',
      'ordinal',
      118,
      'Number of the snapshot. It grows by one with every snapshot that changes something.',
    ),
    ({ plan }) => plan.sequence,
  ),
  part(
    value(
      'as_of',
      'time',
      '2026-11-20T08:00:00Z',
      'Time of the newest measurement in the register; null if it is empty.',
      {
        nullable: true,
      },
    ),
    ({ overview }) => overview.asOf,
  ),
  part(
    value('built_at', 'time', '2026-11-20T09:00:00Z', 'When the snapshot was last built.'),
    ({ builtAt }) => builtAt,
  ),
  nested('generator', 'The program that built the snapshot.', [
    part(value('name', 'text', 'register-api', 'Name of the program.'), ({ generator }) => generator.name),
    part(value('version', 'text', '1.0.0', 'Version of the program.'), ({ generator }) => generator.version),
  ]),
  nested('service', 'The service and its terms.', SERVICE),
  nested('limits', 'Rate limits for each client.', [
    bucket('api', 'All requests.', 60, 1),
    bucket('download', 'Bulk downloads, which count as requests as well.', 12, 60, [
      part(
        value(
          'token_bytes',
          'ordinal',
          DOWNLOAD_TOKEN_BYTES,
          'A download of at least so many bytes counts as one, a smaller one as its share, at least a hundredth.',
          { unit: 'bytes' },
        ),
        () => DOWNLOAD_TOKEN_BYTES,
      ),
    ]),
    bucket('page', 'Pages and their assets.', 240, 0.25),
  ]),
  {
    shape: shapeOfParts('headers', 'Names and values of headers, by type of response.', HEADERS),
    of: (facts) => valuesOf(HEADERS, sentHeaders(facts)),
  },
  mapped('errors', 'Errors by code.', shapeOfParts('{code}', 'One error.', PROBLEM), () =>
    Object.fromEntries(PROBLEMS.map((problem) => [problem.code, valuesOf(PROBLEM, problem)])),
  ),
  part(
    {
      is: 'values',
      name: 'problems_below',
      description: 'At and below these paths, errors are always problem documents.',
      of: value('{path}', 'path', '/api', 'A path.'),
    },
    ({ config }) => (config.isSigned ? [...MACHINE_PATHS, PATHS.log] : MACHINE_PATHS),
  ),
  nested(
    'counts',
    'Number of published records of each kind.',
    RESOURCES.map(({ kind, plural }) =>
      ifMeasured(
        part(
          value(plural, 'count', 48_213, `Number of published ${plural}.`, { unit: plural }),
          ({ overview }: ManifestFacts) => populationOf(overview.populations, { kind }).records,
        ),
        ({ overview }) => overview.measured.has(plural),
      ),
    ),
  ),
  part(
    value(
      'digest',
      'sha256',
      EXAMPLE_DIGEST,
      'SHA-256 of one line "ROUTE COUNT ROOT" for each route: its name, its number of documents, and their tree head.',
    ),
    ({ plan }) => plan.digest,
  ),
  nested('tree', 'Size of the published tree.', TREE),
  ...(isSigned ? [SIGNED_LOG] : []),
  downloadsState,
  part(
    value(
      'compressed_from',
      'count',
      COMPRESSED_FROM_BYTES,
      'Documents of at least this size are also stored compressed, except downloads, change lists and the feed of snapshots.',
      { unit: 'bytes' },
    ),
    () => COMPRESSED_FROM_BYTES,
  ),
  listed(
    'routes',
    'Every URL of the service.',
    publishedRoute(isSigned),
    ({ table, plan, downloads: { asOf } }) =>
      table.map((route) => ({ route, asOf, firstKey: plan.firstKeys.get(route.requires ?? route.name) })),
  ),
  listed('redirects', 'Paths that respond with 308, at no cost.', REDIRECT, () => REDIRECTS),
];

/** @param isSigned whether there is a signed log */
export const manifestShape = (isSigned: boolean): ObjectShape =>
  shapeOfParts('snapshot', 'The published snapshot: its number, time, contents and size.', partsOf(isSigned));

export const manifest = (facts: ManifestFacts): string =>
  JSON.stringify(valuesOf(partsOf(facts.config.isSigned), facts));
