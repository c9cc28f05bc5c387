/**
 * The keys of a feed's archive documents, as the text in URLs and as integers in order of time:
 * `2026-10`, `2026-11-00001`, `2026-11-00002`, `2026-11`, `2026-12`. Full documents of a month are
 * numbered and final. Once the month is over, its remaining entries become the document with the
 * month's own name.
 */
import { Failure } from '../errors.js';

/** More than a month can have: 99,998 numbered parts and the last. */
const PARTS = 100_000;
const LAST_PART = PARTS - 1;
const DIGITS = String(LAST_PART).length;

/** The text of a key, as part of a regular expression. */
export const ARCHIVE_PATTERN = String.raw`\d{4}-\d{2}(?:-\d{${DIGITS}})?`;

/** The last document of a month (`2026-11`). */
export const lastPart = (month: string): number => monthNumber(month) * PARTS + LAST_PART;

/**
 * The key of a full document of a month, counted from 1.
 * @throws Failure invalid: the month has too many
 */
export function numberedPart(month: string, number: number): number {
  if (number < LAST_PART) return monthNumber(month) * PARTS + number;
  throw Failure.invalid(
    `the changes of ${month} fill ${number} feed documents, expected fewer than ${LAST_PART}`,
  );
}

const monthNumber = (month: string): number => Number(month.replace('-', ''));

/** 20261199999 -> `2026-11`, 20261100002 -> `2026-11-00002`. */
export function archiveText(key: number): string {
  const part = key % PARTS;
  const digits = String(Math.floor(key / PARTS)).padStart(6, '0');
  const month = `${digits.slice(0, -2)}-${digits.slice(-2)}`;
  return part === LAST_PART ? month : `${month}-${String(part).padStart(DIGITS, '0')}`;
}

/** The key of a text that matches the pattern. */
export function archiveKey(text: string): number {
  const [year = '', month = '', part] = text.split('-');
  return Number(year + month) * PARTS + (part === undefined ? LAST_PART : Number(part));
}
