/**
 * Writes the documents again, in few files: those of records by route, where a line is a document's
 * body, and all others in one file, where a line has path, hash and body.
 */
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, codeOf } from '../base/errors.js';
import { isSiteFile } from '../config/site-files.js';
import type { KeyRange } from '../base/cursor.js';
import { GzipFile, type GzipPart, type WrittenFile } from '../publish/gzip.js';
import { documentFiles } from '../publish/stage-writer.js';
import type { StageSpec } from '../publish/stage.js';
import type { Context } from '../register/context.js';
import type { Register } from '../register/database.js';
import { records } from '../register/records.js';
import { DOCUMENTS, OTHER_DOCUMENTS, documentsFileOf } from '../routes/exports.js';
import { filler, isDocument, urlTemplate } from '../routes/route.js';
import { measuredDocuments } from '../routes/routes.js';
import type { Kind } from '../schema/field.js';
import { resourceOf } from '../schema/schema.js';
import { nextDocuments } from '../state/next.js';
import { NO_ROUTE } from '../state/state.js';
import type { PublishedRoute } from '../tree/published-routes.js';

/** Neighbouring records, whose documents are compressed apart from those of others. */
export interface DocumentsRange extends KeyRange {
  /** By route, if they were compressed when they were staged. */
  readonly parts: Readonly<Record<string, GzipPart>> | undefined;
}

/** Compresses documents of a kind into a file for each of their routes. */
export class DocumentsWriter implements Disposable {
  readonly files: ReadonlyMap<string, GzipFile>;

  /**
   * @param folder below which the files are written, under their paths in the tree
   * @param part names the range of records of which they have the documents, if that is not all: they are to
   * be appended to those of all
   */
  constructor({ measured }: Register, kind: Kind, folder: string, part?: string) {
    this.files = new Map(
      measuredDocuments(resourceOf(kind), measured).map(({ route }) => {
        const file = join(folder, documentsFileOf(route).file);
        return [route, part === undefined ? new GzipFile(file) : new GzipFile(`${file}.${part}`, true)];
      }),
    );
  }

  /** Adds a document. @param body JSON, which has no line break of its own: in texts they are escaped */
  add(route: string, body: string | Uint8Array): void {
    this.files.get(route)?.line(body);
  }

  finishParts(): DocumentsRange['parts'] {
    return Object.fromEntries([...this.files].map(([route, file]) => [route, file.finishPart()]));
  }

  [Symbol.dispose](): void {
    for (const file of this.files.values()) file.close();
  }
}

export interface DocumentsJob {
  readonly kind: Kind;
  /** The folder below which the files are written, under their paths in the tree. */
  readonly folder: string;
  /** All records, in ascending order. */
  readonly ranges: readonly DocumentsRange[];
}

/**
 * Writes a file for each route of a kind's documents. Those that are not compressed yet are rendered
 * again, which is faster than reading a million files. Reports its progress in documents.
 */
export function writeDocuments(
  { register, advance }: Context,
  { kind, folder, ranges }: DocumentsJob,
): readonly WrittenFile[] {
  using writer = new DocumentsWriter(register, kind, folder);
  const files = [...writer.files.values()];
  for (const { parts, low, high } of ranges) {
    for (const file of files) file.cut();
    for (const [route, part] of Object.entries(parts ?? {})) {
      writer.files.get(route)?.append(part);
      advance(part.rows);
    }
    const rendered = parts === undefined ? records(register, resourceOf(kind), { low, high }) : [];
    for (const { route, body } of rendered) {
      writer.add(route, body);
      advance(1);
    }
  }
  return files.map((file) => file.finish());
}

/**
 * Whether the documents of a route are in the file of all others: those of the API and feeds that
 * belong to no record, and the operator's own files. Nothing that names sizes or checksums of
 * downloads is.
 */
export const isOther = (route: PublishedRoute): boolean =>
  (isDocument(route) && !DOCUMENTS.has(route.name)) || isSiteFile(route);

export interface OtherDocumentsJob {
  /** In the order of the file. All of their documents are staged. */
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
      const { id } = stage.routes.get(route.name) ?? { id: NO_ROUTE };
      for (const { key, bytes, hash: entry } of nextDocuments(stage.compared, id)) {
        const sha256 = entry.toString('hex');
        const content = read(filesOf(key), sha256);
        const body = isUtf8(content) ? { body: content.toString('utf8') } : {};
        file.line(JSON.stringify({ path: path(key), sha256, bytes, ...body }));
        advance(1);
      }
    }
    return file.finish();
  } finally {
    file.close();
  }
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
