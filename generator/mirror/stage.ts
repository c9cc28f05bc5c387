/** Stages the documents of the copy's next snapshot. */
import { Failure } from '../errors.js';
import type { Progress } from '../progress.js';
import type { Publisher } from '../publish/publisher.js';
import { isRendered } from '../tree/published-routes.js';
import { StageWriter } from '../publish/stage-writer.js';
import type { Objects } from './objects.js';
import { MovedOn } from './origin.js';
import type { Origin } from './origin.js';
import { linesOf } from './overlay.js';
import type { Overlay, Row } from './overlay.js';

/** The documents of routes by record id, as compressed files of lines, by route. */
export type Documents = ReadonlyMap<string, string>;

/**
 * @param documents what the overlay lies over; undefined for what the copy has already
 * @throws Failure invalid: the lines are not what the origin's routes and totals permit
 */
export async function stageAll(
  publisher: Publisher,
  { routes, tree }: Origin,
  documents: Documents | undefined,
  overlay: Overlay,
  objects: Objects,
  progress: Progress,
): Promise<void> {
  const rendered = routes.filter(isRendered);
  const writer = new StageWriter(publisher.spec, rendered, 'mirror');
  publisher.delegate(rendered.map(({ name }) => name));
  const isFollowing = documents === undefined;
  let staged = 0;
  progress.start('staging', 0, 'documents');
  try {
    for (const { name } of rendered) {
      // A route without a writer stays as it is.
      let to = isFollowing ? undefined : writer.route(name);
      const file = documents?.get(name);
      for await (const row of merged(file === undefined ? [] : linesOf(file), overlay.rows(name))) {
        const { key, bytes, sha256, body } = row;
        to ??= writer.route(name);
        if (isFollowing) to.keepBelow(key);
        if (body !== null) to.put(key, body);
        else if (bytes === null || sha256 === null) to.remove(key);
        else to.putFile({ key, bytes, hash: Buffer.from(sha256, 'hex') }, () => objects.path(sha256));
        staged += bytes ?? 0;
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
}

/** The rows of an overlay, and between them the documents that it lies over. Both ascend. */
async function* merged(
  documents: AsyncIterable<string> | readonly string[],
  rows: IterableIterator<Row>,
): AsyncGenerator<Row, void, undefined> {
  try {
    let next = rows.next();
    let last = -1;
    for await (const line of documents) {
      const [key, body] = [idOf(line), Buffer.from(line)];
      if (key <= last)
        throw Failure.invalid(`the document of ${key} follows that of ${last}, expected ascending ids`);
      last = key;
      for (; next.done !== true && next.value.key < key; next = rows.next()) yield next.value;
      if (next.done === true || next.value.key !== key) yield { key, bytes: body.length, sha256: null, body };
    }
    for (; next.done !== true; next = rows.next()) yield next.value;
  } finally {
    rows.return?.();
  }
}

/** The id of a record, which is the first member of its document. */
function idOf(document: string): number {
  const start = document.slice(0, '{"id":9007199254740991,'.length);
  const id = Number(/^\{"id":(\d+)[,}]/.exec(start)?.[1]);
  if (Number.isSafeInteger(id)) return id;
  throw Failure.invalid(`a document begins with ${JSON.stringify(start)}, expected its id`);
}
