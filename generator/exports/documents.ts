/** Writes the documents of records again, all of a route in one file: a line is a document's body. */
import { join } from 'node:path';
import { changedRecords, records } from '../register/records.js';
import { GzipFile } from '../publish/gzip.js';
import type { WrittenFile } from '../publish/gzip.js';
import { documentsFileOf } from '../routes/exports.js';
import { measuredDocuments } from '../routes/index.js';
import type { Kind, Resource } from '../schema/field.js';
import { resourceOf } from '../schema/index.js';
import type { Context } from '../register/context.js';
import { changedIn, isIntact } from './last-file.js';
import { NextDocuments } from './next-documents.js';
import type { LastDocuments } from './next-documents.js';

export interface DocumentsJob {
  readonly kind: Kind;
  /** The folder below which the files are written, under their paths in the tree. */
  readonly folder: string;
  /** Set if the files are to be made from their last version. */
  readonly last?:
    | {
        /** By route. */
        readonly files: Readonly<Record<string, LastDocuments>>;
        /** The patches of the records' fingerprints, which have the records that changed. */
        readonly patches: readonly string[];
      }
    | undefined;
}

/**
 * Writes a file for each route of a kind's documents: from the last version where that is faster
 * and intact, else in one pass over the records, which is faster than reading a million files.
 * Reports its progress in documents.
 */
export async function writeDocuments(
  context: Context,
  { kind, folder, last }: DocumentsJob,
): Promise<readonly WrittenFile[]> {
  const resource = resourceOf(kind);
  return (last && (await writeNext(context, resource, folder, last))) ?? writeAll(context, resource, folder);
}

const newFile = (folder: string, route: string): GzipFile =>
  new GzipFile(join(folder, documentsFileOf(route).file));

function writeAll(
  { register, advance }: Context,
  resource: Resource,
  folder: string,
): readonly WrittenFile[] {
  const files = new Map<string, GzipFile>();
  try {
    for (const { route } of measuredDocuments(resource, register.measured))
      files.set(route, newFile(folder, route));
    for (const { route, body } of records(register, resource)) {
      // JSON has no line break of its own: in texts they are escaped.
      files.get(route)?.line(body);
      advance(1);
    }
    return [...files.values()].map((file) => file.finish());
  } finally {
    for (const file of files.values()) file.close();
  }
}

/** @returns undefined if a last version is damaged */
async function writeNext(
  { register, advance }: Context,
  resource: Resource,
  folder: string,
  { files: lastFiles, patches }: NonNullable<DocumentsJob['last']>,
): Promise<readonly WrittenFile[] | undefined> {
  if (!Object.values(lastFiles).every(isIntact)) return undefined;
  const files: { route: string; file: GzipFile; next: NextDocuments }[] = [];
  try {
    for (const [route, last] of Object.entries(lastFiles)) {
      const file = newFile(folder, route);
      files.push({ route, file, next: new NextDocuments(last, file, advance) });
    }
    for (const { key, documents } of changedRecords(register, resource, () => changedIn(patches))) {
      const bodies = new Map(documents.map(({ route, body }) => [route, body]));
      for (const { route, next } of files) await next.put(key, bodies.get(route));
    }
    for (const { next } of files) if (!(await next.finish())) return undefined;
    return files.map(({ file, next }) => file.finish(next.rows));
  } finally {
    for (const { file, next } of files) {
      file.close();
      next.close();
    }
  }
}
