/** Stages the documents of the copy's next snapshot. */
import { Failure } from '../errors.js';
import type { Progress } from '../progress.js';
import type { Publisher } from '../publish/publisher.js';
import { isRendered } from '../publish/snapshot-json.js';
import { StageWriter } from '../publish/stage-writer.js';
import type { Objects } from './objects.js';
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
  let staged = 0;
  const count = (bytes: number): void => {
    staged += bytes;
    if (staged > tree.bytes) throw Failure.invalid(`the documents have more than ${tree.bytes} bytes`);
  };
  progress.start('staging', 0, 'documents');
  try {
    for (const { name } of rendered) {
      const rows = overlay.rows(name);
      let { value: row, done } = next(rows);
      if (documents === undefined && done) continue;
      const to = writer.route(name);
      const take = (document: Row): void => {
        const { key, bytes, sha256, body } = document;
        if (documents === undefined) to.keepBelow(key);
        if (body !== null) to.put(key, body);
        else if (bytes === null || sha256 === null) to.remove(key);
        else to.putFile({ key, bytes, hash: Buffer.from(sha256, 'hex') }, () => objects.path(sha256));
        count(bytes ?? 0);
      };
      const takeBelow = async (key: number): Promise<void> => {
        for (; row !== undefined && row.key < key; row = next(rows).value) {
          take(row);
          await progress.advance(1);
        }
      };
      const base = documents?.get(name);
      let last = -1;
      for await (const line of base === undefined ? [] : linesOf(base)) {
        const key = keyOf(line);
        if (key === undefined || key <= last) {
          throw Failure.invalid(`the documents of "${name}" don't ascend by id`);
        }
        last = key;
        await takeBelow(key);
        if (row?.key !== key) {
          to.put(key, line);
          count(line.length);
        }
        await progress.advance(1);
      }
      await takeBelow(Number.POSITIVE_INFINITY);
      if (documents === undefined) to.keepBelow(Number.POSITIVE_INFINITY);
    }
    writer.finish();
  } finally {
    writer.close();
  }
  progress.finish();
}

const next = (rows: Iterator<Row>): { readonly value: Row | undefined; readonly done: boolean } => {
  const { value, done } = rows.next();
  return done === true ? { value: undefined, done } : { value, done: false };
};

/** The id of a record, which is the first member of its document. */
function keyOf(line: Buffer): number | undefined {
  const [, id] = /^\{"id":(\d{1,16})[,}]/.exec(line.toString('latin1', 0, 32)) ?? [];
  const key = Number(id);
  return Number.isSafeInteger(key) ? key : undefined;
}
