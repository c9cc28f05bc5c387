/**
 * What the main thread and the thread of the exports say to each other. Requests are answered in their order.
 * Plain checks, since every build waits for the thread to start, and a library for this takes longer to load than
 * all else there.
 */
import type { Hidden } from '../register/open.js';
import { EXPORT_FORMATS } from '../export-routes.js';
import type { Written } from './write.js';

/**
 * `renew`: begin the read transaction anew · `hide`: take over what is not published · `write`: write the files of
 * an export below a folder.
 */
export type Request =
  | { readonly do: 'renew' }
  | { readonly do: 'hide'; readonly hidden: Hidden }
  | { readonly do: 'write'; readonly table: string; readonly folder: string };

/** `progress` is no answer yet: so many rows more were written · `failed`: an expected error. */
export type Reply =
  | { readonly is: 'progress'; readonly rows: number }
  | { readonly is: 'done'; readonly written?: Written | undefined }
  | { readonly is: 'failed'; readonly exitCode: number; readonly message: string };

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null;

/** @throws TypeError: a defect of ours */
export function asRequest(message: unknown): Request {
  if (isObject(message)) {
    const { do: what, hidden, table, folder } = message;
    if (what === 'renew') return { do: what };
    if (what === 'hide' && isHidden(hidden)) return { do: what, hidden };
    if (what === 'write' && typeof table === 'string' && typeof folder === 'string')
      return { do: what, table, folder };
  }
  throw new TypeError(`not a request: ${JSON.stringify(message)}`);
}

const isHidden = (value: unknown): value is Hidden =>
  isObject(value) &&
  Object.values(value).every((rows) => Array.isArray(rows) && rows.every((row) => Array.isArray(row)));

/** @throws TypeError: a defect of ours */
export function asReply(message: unknown): Reply {
  if (isObject(message)) {
    const { is, rows, written, exitCode, message: text } = message;
    if (is === 'progress' && typeof rows === 'number') return { is, rows };
    if (is === 'done' && (written === undefined || isWritten(written))) return { is, written };
    if (is === 'failed' && typeof exitCode === 'number' && typeof text === 'string')
      return { is, exitCode, message: text };
  }
  throw new TypeError(`not a reply: ${JSON.stringify(message)}`);
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
