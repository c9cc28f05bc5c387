/** The lines of a bundle. */
import { isUtf8 } from 'node:buffer';

/** A new or changed document. */
export interface Put {
  readonly path: string;
  /** In hex. */
  readonly sha256: string;
  readonly bytes: number;
}

/** The line of a document. @param body left out if it is not text: clients fetch it from its path */
export const putLine = (put: Put, body?: Buffer): string =>
  JSON.stringify(body === undefined || !isUtf8(body) ? put : { ...put, body: body.toString() });

/** The line of a document that was removed. */
export const deletedLine = (path: unknown): string => JSON.stringify({ path, deleted: true });
