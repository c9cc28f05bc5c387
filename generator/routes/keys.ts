/**
 * How the values of parameters are written in URLs and file names, and as the integers that keys
 * are. Ascending keys are the order of a route's documents.
 */
import { ARCHIVE_PATTERN, archiveKey, archiveText } from './archive-keys.js';
import { PREFIX_PATTERN, prefixKey, prefixText } from './prefix-keys.js';
import { TILE_PATTERN, tileKey, tileText } from './tile-keys.js';

export interface KeyForm {
  /** The text, as part of a regular expression; not every match is the text of a key. */
  readonly pattern: string;
  readonly textOf: (key: number) => string;
  /** The key of a text that matches the pattern. */
  readonly keyOf: (text: string) => number;
}

const DECIMAL: KeyForm = { pattern: String.raw`\d+`, textOf: String, keyOf: Number };

const FORMS: Readonly<Record<string, KeyForm>> = {
  month: { pattern: ARCHIVE_PATTERN, textOf: archiveText, keyOf: archiveKey },
  prefix: { pattern: PREFIX_PATTERN, textOf: prefixText, keyOf: prefixKey },
  tile: { pattern: TILE_PATTERN, textOf: tileText, keyOf: tileKey },
};

/** Segments of letters, digits, `.`, `_` and `-`, none of which begins with a dot. */
const SEGMENT = '[0-9A-Za-z_-][0-9A-Za-z._-]*';

/** The texts of parameters that are no keys: the index has none of the files. */
const TEXTS: Readonly<Record<string, string>> = {
  asset: '[a-z][a-z0-9-]*-[0-9a-f]{10}',
  tree: '[0-9a-f]{16}',
  path: `${SEGMENT}(?:/${SEGMENT})*`,
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
