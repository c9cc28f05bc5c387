/** Fetches what leads from the copy to the origin's snapshot: bundles, or the bulk downloads. */
import { readFileSync } from 'node:fs';
import { Failure } from '../errors.js';
import type { Progress } from '../progress.js';
import { listOf } from '../tree/changes.js';
import type { Change, ChangeIndex, Described } from '../tree/changes.js';
import { isRendered } from '../tree/published-routes.js';
import type { Tree } from '../tree/tree.js';
import { urlTemplate } from '../routes/index.js';
import { PATHS } from '../routes/paths.js';
import type { Client } from './client.js';
import type { Fetched, Files, Wanted } from './files.js';
import type { Lines } from './lines.js';
import { JSON_BYTES, MovedOn, parseDataPackage } from './origin.js';
import type { Origin } from './origin.js';
import type { Documents } from './stage.js';

/** What the attempts of a run have in common. */
export interface Run {
  readonly tree: Tree;
  readonly client: Client;
  readonly files: Files;
  readonly progress: Progress;
}

/** One attempt. */
export interface Session extends Run {
  readonly lines: Lines;
  readonly origin: Origin;
  readonly index: ChangeIndex;
  /** The bundles and lists that were fetched, by hash. */
  readonly taken: Map<string, Fetched>;
}

/** A snapshot by its number and digest. */
interface At {
  readonly sequence: number;
  readonly digest: string;
}

/** A bundle and the snapshots between which it leads. */
export interface Step {
  readonly from: number;
  readonly to: Change;
  readonly bundle: Described;
}

/** Fetches files one by one, and shows the bytes to come and the time that the limits make it take. */
async function download<T extends Wanted>(
  { client, files, progress }: Session,
  wanted: readonly T[],
  take: (fetched: Fetched, wanted: T) => void | Promise<void>,
): Promise<void> {
  if (wanted.length === 0) return;
  const known = wanted
    .filter((each) => !files.has(each))
    .map(({ bucket, bytes, sha256 }) => ({ bucket, bytes: sha256 === undefined ? 0 : bytes }));
  const seconds = client.limits.secondsFor(known);
  const [time, unit] =
    seconds < 120 ? [seconds, 's'] : seconds < 7200 ? [seconds / 60, 'min'] : [seconds / 3600, 'h'];
  progress.start(
    seconds === 0 ? 'downloading' : `downloading (at least ${Math.ceil(time)} ${unit} by the limits)`,
    known.reduce((total, { bytes }) => total + bytes, 0),
    'bytes',
  );
  for (const each of wanted) await take(await files.fetch(each), each);
  progress.finish();
}

/** The name of a download of documents whose hash is known. */
const nameOf = ({ path, sha256 }: Wanted): string | undefined =>
  sha256 === undefined ? undefined : /\/documents\/([\w-]+)\.ndjson\.gz$/.exec(path)?.[1];

/**
 * Fetches the documents in the bulk downloads, and the bundles that lead on from their snapshot.
 * @returns the files of documents by id
 * @throws MovedOn, Damaged; Failure invalid: the origin doesn't offer enough
 */
export async function fetchDocuments(session: Session): Promise<Documents> {
  const { origin, lines, files } = session;
  const single = origin.routes.filter((route) => isRendered(route) && !urlTemplate(route).includes('{'));
  const path = `${PATHS.bulk}/datapackage.json`;
  const described = single.find((route) => route.path === path);
  if (described === undefined) throw Failure.invalid(`the origin has no ${path}`);
  const { bucket } = described;
  const found = await files.fetch({ path, bucket, bytes: JSON_BYTES, sha256: undefined });
  const contents = new Map([
    [path, { bytes: found.bytes, sha256: found.hash.toString('hex') }],
    ...parseDataPackage(readFileSync(found.file)).resources.map((each) => {
      const content = { bytes: each.bytes, sha256: each.hash.slice('sha256:'.length) };
      return [`${PATHS.bulk}/${each.path}`, content] as const;
    }),
  ]);
  const unknown = { bytes: origin.tree.bytes, sha256: undefined };
  const wanted = single.map((route) => ({
    route,
    key: 0,
    path: route.path,
    bucket: route.bucket,
    ...(contents.get(route.path) ?? unknown),
  }));
  const documents = new Map<string, string>();
  await download(
    session,
    wanted.filter((each) => nameOf(each) !== undefined),
    ({ file }, each) => void documents.set(nameOf(each) ?? '', file),
  );
  const other = documents.get('other');
  if (other === undefined) throw Failure.invalid(`${path} of the origin names no documents/other.ndjson.gz`);
  await lines.addFile(other);
  for (const each of wanted) if (each.route.class === 'download') lines.addMissing(each);
  const { sequence } = origin.downloads;
  const steps = stepsFrom(origin.downloads, session.index);
  if (steps === undefined)
    throw new MovedOn(
      `no bundles lead from snapshot ${sequence}, which its downloads have, to ${origin.sequence}`,
    );
  await fetchBundles(session, steps);
  for (const each of wanted) if (!lines.has(each.route.name)) lines.addMissing(each);
  return documents;
}

/** Fetches bundles, and the lists of their changes. @throws MovedOn, Damaged */
export async function fetchBundles(session: Session, steps: readonly Step[]): Promise<void> {
  const { lines, origin, taken } = session;
  const wanted = steps.flatMap(({ from, to, bundle }) =>
    [bundle, listOf(to) ?? []].flat().map(({ file: path, bytes, sha256 }) => ({
      path,
      bytes,
      sha256,
      bucket: path === bundle.file ? ('download' as const) : ('api' as const),
      step: { tree: origin.tree.id, from, to: to.sequence },
    })),
  );
  await download(session, wanted, async (fetched, { bucket, sha256, step }) => {
    if (bucket === 'download') await lines.addFile(fetched.file, step);
    taken.set(sha256, fetched);
  });
}

/** The bundles that lead from a snapshot to the published one; undefined if one is missing. */
export function stepsFrom(start: At, { sequence, changes }: ChangeIndex): readonly Step[] | undefined {
  const steps: Step[] = [];
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

/** Fetches, one by one, the documents that no bundle and no download of documents has. @throws MovedOn */
export const fetchMissing = (session: Session): Promise<void> =>
  download(session, session.lines.missing, (fetched, missing) => void (missing.fetched = fetched));
