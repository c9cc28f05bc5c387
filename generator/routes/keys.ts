/**
 * How the values of parameters are written in URLs and file names, and as the integers that keys
 * are. Ascending keys are the order of a route's documents.
 */
import { Failure } from '../base/errors.js';

interface KeyForm {
  /** The text, as part of a regular expression; not every match is the text of a key. */
  readonly pattern: string;
  readonly textOf: (key: number) => string;
  /** The text as an SQL expression of `key`. */
  readonly sql: string;
  /** The key of a text that matches the pattern. */
  readonly keyOf: (text: string) => number;
}

// Prefixes: the keys of documents that hold all entries whose hash has one prefix. The integer is the
// prefix as a hexadecimal number after a digit 1, from which the number of digits can be read: `0` is 16
// (0x10), `ff` is 511 (0x1ff), `00a` is 4106 (0x100a).

/** The longest prefix that clients may ask for: 64 bits. Published ones are much shorter. */
export const PREFIX_DIGITS = 16;

/** The text of a prefix, as part of a regular expression. */
const PREFIX_PATTERN = `[0-9a-f]{1,${PREFIX_DIGITS}}`;

/** 511 -> `ff`. */
const prefixText = (key: number): string => key.toString(16).slice(1);

const PREFIX_SQL = `substr(printf('%x', key), 2)`;

/** The key of a text that matches the pattern; exact for 13 digits and fewer. */
export const prefixKey = (text: string): number => Number(`0x1${text}`);

// Months: the keys of a feed's archive documents, in order of time: `2026-10`, `2026-11-00001`,
// `2026-11-00002`, `2026-11`, `2026-12`. Full documents of a month are numbered and final. Once the month
// is over, its remaining entries become the document with the month's own name.

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

const ARCHIVE_SQL =
  `printf('%04d-%02d', key / ${PARTS} / 100, key / ${PARTS} % 100) ||` +
  ` iif(key % ${PARTS} = ${LAST_PART}, '', printf('-%0${DIGITS}d', key % ${PARTS}))`;

/** The key of a text that matches the pattern. */
export function archiveKey(text: string): number {
  const [year = '', month = '', part] = text.split('-');
  return Number(year + month) * PARTS + (part === undefined ? LAST_PART : Number(part));
}

const DECIMAL: KeyForm = { pattern: String.raw`\d+`, textOf: String, sql: 'key', keyOf: Number };

const FORMS: Readonly<Record<string, KeyForm>> = {
  month: { pattern: ARCHIVE_PATTERN, textOf: archiveText, sql: ARCHIVE_SQL, keyOf: archiveKey },
  prefix: { pattern: PREFIX_PATTERN, textOf: prefixText, sql: PREFIX_SQL, keyOf: prefixKey },
};

/** The texts of parameters that are no keys: the index has none of the files. */
const TEXTS: Readonly<Record<string, string>> = {
  asset: '[a-z][a-z0-9-]*-[0-9a-f]{10}',
};

/** The texts of a parameter, by its name in templates, as part of a regular expression. */
export const textPattern = (parameter: string): string => TEXTS[parameter] ?? keyForm(parameter).pattern;

/** The form of a parameter's values, by its name in templates. */
export const keyForm = (parameter: string): KeyForm => FORMS[parameter] ?? DECIMAL;

/** A text as a part of a regular expression that matches nothing else. */
export const literalPattern = (text: string): string =>
  text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);

/**
 * A template as a part of a regular expression.
 * @param replace the pattern in the place of a parameter, by its name
 */
export const templatePattern = (template: string, replace: (name: string) => string): string =>
  template
    .split(/(\{\w+\})/)
    .map((piece) => (piece.startsWith('{') ? replace(piece.slice(1, -1)) : literalPattern(piece)))
    .join('');
