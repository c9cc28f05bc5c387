/** Fetches what leads from the copy to the origin's snapshot: bundles, or the bulk downloads. */
import { readFileSync } from 'node:fs';
import { Failure } from '../errors.js';
import type { Progress } from '../progress.js';
import { listOf } from '../tree/changes.js';
import type { Change, ChangeIndex, Described } from '../tree/changes.js';
import { isRendered } from '../tree/published-routes.js';
import type { Tree } from '../tree/tree.js';
import { filler, urlTemplate } from '../routes/index.js';
import type { Bucket } from '../routes/index.js';
import { PATHS } from '../routes/paths.js';
import type { Client } from './client.js';
import type { Fetched, Files, Wanted } from './files.js';
import type { Lines, Missing } from './lines.js';
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

/** Fetches files, and shows the bytes to come and the time that the limits make it take. */
async function download(
  { client, files, progress }: Session,
  wanted: readonly Pick<Wanted, 'bucket' | 'bytes' | 'sha256'>[],
  fetchAll: () => Promise<void>,
): Promise<void> {
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
  await fetchAll();
  progress.finish();
}

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
  const { resources } = parseDataPackage(readFileSync(found.file));
  const contents = new Map([
    [path, { bytes: found.bytes, sha256: found.hash.toString('hex') }],
    ...resources.map((each) => {
      const content = { bytes: each.bytes, sha256: each.hash.slice('sha256:'.length) };
      return [`${PATHS.bulk}/${each.path}`, content] as const;
    }),
  ]);
  const unknown = { bytes: origin.tree.bytes, sha256: undefined };
  const downloads = single.map((route) => ({ route, key: 0, ...(contents.get(route.path) ?? unknown) }));
  const wanted = downloads.flatMap(({ route, bytes, sha256 }) => {
    const name = /\/documents\/([\w-]+)\.ndjson\.gz$/.exec(route.path)?.[1];
    const isNamed = name !== undefined && sha256 !== undefined;
    return isNamed ? [{ name, path: route.path, bucket: route.bucket, bytes, sha256 }] : [];
  });
  const documents = new Map<string, string>();
  await download(session, wanted, async () => {
    for (const each of wanted) documents.set(each.name, (await files.fetch(each)).file);
  });
  const other = documents.get('other');
  if (other === undefined) throw Failure.invalid(`${path} of the origin names no documents/other.ndjson.gz`);
  await lines.addFile(other);
  for (const each of downloads) if (each.route.class === 'download') lines.addMissing(each);
  const { sequence } = origin.downloads;
  const steps = stepsFrom(origin.downloads, session.index);
  if (steps === undefined)
    throw new MovedOn(
      `no bundles lead from snapshot ${sequence}, which its downloads have, to ${origin.sequence}`,
    );
  await fetchBundles(session, steps);
  for (const each of downloads) if (!lines.has(each.route.name)) lines.addMissing(each);
  return documents;
}

const ofChanges = ({ file: path, bytes, sha256 }: Described, bucket: Bucket): Wanted => ({
  path,
  bucket,
  bytes,
  sha256,
});

/** Fetches bundles, and the lists of their changes. @throws MovedOn, Damaged */
export async function fetchBundles(session: Session, steps: readonly Step[]): Promise<void> {
  const { lines, origin, files, taken } = session;
  if (steps.length === 0) return;
  const wanted = steps.map((step) => ({ ...step, ...ofChanges(step.bundle, 'download') }));
  await download(session, wanted, async () => {
    for (const each of wanted) {
      const fetched = await files.fetch(each);
      await lines.addFile(fetched.file, { tree: origin.tree.id, from: each.from, to: each.to.sequence });
      taken.set(each.bundle.sha256, fetched);
      await fetchList(session, listOf(each.to));
    }
  });
}

/** Fetches a list, which the copy can do without: others may follow it by its lists. */
async function fetchList({ files, taken }: Session, list: Described | undefined): Promise<void> {
  if (list === undefined) return;
  try {
    taken.set(list.sha256, await files.fetch(ofChanges(list, 'api')));
  } catch (error) {
    if (!(error instanceof MovedOn)) throw error;
  }
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
export async function fetchMissing(session: Session): Promise<void> {
  const wanted = session.lines.missing.map((missing) => ({ missing, ...wantedOf(missing) }));
  if (wanted.length === 0) return;
  await download(session, wanted, async () => {
    for (const each of wanted) each.missing.fetched = await session.files.fetch(each);
  });
}

const wantedOf = ({ route, key, bytes, sha256 }: Missing): Wanted => ({
  path: filler(urlTemplate(route))(key),
  bucket: route.bucket,
  bytes,
  sha256,
});
