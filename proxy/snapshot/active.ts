import { BUCKETS, type BucketName, type Quotas } from '../limiter/gcra.js';
import { describeFile, type CachedFile, type Epoch } from '../tree/cache.js';
import { readPublishedDigests } from '../tree/digests.js';
import type { Disk, FileRead } from '../tree/read.js';
import { isPage, Router, type HeaderList, type RouteMatch } from './router.js';
import { ERROR_CODES, publishedQuotas, SNAPSHOT_FILE, type ErrorCode, type Snapshot } from './schema.js';

/** The snapshot in service, and all that is computed once for it: no request computes it again. */
export interface ActiveSnapshot extends Epoch {
  readonly snapshot: Snapshot;
  /** snapshot.json as accepted; a broken one does not replace it. */
  readonly document: CachedFile;
  readonly router: Router;
  readonly quotas: Quotas;
  /** The headers of what is not the content of a route, by the bucket of the request. */
  readonly headers: Readonly<Record<BucketName, ErrorHeaders>>;
  /** URL of the page that explains the errors. */
  readonly documentation: string;
  /** The pages that browsers get instead of problem documents, by the code of the error. */
  readonly errorPages: ReadonlyMap<ErrorCode, ErrorPage>;
}

export interface ErrorHeaders {
  /** 204 to OPTIONS. */
  readonly options: HeaderList;
  /** 404 and 308. */
  readonly notFound: HeaderList;
  /** All other errors. */
  readonly error: HeaderList;
}

export interface ErrorPage {
  readonly body: Buffer;
  /** Content-Type, and the headers that protect pages. */
  readonly headers: HeaderList;
}

/** Limits set by the operator; those that are not set follow the snapshot. */
export type QuotaOverrides = Readonly<Record<BucketName, Partial<Quotas[BucketName]>>>;

/**
 * Computes what a snapshot needs in service.
 *
 * @param file snapshot.json as read
 * @throws SnapshotError for a route table that names a file outside the tree, or is ambiguous
 */
export async function activate(
  snapshot: Snapshot,
  file: FileRead & { readonly digest: string },
  epoch: number,
  overrides: QuotaOverrides,
  disk: Disk,
): Promise<ActiveSnapshot> {
  const { headers: declared, service } = snapshot;
  const published = publishedQuotas(snapshot);
  const quotas = {
    api: { ...published.api, ...overrides.api },
    download: { ...published.download, ...overrides.download },
    page: { ...published.page, ...overrides.page },
  };
  const headersWith = (fields: Fields, bucket: BucketName): HeaderList => [
    ...flatten(declared.all),
    'RateLimit-Policy',
    rateLimitPolicy(bucket, quotas),
    ...flatten(fields),
  ];
  const errorHeaders = (bucket: BucketName): ErrorHeaders => ({
    options: headersWith(declared.options, bucket),
    notFound: headersWith(declared.not_found, bucket),
    error: headersWith(declared.error, bucket),
  });
  return {
    epoch,
    root: file.root,
    snapshot,
    document: describeFile(SNAPSHOT_FILE, file, file.digest),
    router: new Router(snapshot, (route) => headersWith(declared.content[route.class], route.bucket)),
    quotas,
    headers: { api: errorHeaders('api'), download: errorHeaders('download'), page: errorHeaders('page') },
    documentation: service.base_url + service.docs,
    errorPages: await readErrorPages(snapshot, file.root, disk),
    digests: await readPublishedDigests(file, disk),
  };
}

/**
 * RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers-10 §3): q tokens, w seconds to refill an
 * empty bucket; a list if two limits apply. No `pk`: it would reveal addresses.
 */
function rateLimitPolicy(bucket: BucketName, quotas: Quotas): string {
  const names = bucket === 'download' ? (['download', 'api'] as const) : [bucket];
  return names
    .map((name) => {
      const { burst, emissionIntervalMs } = quotas[name];
      return `"${name}";q=${burst};w=${Math.ceil((burst * emissionIntervalMs) / 1000)}`;
    })
    .join(', ');
}

type Fields = Readonly<Record<string, string>>;

function flatten(fields: Fields): HeaderList {
  return Object.entries(fields).flat();
}

/** A larger page is not used. 256 KiB. */
const PAGE_MAX_BYTES = 256 * 1024;
/** What a page needs besides the headers of its error. */
const PROTECTION = 'Content-Security-Policy';

/**
 * Reads the error pages that a snapshot names, so that an error never waits for the disk, and no
 * number of errors costs memory. One that can't be read is left out until the next snapshot: the
 * error is then a problem document.
 */
async function readErrorPages(
  { errors, routes, headers }: Snapshot,
  root: string,
  disk: Disk,
): Promise<ReadonlyMap<ErrorCode, ErrorPage>> {
  const pages = new Map<ErrorCode, ErrorPage>();
  const policy = headers.content.page[PROTECTION];
  const protection = policy === undefined ? [] : [PROTECTION, policy];
  for (const code of ERROR_CODES) {
    const route = routes.find(({ path }) => path === errors[code].page);
    if (route === undefined || !isPage(route)) continue;
    const request = { root, path: route.file, maxBytes: PAGE_MAX_BYTES };
    const file = await disk.read(request).catch(() => undefined);
    if (file?.bytes === undefined) continue;
    pages.set(code, { body: file.bytes, headers: [...protection, 'Content-Type', route.type] });
  }
  return pages;
}

/**
 * The page of an error, if a person may have opened this address: the route is that of a page, or
 * there is no route, and the path looks like that of a page. A browser gets the page, everything
 * else the problem document.
 */
export function findErrorPage(
  { errorPages, snapshot }: ActiveSnapshot,
  match: RouteMatch,
  code: ErrorCode,
): ErrorPage | undefined {
  const page = errorPages.get(code);
  if (page === undefined || match.kind === 'redirect') return undefined;
  const { route } = match;
  const isForPeople =
    route === undefined
      ? match.kind === 'refusal' &&
        match.code === 'not_found' &&
        isPagePath(match.path, snapshot.problems_below)
      : route.isPage;
  return isForPeople ? page : undefined;
}

/** Whether a path without a route has no extension, and is not among those for programs. */
function isPagePath(path: string, problemsBelow: readonly string[]): boolean {
  return (
    !path.includes('.', path.lastIndexOf('/')) &&
    !problemsBelow.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))
  );
}

/** One line about the limits, if those set by hand differ from those that the published texts state. */
export function describeOverrides({ snapshot, quotas }: ActiveSnapshot): string {
  const [published, ours] = [publishedQuotas(snapshot), quotas].map((each) =>
    BUCKETS.map((bucket) => {
      const { burst, emissionIntervalMs } = each[bucket];
      return `${bucket} ${burst}, one back in ${emissionIntervalMs / 1000} s`;
    }).join('; '),
  );
  return ours === published ? '' : `limits set by hand: ${ours}; the published texts say ${published}`;
}
