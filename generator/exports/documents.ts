/**
 * The documents again, in few files: those of records by route, where a line is a document's body, and
 * all others in one file, where a line has path, hash and body. Lines are written where documents are
 * rendered, and compressed here.
 */
import { join } from 'node:path';
import { chunksOf } from '../base/files.js';
import { GzipFile } from '../base/gzip.js';
import { isSiteFile } from '../config/site-files.js';
import type { Context } from '../register/context.js';
import { DOCUMENTS } from '../routes/exports.js';
import { isDocument } from '../routes/route.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import type { WrittenFiles } from './downloads.js';

/**
 * Whether the documents of a route are in the file of all others: those of the API and feeds that
 * belong to no record, and the operator's own files. Nothing that names sizes or checksums of
 * downloads is.
 */
export const isOther = (route: PublishedRoute): boolean =>
  (isDocument(route) && !DOCUMENTS.has(route.name)) || isSiteFile(route);

const LINE_BREAK = 10;

/**
 * Compresses files of lines into one, in their order. Reports its progress in lines.
 * @param input `parts`: the files, each of which ends with a line break unless it is empty; `folder`: below it, the
 * file has its path in the tree
 */
export function joinLines(
  { advance }: Context,
  {
    parts,
    folder,
    file,
  }: { readonly parts: readonly string[]; readonly folder: string; readonly file: string },
): WrittenFiles {
  const gzip = new GzipFile(join(folder, file));
  let rows = 0;
  try {
    for (const part of parts) {
      for (const chunk of chunksOf(part)) {
        const lines = linesEndedIn(chunk);
        gzip.write(chunk);
        rows += lines;
        advance(lines);
      }
    }
    return { [file]: { ...gzip.finish(), rows } };
  } finally {
    gzip.close();
  }
}

function linesEndedIn(chunk: Buffer): number {
  let lines = 0;
  for (let at = chunk.indexOf(LINE_BREAK); at >= 0; at = chunk.indexOf(LINE_BREAK, at + 1)) lines += 1;
  return lines;
}
