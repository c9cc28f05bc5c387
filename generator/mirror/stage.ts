/** Stages the documents of the copy's next snapshot. */
import { Failure } from '../errors.js';
import type { Progress } from '../progress.js';
import type { Publisher } from '../publish/publisher.js';
import { isRendered } from '../tree/published-routes.js';
import { StageWriter } from '../publish/stage-writer.js';
import { linesOf } from './lines.js';
import type { Lines, Row } from './lines.js';
import { MovedOn } from './origin.js';
import type { Origin } from './origin.js';

/** The documents of routes by record id, as compressed files of lines, by route. */
export type Documents = ReadonlyMap<string, string>;

/**
 * @param documents what the lines change; undefined for what the copy has already
 * @throws Failure invalid: the lines are not what the origin's routes and totals permit
 */
export async function stageAll(
  publisher: Publisher,
  { routes, tree }: Origin,
  documents: Documents | undefined,
  lines: Lines,
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
      for await (const { key, body, missing } of merged(file, lines.rows(name))) {
        to ??= writer.route(name);
        if (isFollowing) to.keepBelow(key);
        const fetched = missing?.fetched;
        if (body !== undefined) to.put(key, body);
        else if (fetched === undefined) to.remove(key);
        else to.putFile({ ...fetched, key }, () => fetched.file);
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
}

/** Rows, and between them the documents of a file that they change. Both ascend. */
async function* merged(
  file: string | undefined,
  rows: Generator<Row, void, undefined>,
): AsyncGenerator<Row, void, undefined> {
  let next = rows.next();
  let last = -1;
  for await (const line of file === undefined ? [] : linesOf(file)) {
    const key = idOf(line);
    if (key <= last)
      throw Failure.invalid(`the document of ${key} follows that of ${last}, expected ascending ids`);
    last = key;
    for (; next.value !== undefined && next.value.key < key; next = rows.next()) yield next.value;
    if (next.value?.key !== key) yield { key, body: Buffer.from(line) };
  }
  for (; next.value !== undefined; next = rows.next()) yield next.value;
}

/** The id of a record, which is the first member of its document. */
function idOf(document: string): number {
  const start = document.slice(0, '{"id":9007199254740991,'.length);
  const id = Number(/^\{"id":(\d+)[,}]/.exec(start)?.[1]);
  if (Number.isSafeInteger(id)) return id;
  throw Failure.invalid(`a document begins with ${JSON.stringify(start)}, expected its id`);
}
