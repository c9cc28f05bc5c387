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
import type { Files, Wanted } from './files.js';
import { Damaged } from './lines.js';
import type { Lines, Missing } from './lines.js';
import { JSON_BYTES, MovedOn, StartOver, parseDataPackage } from './origin.js';
import type { Origin } from './origin.js';
import type { Documents } from './stage.js';

export interface Session {
  readonly tree: Tree;
  readonly client: Client;
  readonly files: Files;
  readonly lines: Lines;
  readonly origin: Origin;
  readonly index: ChangeIndex;
  /** The hashes of the bundles and lists that were fetched and verified. */
  readonly taken: Set<string>;
  readonly progress: Progress;
}

/** A snapshot by its number and digest. */
interface At {
  readonly sequence: number;
  readonly digest: string;
}

/** A bundle and the snapshots between which it leads. */
interface Step {
  readonly from: number;
  readonly to: Change;
  readonly bundle: Described;
}

/** Fetches files, and shows the bytes to come and the time that the limits make it take. */
async function download(
  { client, progress }: Session,
  wanted: readonly Pick<Wanted, 'bucket' | 'bytes' | 'sha256'>[],
  fetchAll: () => Promise<void>,
): Promise<void> {
  const known = wanted.map(({ bucket, bytes, sha256 }) => ({
    bucket,
    bytes: sha256 === undefined ? 0 : bytes,
  }));
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
 * @throws MovedOn, StartOver; Failure invalid: the origin doesn't offer enough
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
  try {
    await lines.addFile(other);
  } catch (error) {
    if (!(error instanceof Damaged)) throw error;
    throw Failure.invalid(`the origin's downloads are damaged: ${error.message}`);
  }
  for (const each of downloads) if (each.route.class === 'download') lines.addMissing(each);
  await fetchBundles(session, origin.downloads);
  for (const each of downloads) if (!lines.has(each.route.name)) lines.addMissing(each);
  return documents;
}

const ofChanges = ({ file: path, bytes, sha256 }: Described, bucket: Bucket): Wanted => ({
  path,
  bucket,
  bytes,
  sha256,
});

/** Fetches the bundles since a snapshot. @throws StartOver: none lead to the published snapshot */
export async function fetchBundles(session: Session, from: At): Promise<void> {
  const { index, lines, origin, files, taken } = session;
  const steps = stepsFrom(from, index);
  if (steps === undefined)
    throw new StartOver(`no bundles lead from snapshot ${from.sequence} to ${index.sequence}`);
  if (steps.length === 0) return;
  await download(
    session,
    steps.map(({ bundle }) => ofChanges(bundle, 'download')),
    async () => {
      for (const { from: start, to, bundle } of steps) {
        try {
          const { file } = await files.fetch(ofChanges(bundle, 'download'));
          await lines.addFile(file, { tree: origin.tree.id, from: start, to: to.sequence });
        } catch (error) {
          if (!(error instanceof Damaged || error instanceof MovedOn)) throw error;
          throw new StartOver(`the bundle ${bundle.file} can't be used: ${error.message}`);
        }
        taken.add(bundle.sha256);
        await fetchList(session, listOf(to));
      }
    },
  );
}

/** Fetches a list, which the copy can do without: others may follow it by its lists. */
async function fetchList({ files, taken }: Session, list: Described | undefined): Promise<void> {
  if (list === undefined) return;
  try {
    await files.fetch(ofChanges(list, 'api'));
    taken.add(list.sha256);
  } catch (error) {
    if (!(error instanceof MovedOn)) throw error;
  }
}

/** The bundles that lead from a snapshot to the published one; undefined if one is missing. */
function stepsFrom(start: At, { sequence, changes }: ChangeIndex): readonly Step[] | undefined {
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
