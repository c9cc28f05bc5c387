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
}

/**
 * Writes the file to the stage's folder of temporary files. Reports its progress in documents.
 * @throws Failure invalid: a published document is missing or damaged
 */
export function writeOtherDocuments({ advance }: Context, { routes, stage }: OtherDocumentsJob): WrittenFile {
  const file = new GzipFile(join(stage.paths.scratch, OTHER_DOCUMENTS.file));
  try {
    for (const route of routes) {
      const path = filler(urlTemplate(route));
      const filesOf = documentFiles(stage, route);
      for (const { key, bytes, hash: entry } of entriesIn(join(stage.paths.index, route.name))) {
        const sha256 = entry.toString('hex');
        const body = read(filesOf(key), sha256);
        const text = isUtf8(body) ? { body: body.toString('utf8') } : {};
        file.line(JSON.stringify({ path: path(key), sha256, bytes, ...text }));
        advance(1);
      }
    }
    return file.finish();
  } finally {
    file.close();
  }
}

/** The content of the first of some files that exists. */
function read(files: readonly string[], sha256: string): Buffer {
  for (const file of files) {
    try {
      const body = readFileSync(file);
      if (hash('sha256', body) === sha256) return body;
      break;
    } catch (error) {
      if (!['ENOENT', 'ENOTDIR', 'EISDIR'].includes(codeOf(error) ?? '')) throw error;
    }
  }
  throw Failure.invalid(
    `"${files.at(-1)}" is missing or damaged, expected what was published (see verify --repair)`,
  );
}
