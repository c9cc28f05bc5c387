import type { QueryParameter } from '../tree/snapshot.js';

/** Validates the values of parameters, and says what was expected. Pure. */

/** Longer values are cut in errors. */
export const QUOTED_MAX_LENGTH = 100;

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])(?:-\d{5})?$/;
const PREFIX = /^[0-9a-f]{1,16}$/;
const DECIMAL = /^(?:0|[1-9][0-9]*)$/;
const LARGEST = String(Number.MAX_SAFE_INTEGER);

/** A month such as 2026-11, or a numbered part of one such as 2026-11-00001. */
export function isMonth(text: string): boolean {
  return MONTH.test(text);
}

/** 1 to 16 lower-case hexadecimal digits. */
export function isPrefix(text: string): boolean {
  return PREFIX.test(text);
}

export function expectedPrefix(name: string, value: string): string {
  return `${name} ${quote(value)}: expected 1 to 16 lower-case hexadecimal digits`;
}

/** A decimal without sign or leading zero, up to 2^53-1. */
export function isId(text: string): boolean {
  if (text.length > LARGEST.length || !DECIMAL.test(text)) return false;
  // Decimals of equal length have the same order as text.
  return text.length < LARGEST.length || text <= LARGEST;
}

export function expectedId(name: string, value: string): string {
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
