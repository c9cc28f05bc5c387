/**
 * What the main thread and the others say to each other. Plain checks, since every build waits for its threads to
 * start, and a library for this takes longer to load than all else there.
 */
import type { FailureParts } from '../errors.js';
import type { Hidden } from '../register/open.js';
import type { IdRange } from '../register/sql.js';

export type Members = Readonly<Record<string, unknown>>;

/**
 * What every thread understands. `renew`: begin the read transaction anew · `hide`: take over what is not published ·
 * `scope`: the ids that `changed` speaks of.
 */
export type CommonRequest =
  | { readonly do: 'renew' }
  | { readonly do: 'hide'; readonly hidden: Hidden }
  | { readonly do: 'scope'; readonly ranges: readonly IdRange[] };

/** `said` is no answer yet · `failed`: an expected error. */
export type Reply =
  | { readonly is: 'said'; readonly said: Members }
  | { readonly is: 'done'; readonly value: unknown }
  | { readonly is: 'failed'; readonly failure: FailureParts };

export const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null;

export const isHidden = (value: unknown): value is Hidden =>
  isObject(value) &&
  Object.values(value).every((rows) => Array.isArray(rows) && rows.every((row) => Array.isArray(row)));

export const isRanges = (value: unknown): value is readonly IdRange[] =>
  Array.isArray(value) && value.every((range) => isObject(range) && typeof range['low'] === 'number');

/** @throws TypeError: a defect of ours */
export function asReply(message: unknown): Reply {
  if (isObject(message)) {
    const { is, said, value, failure } = message;
    if (is === 'said' && isObject(said)) return { is, said };
    if (is === 'done') return { is, value };
    if (is === 'failed' && isFailure(failure)) return { is, failure };
  }
  throw new TypeError(`not a reply: ${JSON.stringify(message)}`);
}

const isFailure = (value: unknown): value is FailureParts =>
  isObject(value) && typeof value['exitCode'] === 'number' && typeof value['message'] === 'string';
