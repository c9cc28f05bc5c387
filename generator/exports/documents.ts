/** Writes the documents of records again, all of a route in one file: a line is a document's body. */
import { join } from 'node:path';
import { records } from '../outputs/records.js';
import { documentsFileOf } from '../routes/exports.js';
import { ROUTES } from '../routes/index.js';
import type { Kind } from '../schema/field.js';
import { documentsOf, resourceOf } from '../schema/index.js';
import type { Context } from '../workers/context.js';
import { Counter } from '../workers/counter.js';
import { GzipFile } from './gzip-file.js';
import type { WrittenFile } from './gzip-file.js';

export interface DocumentsJob {
  readonly kind: Kind;
  /** The folder below which the files are written, under their paths in the tree. */
  readonly folder: string;
}

/**
 * Writes a file for each route of a kind's documents, in one pass over its records: rendering them
 * is faster than reading a million files. Reports its progress in documents.
 */
export function writeDocuments(
  { register, advance }: Context,
  { kind, folder }: DocumentsJob,
): readonly WrittenFile[] {
  const resource = resourceOf(kind);
  const counter = new Counter(advance);
  const files = new Map<string, GzipFile>();
  try {
    for (const { route } of documentsOf(resource))
      files.set(route, new GzipFile(join(folder, documentsFileOf(route).file)));
    for (const { route, body } of records(register, resource, ROUTES)) {
      // JSON has no line break of its own: in texts they are escaped.
      files.get(route)?.line(body);
      counter.count();
    }
    counter.report();
    return [...files.values()].map((file) => file.finish());
  } finally {
    for (const file of files.values()) file.close();
  }
}
