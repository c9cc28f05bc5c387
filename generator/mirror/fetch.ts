/** Fetches what leads from the copy to the origin's snapshot: changes, or everything. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../errors.js';
import type { Progress } from '../progress.js';
import { listOf } from '../tree/changes.js';
import type { ChangeIndex, Described } from '../tree/changes.js';
import { linkOrCopy } from '../files.js';
import { isRendered } from '../tree/published-routes.js';
import type { Tree } from '../tree/tree.js';
import { filler, urlTemplate } from '../routes/index.js';
import type { Bucket } from '../routes/index.js';
import { PATHS } from '../routes/paths.js';
import type { Client } from './client.js';
import type { Counted } from './limits.js';
import type { Fetched, Objects } from './objects.js';
import { JSON_BYTES, MovedOn, StartOver, parseChangeList, parseDataPackage } from './origin.js';
import type { Address, Origin } from './origin.js';
import { Damaged } from './overlay.js';
import type { Overlay } from './overlay.js';
import type { Documents } from './stage.js';
import { planSteps } from './steps.js';
import type { At, Step } from './steps.js';

export interface Session {
  readonly tree: Tree;
  readonly client: Client;
  readonly objects: Objects;
  readonly overlay: Overlay;
  readonly origin: Origin;
  readonly index: ChangeIndex;
  /** The hashes of the bundles and lists that were fetched and verified. */
  readonly taken: Set<string>;
  readonly progress: Progress;
}

type Route = Address['route'];

const isSingle = (route: Route): boolean => !urlTemplate(route).includes('{');

/** Shows the bytes to come, and the time that the limits make it take. */
function startDownload({ client, progress }: Session, bytes: number, requests: readonly Counted[]): void {
  const seconds = client.limits.secondsFor(requests);
  const time =
    seconds < 120
      ? `${seconds} s`
      : seconds < 7200
        ? `${Math.ceil(seconds / 60)} min`
        : `${Math.ceil(seconds / 3600)} h`;
  progress.start(
    seconds === 0 ? 'downloading' : `downloading (at least ${time} by the limits)`,
    bytes,
    'bytes',
  );
}

const sum = (all: readonly { readonly bytes: number }[]): number =>
  all.reduce((total, { bytes }) => total + bytes, 0);

/** Fetches a document, unless it is a download that the tree already has. */
async function obtain(
  { tree, objects }: Session,
  { route, key }: Address,
  bytes: number,
  sha256: string | undefined,
): Promise<Fetched> {
  const own = join(tree.out, filler(route.file)(key));
  const isOwn =
    route.class === 'download' &&
    sha256 !== undefined &&
    existsSync(own) &&
    (await objects.measure(own)).hash.toString('hex') === sha256;
  if (isOwn && !existsSync(objects.path(sha256))) linkOrCopy(own, objects.path(sha256));
  return objects.fetch({ path: filler(urlTemplate(route))(key), bucket: route.bucket, bytes, sha256 });
}

/**
 * Fetches everything: the downloads, what leads on from their snapshot, and the rest one by one.
 * @returns the documents by id
 * @throws MovedOn; Failure invalid: the origin doesn't offer enough
 */
export async function fetchAll(session: Session): Promise<Documents> {
  const { origin, overlay } = session;
  const single = origin.routes.filter(isRendered).filter(isSingle);
  const path = `${PATHS.bulk}/datapackage.json`;
  const described = single.find((route) => route.path === path);
  if (described === undefined) throw Failure.invalid(`the origin has no ${path}`);
  const {
    file,
    bytes: size,
    hash,
  } = await obtain(session, { route: described, key: 0 }, JSON_BYTES, undefined);
  const { resources } = parseDataPackage(readFileSync(file));
  const byPath = new Map([
    [path, { bytes: size, sha256: hash.toString('hex') }],
    ...resources.map((each) => {
      const content = { bytes: each.bytes, sha256: each.hash.slice('sha256:'.length) };
      return [`${PATHS.bulk}/${each.path}`, content] as const;
    }),
  ]);
  for (const route of single.filter((each) => each.class === 'download')) {
    const { bytes, sha256 } = byPath.get(route.path) ?? { bytes: origin.tree.bytes, sha256: null };
    overlay.add({ route, key: 0 }, { bytes, sha256, body: null });
  }
  const files = single.flatMap((route) => {
    const name = /\/documents\/([\w-]+)\.ndjson\.gz$/.exec(route.path)?.[1];
    const content = byPath.get(route.path);
    return name === undefined || content === undefined ? [] : [{ name, route, ...content }];
  });
  startDownload(
    session,
    sum(files),
    files.map(({ route, bytes }) => ({ bucket: route.bucket, bytes })),
  );
  const documents = new Map<string, string>();
  for (const { name, route, bytes, sha256 } of files)
    documents.set(name, (await obtain(session, { route, key: 0 }, bytes, sha256)).file);
  session.progress.finish();
  const other = documents.get('other');
  if (other === undefined) throw Failure.invalid(`${path} of the origin names no documents/other.ndjson.gz`);
  await overlay.addFile(other).catch(refuseDamage);
  await fetchChanges(session, origin.downloads);
  for (const route of single) {
    const address = { route, key: 0 };
    if (!overlay.has(address)) overlay.add(address, { bytes: origin.tree.bytes, sha256: null, body: null });
  }
  return documents;
}

function refuseDamage(error: unknown): never {
  throw error instanceof Damaged
    ? Failure.invalid(`the origin's downloads are damaged: ${error.message}`)
    : error;
}

/**
 * Fetches the changes since a snapshot, by the fewest files.
 * @throws StartOver: none lead to the published snapshot, or to copy everything would be quicker
 */
export async function fetchChanges(session: Session, from: At): Promise<void> {
  const { index } = session;
  const unusable = new Set<string>();
  for (let at = from; ;) {
    const plan = planSteps(at, index, unusable);
    if (plan === undefined)
      throw new StartOver(`no changes lead from snapshot ${at.sequence} to ${index.sequence}`);
    const [step] = plan;
    if (step === undefined) return;
    startDownload(session, sum(plan.map(({ file }) => file)), plan.map(countedOf));
    try {
      await take(session, step);
      at = step.to;
    } catch (error) {
      if (!(error instanceof Damaged || error instanceof MovedOn)) throw error;
      unusable.add(step.file.file);
    }
    session.progress.finish();
  }
}

const countedOf = ({ is, file: { bytes } }: Step): Counted => ({
  bucket: is === 'bundle' ? 'download' : 'api',
  bytes,
});

/** Takes over the changes of a step. @throws Damaged, MovedOn: its file can't be used */
async function take(session: Session, step: Step): Promise<void> {
  const { overlay, origin, index } = session;
  if (step.is === 'list') return takeList(session, step);
  const file = await takeFile(session, step.file, 'download');
  await overlay.addFile(file, { tree: origin.tree.id, from: step.from, to: step.to.sequence });
  // Others may follow this copy by its lists.
  const change = index.changes.find(({ bundle }) => bundle?.sha256 === step.file.sha256);
  const list = change && listOf(change);
  if (list) await takeFile(session, list, 'api').catch(ignoreMissing);
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof MovedOn)) throw error;
}

async function takeFile(
  { objects, taken }: Session,
  { file: path, bytes, sha256 }: Described,
  bucket: Bucket,
): Promise<string> {
  const { file } = await objects.fetch({ path, bucket, bytes, sha256 });
  taken.add(sha256);
  return file;
}

async function takeList(session: Session, { file }: Step): Promise<void> {
  const { overlay, origin, client, progress } = session;
  if (file.bytes > JSON_BYTES) throw new StartOver(`${file.file} is too long to fetch each document`);
  const content = readFileSync(await takeFile(session, file, 'api'));
  const list = await progress.blocking(() => parseChangeList(content));
  const downloads = origin.routes.filter((route) => isRendered(route) && route.class === 'download');
  const everything = client.limits.secondsFor(
    downloads.map(({ bucket }) => ({ bucket, bytes: origin.tree.bytes })),
  );
  if (client.limits.secondsFor(list.put.map(({ bytes }) => ({ bucket: 'api', bytes }))) > everything) {
    throw new StartOver(`to copy everything is quicker than to fetch ${list.put.length} documents`);
  }
  await overlay.addWhole(async () => {
    for (const put of list.put) {
      await client.pause();
      if (put.documents === undefined) {
        overlay.addLine(put);
        continue;
      }
      const route = origin.routes.find((each) => urlTemplate(each) === put.path);
      const [parameter] = route?.parameters ?? [];
      if (route === undefined || parameter?.in !== 'query') throw new Damaged(`no route is "${put.path}"`);
      for (let key = parameter.minimum; key <= parameter.maximum; key += 1) {
        await client.pause();
        overlay.add({ route, key }, { bytes: put.bytes, sha256: null, body: null });
      }
    }
    for (const path of list.delete) {
      await client.pause();
      overlay.addLine({ path, deleted: true });
    }
  });
}

/** Fetches, one by one, the documents whose bodies no bundle has. @throws MovedOn */
export async function fetchRest(session: Session): Promise<void> {
  const { origin, overlay } = session;
  const routes = new Map(origin.routes.map((route) => [route.name, route]));
  const { rest } = overlay;
  if (rest.length === 0) return;
  const requests = rest.map(({ route, documents: count, bytes }) => {
    return { bucket: routes.get(route)?.bucket ?? 'api', bytes: bytes / count, count };
  });
  startDownload(session, sum(rest), requests);
  for (const { route: name } of rest) {
    const route = routes.get(name);
    if (route === undefined) continue;
    let rows = overlay.missing(name, -1);
    for (let last = -1; rows.length > 0; rows = overlay.missing(name, last)) {
      for (const { key, bytes, sha256 } of rows) {
        const fetched = await obtain(session, { route, key }, bytes ?? 0, sha256 ?? undefined);
        overlay.add(
          { route, key },
          { bytes: fetched.bytes, sha256: fetched.hash.toString('hex'), body: null },
        );
        last = key;
      }
    }
  }
  session.progress.finish();
}
