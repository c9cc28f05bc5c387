/**
 * How the values of parameters are written in URLs and file names, and as the integers that keys
 * are. Ascending keys are the order of a route's documents.
 */
import { enumerated } from '../schema/measured.js';

/** Keys from `low` to `high`, inclusive. */
export interface KeyRange {
  readonly low: number;
  readonly high: number;
}

interface KeyForm {
  /** The text, as part of a regular expression; not every match is the text of a key. */
  readonly pattern: string;
  readonly textOf: (key: number) => string;
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

/** The key of a text that matches the pattern; exact for 13 digits and fewer. */
export const prefixKey = (text: string): number => Number(`0x1${text}`);

const DECIMAL: KeyForm = { pattern: String.raw`\d+`, textOf: String, keyOf: Number };

const FORMS: Readonly<Record<string, KeyForm>> = {
  prefix: { pattern: PREFIX_PATTERN, textOf: prefixText, keyOf: prefixKey },
};

/** The texts of parameters that are no keys. */
const TEXTS: Readonly<Record<string, string>> = {
  asset: '[a-z][a-z0-9-]*-[0-9a-f]{10}',
  platform_id: '[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}',
};

/** An id of the platform with such an end has no path: static hosts would take it for the name of a file. */
export const UNPLAIN_ENDS = ['.json', '.gz', '.br', '.html'] as const;

/** Describes an id of the platform that has a path. */
export const PLATFORM_ID_TEXT = `1 to 100 letters, digits, ".", "_" and "-", not beginning with "." or ending in ${enumerated(UNPLAIN_ENDS, 'or')}`;

const PLAIN = new RegExp(`^${TEXTS['platform_id']}$`);

/** Whether an id of the platform can be a part of a path, and of the name of a file, as it is. */
export const isPlainId = (text: string): boolean =>
  PLAIN.test(text) && !UNPLAIN_ENDS.some((end) => text.endsWith(end));

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
