/** What the main thread and the thread of the exports say to each other. */
import { EXPORT_FORMATS } from '../export-routes.js';
import { isObject } from '../threads/messages.js';
import type { Members } from '../threads/messages.js';
import type { Written } from './write.js';

/** Write the files of an export below a folder. */
export interface WriteRequest {
  readonly do: 'write';
  readonly table: string;
  readonly folder: string;
}

/** @throws TypeError: a defect of ours */
export function asWriteRequest({ do: what, table, folder }: Members): WriteRequest {
  if (what === 'write' && typeof table === 'string' && typeof folder === 'string')
    return { do: what, table, folder };
  throw new TypeError(`not a request: ${String(what)}`);
}

/** How many rows more were written. @throws TypeError: a defect of ours */
export function progressOf({ rows }: Members): number {
  if (typeof rows === 'number') return rows;
  throw new TypeError('no progress was told');
}

/** @throws TypeError: a defect of ours */
export function asWritten(value: unknown): Written {
  if (isWritten(value)) return value;
  throw new TypeError(`nothing was written: ${JSON.stringify(value)}`);
}

function isWritten(value: unknown): value is Written {
  if (!isObject(value)) return false;
  const { rows, files } = value;
  return (
    typeof rows === 'number' &&
    isObject(files) &&
    EXPORT_FORMATS.every(({ format }) => isContent(files[format]))
  );
}

const isContent = (value: unknown): boolean =>
  isObject(value) && typeof value['bytes'] === 'number' && typeof value['sha256'] === 'string';
