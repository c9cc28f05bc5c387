/** Writes all documents that belong to no record in one file: a line has path, hash and body. */
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, codeOf } from '../errors.js';
import { entriesIn } from '../tree/hash-file.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import { documentFiles } from '../publish/stage-writer.js';
import type { StageSpec } from '../publish/stage-writer.js';
import { DOCUMENTS, OTHER_DOCUMENTS } from '../routes/exports.js';
import { filler, isDocument, urlTemplate } from '../routes/index.js';
import { isSiteFile } from '../config/site-files.js';
import type { Context } from '../register/context.js';
import { GzipFile } from '../publish/gzip.js';
import type { WrittenFile } from '../publish/gzip.js';
import { inflated, isIntact } from './last-file.js';
import type { LastFile } from './last-file.js';

/**
 * Whether the documents of a route are in this file: those of the API and feeds that belong to no
 * record, and the operator's own files. Nothing that names sizes or checksums of downloads is.
 */
export const isOther = (route: PublishedRoute): boolean =>
  (isDocument(route) && !DOCUMENTS.has(route.name)) || isSiteFile(route);

export interface OtherDocumentsJob {
  /** In the order of the file. All of them are indexed. */
  readonly routes: readonly PublishedRoute[];
  readonly stage: StageSpec;
  readonly last: LastFile | undefined;
}

/**
 * Writes the file to the stage's folder of temporary files. Documents that are as they were get their
 * line from the last version, which is faster than reading them. Reports its progress in documents.
 * @throws Failure invalid: a published document is missing or damaged
 */
export async function writeOtherDocuments(
  { advance }: Context,
  { routes, stage, last }: OtherDocumentsJob,
): Promise<WrittenFile> {
  const file = new GzipFile(join(stage.paths.scratch, OTHER_DOCUMENTS.file));
  const lines = last !== undefined && isIntact(last) ? linesOf(last) : undefined;
  let rows = 0;
  try {
    for (const route of routes) {
      const path = filler(urlTemplate(route));
      const filesOf = documentFiles(stage, route);
      // The last version has a line for each of these, in their order.
      const olds = entriesIn(lines && stage.routes.get(route.name)?.index);
      let old = olds.next().value;
      for (const { key, bytes, hash: entry } of entriesIn(join(stage.paths.index, route.name))) {
        const sha256 = entry.toString('hex');
        const start = JSON.stringify({ path: path(key), sha256, bytes }).slice(0, -1);
        let line: Buffer | undefined;
        for (; old && old.key <= key; old = olds.next().value) line = (await lines?.next())?.value;
        // The hash identifies the rest.
        if (line?.subarray(0, Buffer.byteLength(start)).toString() === start) file.write(line);
        else {
          const body = read(filesOf(key), sha256);
          const text = isUtf8(body) ? `,${JSON.stringify({ body: body.toString('utf8') }).slice(1)}` : '}';
          file.write(Buffer.from(`${start}${text}\n`));
        }
        rows += 1;
        advance(1);
      }
      for (; old; old = olds.next().value) await lines?.next();
    }
    return file.finish(rows);
  } finally {
    file.close();
    await lines?.return(undefined);
  }
}

/** The lines of a compressed file, each with its line feed. */
async function* linesOf(file: LastFile): AsyncGenerator<Buffer, undefined, undefined> {
  let rest = Buffer.alloc(0);
  const chunks: AsyncIterable<Buffer> = inflated(file);
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf('\n'); end !== -1; end = bytes.indexOf('\n', start)) {
      yield bytes.subarray(start, end + 1);
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
  return undefined;
}

/** The content of the first of some files that exists. */
function read(files: Iterable<string>, sha256: string): Buffer {
  let last = '';
  for (const file of files) {
    last = file;
    try {
      const body = readFileSync(file);
      if (hash('sha256', body) === sha256) return body;
      break;
    } catch (error) {
      if (!['ENOENT', 'ENOTDIR', 'EISDIR'].includes(codeOf(error) ?? '')) throw error;
    }
  }
  throw Failure.invalid(`"${last}" is missing or damaged, expected what was published (see verify --repair)`);
}
