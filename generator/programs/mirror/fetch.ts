/** Fetches what leads from the copy to the origin's snapshot: bundles, or the bulk downloads. */
import { readFileSync } from 'node:fs';
import { Failure } from '../../base/errors.js';
import { isOther } from '../../exports/documents.js';
import type { Bundle, Change, ChangeIndex } from '../../tree/changes.js';
import { isRendered } from '../../tree/published-routes.js';
import { DATABASE, PLAIN_DATABASE, isLeftOut } from '../../routes/exports.js';
import { urlTemplate, type Bucket } from '../../routes/route.js';
import { FEEDS, documentFile } from '../../routes/feeds.js';
import { PATHS } from '../../routes/paths.js';
import { MovedOn, NotThere, type Wanted } from './client.js';
import type { Fetched, Run } from './files.js';
import { unpacked, type DocumentLines } from './lines.js';
import { JSON_BYTES, parseDataPackage, type Origin } from './origin.js';

/** One attempt. */
export interface Session extends Run {
  readonly lines: DocumentLines;
  readonly origin: Origin;
  readonly index: ChangeIndex;
  /** The bundles and lists that were fetched, by hash. */
  readonly taken: Map<string, Fetched>;
}

/** A bundle and the snapshots between which it leads. */
interface BundleStep {
  readonly from: number;
  readonly to: Change;
  readonly bundle: Bundle;
}

/**
 * Fetches files one by one, and shows the bytes to come and the time that the limits make it take.
 * @param take is given each file, but for those without a hash that are not there
 */
async function download<T extends Wanted>(
  { client, files, progress }: Session,
  wanted: readonly T[],
  take: (fetched: Fetched, wanted: T) => void | Promise<void>,
): Promise<void> {
  if (wanted.length === 0) return;
  const missing = wanted
    .filter((each) => files.known(each) === undefined)
    .map(({ bucket, bytes, sha256 }) => ({ bucket, bytes: sha256 === undefined ? 0 : bytes }));
  const seconds = client.budget.msFor(missing) / 1000;
  const [time, unit] = seconds < 120 ? [seconds, 's'] : [seconds / 60, 'min'];
  progress.start(
    seconds === 0 ? 'downloading' : `downloading (at least ${Math.ceil(time)} ${unit} by the limits)`,
    missing.reduce((total, { bytes }) => total + bytes, 0),
    'bytes',
  );
  for (const each of wanted) {
    const fetched = await files.fetch(each).catch((error: unknown) => {
      if (error instanceof NotThere && each.sha256 === undefined) return undefined;
      throw error;
    });
    if (fetched !== undefined) await take(fetched, each);
  }
  progress.finish();
}

type Contents = ReadonlyMap<string, { readonly bytes: number; readonly sha256: string }>;

/** The routes of one document each that the origin may have. @param contents what its downloads name, by path */
const singleRoutes = ({ routes }: Origin, contents: Contents) =>
  routes
    .filter((route) => isRendered(route) && !urlTemplate(route).includes('{'))
    // Downloads that were kept may be of what the register has lost since.
    .filter(({ path, absent }) => absent === undefined || contents.has(path));

/** The requests that these routes cost a first copy at least: the rest comes with a download. */
const requestsOf = (run: Run, routes: ReturnType<typeof singleRoutes>, contents: Contents) =>
  routes
    .filter((route) => !isOther(route) && route.file !== PLAIN_DATABASE.file && !isLeftOut(run, route))
    .map(({ bucket, path }) => ({ bucket, bytes: contents.get(path)?.bytes ?? 0 }));

/**
 * Says how long the limits make a copy take, by the requests that are certain from the start.
 * @param from the snapshot from which bundles may lead on; undefined for a copy from the start
 * @throws Failure environment: longer than a run may take
 */
export function foresee(run: Run, origin: Origin, from: number | undefined): void {
  const index: Bucket[] = ['api'];
  const feeds: Bucket[] = ['api', 'api'];
  const listAndBundle: Bucket[] = from === undefined || from === origin.sequence ? [] : ['api', 'download'];
  const nothing: Contents = new Map();
  run.client.foresee([
    ...[...index, ...feeds, ...listAndBundle].map((bucket) => ({ bucket, bytes: 0 })),
    ...(from === undefined ? requestsOf(run, singleRoutes(origin, nothing), nothing) : []),
  ]);
}

/** The files of the documents of routes by id: compressed lines, in the order of the ids. */
export type DocumentFiles = ReadonlyMap<string, string>;

/**
 * Fetches the documents in the bulk downloads, and the bundles that lead on from their snapshot.
 * @throws MovedOn, Damaged; Failure invalid: the origin doesn't offer enough
 */
export async function fetchDocuments(session: Session): Promise<DocumentFiles> {
  const { origin, lines, files, index } = session;
  const { sequence } = origin.downloads;
  const steps = stepsFrom(origin.downloads, index);
  if (steps === undefined)
    throw new MovedOn(
      `no bundles lead from snapshot ${sequence}, which its downloads have, to ${origin.sequence}`,
    );
  const path = `${PATHS.bulk}/datapackage.json`;
  const found = await files.fetch({ path, bucket: 'download', bytes: JSON_BYTES });
  const contents: Contents = new Map([
    [path, { bytes: found.bytes, sha256: found.hash.toString('hex') }],
    ...parseDataPackage(readFileSync(found.file)).resources.map((each) => {
      const content = { bytes: each.bytes, sha256: each.hash.slice('sha256:'.length) };
      return [`${PATHS.bulk}/${each.path}`, content] as const;
    }),
  ]);
  const routes = singleRoutes(origin, contents);
  session.client.foresee(requestsOf(session, routes, contents));
  const unknown = { bytes: origin.tree.bytes };
  const single = routes.map((route) => ({
    ...route,
    route,
    key: 0,
    // Later changes of the page are in bundles, as those of all pages.
    isOfNotFound: route.path === origin.errors.not_found?.page,
    ...(contents.get(route.path) ?? unknown),
  }));
  // What the lines below have replaces them.
  for (const each of single) lines.addMissing(each);
  const documents = new Map<string, string>();
  const named = single.flatMap((each) => {
    const name = contents.has(each.path)
      ? /\/documents\/([\w-]+)\.ndjson\.gz$/.exec(each.path)?.[1]
      : undefined;
    return name === undefined ? [] : [{ ...each, name }];
  });
  await download(session, named, ({ file }, { name }) => void documents.set(name, file));
  const other = documents.get('other');
  if (other === undefined) throw Failure.invalid(`${path} of the origin names no documents/other.ndjson.gz`);
  await lines.addFile(other);
  await fetchBundles(session, steps);
  return documents;
}

/** Fetches bundles. @throws MovedOn, Damaged */
export async function fetchBundles(session: Session, steps: readonly BundleStep[]): Promise<void> {
  const { lines, origin, taken } = session;
  const wanted = steps.map(({ from, to, bundle: { file: path, bytes, sha256 } }) => ({
    path,
    bytes,
    sha256,
    bucket: 'download' as const,
    step: { tree: origin.tree.id, from, to: to.sequence },
  }));
  await download(session, wanted, async (fetched, { sha256, step }) => {
    await lines.addFile(fetched.file, step);
    taken.set(sha256, fetched);
  });
}

/**
 * The bundles that lead from a snapshot to the published one; undefined if one is missing.
 * @param start the snapshot, by its number and digest
 */
export function stepsFrom(
  start: Pick<Change, 'sequence' | 'digest'>,
  { sequence, changes }: ChangeIndex,
): readonly BundleStep[] | undefined {
  const steps: BundleStep[] = [];
  for (let at = start; at.sequence !== sequence;) {
    const { sequence: from, digest } = at;
    const to = changes.find((change) => change.from === from && change.from_digest === digest);
    // Forward, so that it ends, whatever an origin says.
    if (!to?.bundle || to.sequence <= from) return undefined;
    steps.push({ from, to, bundle: to.bundle });
    at = to;
  }
  return steps;
}

/**
 * Fetches, one by one, the documents that no bundle and no download of documents has. Of those that
 * nothing names, an origin may lack some: the digest tells whether it does.
 * @throws MovedOn
 */
export async function fetchMissing(session: Session): Promise<void> {
  const { files, lines } = session;
  const missing = lines.missing.filter(({ route }) => !isLeftOut(session, route));
  const packed = missing.find(({ route }) => route.file === DATABASE.file);
  const plain = packed && missing.find(({ route }) => route.file === PLAIN_DATABASE.file);
  const wanted = missing.filter((each) => each !== plain);
  await download(session, wanted, (fetched, each) => void (each.fetched = fetched));
  if (plain !== undefined && packed?.fetched !== undefined)
    plain.fetched = await files.fetch(plain, unpacked(packed.fetched.file, plain.bytes));
}

/** Fetches the feed of snapshots. @returns its files, by their names below the tree */
export async function fetchFeeds({ files }: Session): Promise<ReadonlyMap<string, string>> {
  const put = new Map<string, string>();
  for (const format of ['atom', 'json'] as const) {
    const name = documentFile(FEEDS.snapshots, format);
    const wanted = { path: `/${name}`, bucket: 'api', bytes: JSON_BYTES } as const;
    put.set(name, (await files.fetch(wanted)).file);
  }
  return put;
}
