import type { PathParameter, QueryParameter } from './snapshot.js';
import type { ErrorCode } from './headers.js';
import { NOTHING_HERE } from './request-target.js';

/** Validates the values of parameters, and says what was expected. Pure. */

/** Longer values are cut in errors. */
export const QUOTED_MAX_LENGTH = 100;

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])(?:-\d{5})?$/;
const PREFIX = /^[0-9a-f]{1,16}$/;
const ASSET = /^[a-z][a-z0-9-]*-[0-9a-f]{10}$/;
const TREE = /^[0-9a-f]{16}$/;
/** Segments that are plain and not hidden, so that no value leads out of a folder. */
const REST = /^(?!\.)[0-9A-Za-z._-]+(?:\/(?!\.)[0-9A-Za-z._-]+)*$/;
const DECIMAL = /^(?:0|[1-9][0-9]*)$/;
const LARGEST = String(Number.MAX_SAFE_INTEGER);

interface PathValues {
  readonly isValid: (text: string) => boolean;
  readonly code: ErrorCode;
  readonly expected: (name: string, value: string) => string;
}

/** For a type whose other values can't exist. */
const nothingElse = (pattern: RegExp): PathValues => ({
  isValid: (text) => pattern.test(text),
  code: 'not_found',
  expected: () => NOTHING_HERE,
});

/** The values of path parameters by type, and the error for others. */
export const PATH_VALUES: Readonly<Record<PathParameter['type'], PathValues>> = {
  id: { isValid: isId, code: 'invalid_id', expected: expectedId },
  /** 1 to 16 lower-case hexadecimal digits. */
  prefix: { isValid: (text) => PREFIX.test(text), code: 'invalid_prefix', expected: expectedPrefix },
  /** A month such as 2026-11, or a numbered part of one such as 2026-11-00001. */
  month: nothingElse(MONTH),
  /** The name of an asset with a hash of its content. */
  asset: nothingElse(ASSET),
  /** The id of a tree: 16 lower-case hexadecimal digits. */
  tree: nothingElse(TREE),
  /** The rest of a path, such as 0/x001/234.p/5. */
  path: nothingElse(REST),
};

function expectedPrefix(name: string, value: string): string {
  return `${name} ${quote(value)}: expected 1 to 16 lower-case hexadecimal digits`;
}

/** A decimal without sign or leading zero, up to 2^53-1. */
function isId(text: string): boolean {
  if (text.length > LARGEST.length || !DECIMAL.test(text)) return false;
  // Decimals of equal length have the same order as text.
  return text.length < LARGEST.length || text <= LARGEST;
}

function expectedId(name: string, value: string): string {
  return `${name} ${quote(value)}: expected decimal digits without a sign or leading zero, at most ${LARGEST}`;
}

/** A plain decimal within the bounds, or the default if there is none; otherwise undefined. */
export function readInteger(parameter: QueryParameter, texts: readonly string[]): string | undefined {
  const { minimum, maximum } = parameter;
  const [text = String(parameter.default)] = texts;
  const number = Number(text);
  const isValid = texts.length <= 1 && DECIMAL.test(text) && number >= minimum && number <= maximum;
  return isValid ? text : undefined;
}

export function expectedInteger(
  { name, minimum, maximum }: QueryParameter,
  texts: readonly string[],
): string {
  const given = texts.length > 1 ? `${name} given ${texts.length} times` : `${name} ${quote(texts[0] ?? '')}`;
  return `${given}: expected one integer from ${minimum} to ${maximum} in plain decimal digits`;
}

function quote(value: string): string {
  if (value.length <= QUOTED_MAX_LENGTH) return `"${value}"`;
  // Removes half a surrogate pair.
  return `"${value.slice(0, QUOTED_MAX_LENGTH).replace(/[\ud800-\udbff]$/, '')}…"`;
}
