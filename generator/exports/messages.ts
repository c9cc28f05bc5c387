/** What a thread says of an export that it writes. */
import { EXPORT_FORMATS } from '../export-routes.js';
import { isObject } from '../threads/messages.js';
import type { Members } from '../threads/messages.js';
import type { Written } from './write.js';

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
