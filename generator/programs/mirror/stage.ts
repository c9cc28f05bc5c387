/** Stages the documents of the copy's next snapshot, and the changes that it has then. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../base/errors.js';
import { indexOf, withoutBundle } from '../../publish/change-index.js';
import type { OwnFiles } from '../../publish/plan.js';
import type { Publisher } from '../../publish/publisher.js';
import { StageWriter } from '../../publish/stage-writer.js';
import { INDEX_FILE, bundlesIn, readChangeIndex, untrackedFiles, type Bundle } from '../../tree/changes.js';
import { isLeftOut } from '../../routes/exports.js';
import { isRendered } from '../../tree/published-routes.js';
import { MovedOn } from './client.js';
import type { DocumentFiles, Session } from './fetch.js';
import { fetchedIn } from './files.js';
import { linesOf, type DocumentRow } from './lines.js';

/**
 * @param documents what the lines change; undefined for what the copy has already
 * @returns downloads that are what the state says, and that the copy has no file of yet
 * @throws Failure invalid: the lines are not what the origin's routes and totals permit
 */
export async function stageAll(
  publisher: Publisher,
  session: Session,
  documents: DocumentFiles | undefined,
): Promise<ReadonlyMap<string, string>> {
  const { origin, lines, progress } = session;
  const { routes, tree } = origin;
  const before = publisher.last ?? {};
  const restored = new Map<string, string>();
  const rendered = routes.filter(isRendered);
  const writer = new StageWriter(publisher.spec, 'mirror');
  publisher.writer.leave(rendered.map(({ name }) => name));
  const isFollowing = documents === undefined;
  let staged = 0;
  progress.start('staging', 0, 'documents');
  try {
    for (const route of rendered) {
      const { name } = route;
      // A route without a writer stays as it is.
      let to = isFollowing ? undefined : writer.route(name);
      for await (const { key, body, missing } of merged(documents?.get(name), lines.rows(name))) {
        to ??= writer.route(name);
        if (isFollowing) to.keepBelow(key);
        const fetched = missing?.fetched;
        if (body !== undefined) to.put(key, body);
        else if (fetched !== undefined) {
          const isStaged = to.putFile({ ...fetched, key }, () => fetched.file);
          if (!isStaged && isLeftOut(before, route)) restored.set(route.file, fetched.file);
        } else if (missing?.sha256 !== undefined && isLeftOut(session, route))
          to.putAbsent({ key, bytes: missing.bytes, hash: Buffer.from(missing.sha256, 'hex') });
        else to.remove(key);
        staged += body?.length ?? fetched?.bytes ?? 0;
        if (staged > tree.bytes) throw new MovedOn(`the documents have more than ${tree.bytes} bytes`);
        await progress.advance(1);
      }
      if (isFollowing) to?.keepBelow(Number.POSITIVE_INFINITY);
    }
    await progress.blocking(() => writer.finish());
  } finally {
    writer.close();
  }
  progress.finish();
  return restored;
}

/** Rows, and between them the documents of a file that they change. Both ascend. */
async function* merged(
  file: string | undefined,
  rows: Generator<DocumentRow, void, undefined>,
): AsyncGenerator<DocumentRow, void, undefined> {
  let next = rows.next();
  let last = -1;
  try {
    for await (const line of file === undefined ? [] : linesOf(file)) {
      const key = idOf(line);
      if (key <= last)
        throw Failure.invalid(`the document of ${key} follows that of ${last}, expected ascending ids`);
      last = key;
      for (; next.value !== undefined && next.value.key < key; next = rows.next()) yield next.value;
      if (next.value?.key !== key) yield { key, body: Buffer.from(line) };
    }
    for (; next.value !== undefined; next = rows.next()) yield next.value;
  } finally {
    rows.return();
  }
}

/** The id of a record, which is the first member of its document. */
function idOf(document: string): number {
  const start = document.slice(0, '{"id":9007199254740991,'.length);
  const id = Number(/^\{"id":(\d+)[,}]/.exec(start)?.[1]);
  if (Number.isSafeInteger(id)) return id;
  throw Failure.invalid(`a document begins with ${JSON.stringify(start)}, expected its id`);
}

/**
 * The changes of the next snapshot: the origin's, restricted to the files that the copy has. Downloads that
 * it is to be without are removed along with them.
 */
export function ownChanges(session: Session): OwnFiles {
  const { tree, origin, index, taken } = session;
  const before = readChangeIndex(tree);
  const held = before?.tree === index.tree ? bundlesIn(before.changes) : [];
  const isHeld = ({ file, sha256 }: Bundle): boolean =>
    taken.has(sha256) ||
    (held.some((each) => each.file === file && each.sha256 === sha256) && existsSync(join(tree.out, file)));
  const own = indexOf(
    origin,
    index.changes.map((change) =>
      change.bundle !== null && isHeld(change.bundle) ? change : withoutBundle(change),
    ),
  );
  const file = join(fetchedIn(tree), 'index.json');
  // A run that was killed may have left a link to the published index, which must stay as it is.
  rmSync(file, { force: true });
  writeFileSync(file, JSON.stringify(own));
  const put = new Map([[INDEX_FILE, file]]);
  for (const each of bundlesIn(own.changes)) {
    const fetched = taken.get(each.sha256);
    if (fetched !== undefined) put.set(each.file.slice(1), fetched.file);
  }
  const leftOut = origin.routes.filter(
    (route) => isLeftOut(session, route) && existsSync(join(tree.out, route.file)),
  );
  return { put, removed: [...untrackedFiles(tree, own.changes), ...leftOut.map(({ file }) => file)] };
}
