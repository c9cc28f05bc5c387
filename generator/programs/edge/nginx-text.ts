/**
 * Text in the language of nginx.conf. The template refuses to write anything but such text and numbers, so that
 * whatever comes from a snapshot or an operator goes through one of these functions.
 */
import { join } from 'node:path';
import { Eta } from 'eta';
import { Failure } from '../../base/errors.js';
import { PROJECT_FOLDER } from '../../base/package.js';

/** The control characters of ASCII: nginx knows no others. */
const CONTROL = /(?!\P{ASCII})\p{Cc}/u;

class Text {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
export type NginxText = Text;

/** The value of a variable within a string. */
export class Variable {
  readonly name: string;
  constructor(name: string) {
    if (!/^[a-z_]+$/.test(name)) throw new TypeError(`${JSON.stringify(name)}: expected a name`);
    this.name = name;
  }
}

/** A string of exactly these pieces. @throws Failure usage: it has control characters */
export const quoted = (...pieces: readonly (string | Variable)[]): NginxText =>
  new Text(
    `"${pieces.map((piece) => (piece instanceof Variable ? `\${${piece.name}}` : literal(piece))).join('')}"`,
  );

function literal(text: string): string {
  if (CONTROL.test(text))
    throw Failure.usage(
      `${JSON.stringify(text)} has control characters, which no configuration of nginx can have`,
    );
  // There is no escape for "$".
  return text.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll('$', '${dollar}');
}

/** Words without any character that has a meaning. @throws TypeError there is one */
export function words(text: string): NginxText {
  if (/^[\w.=/:[\]-]+( [\w.=/:[\]-]+)*$/.test(text)) return new Text(text);
  throw new TypeError(`${JSON.stringify(text)}: expected plain words`);
}

/**
 * A regular expression, in quotes.
 * @param mark `~` where only that tells it from a string
 * @throws TypeError it would not stay within the quotes
 */
export function pattern(text: string, mark: '' | '~' = '~'): NginxText {
  if (!CONTROL.test(text) && !/"|(^|[^\\])(\\\\)*\\$/.test(text)) return new Text(`"${mark}${text}"`);
  throw new TypeError(`${JSON.stringify(text)}: expected a pattern without quotes`);
}

/** The rest of a line of comments. */
export const comment = (text: string): NginxText => new Text(text.replaceAll(new RegExp(CONTROL, 'gu'), '?'));

/** What the template writes for a value. @throws TypeError the value is neither such text nor a number */
export function nginxText(value: unknown): string {
  if (value instanceof Text) return value.text;
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  throw new TypeError(`${JSON.stringify(value)} would be written into nginx.conf as it is`);
}

const eta = new Eta({
  views: join(PROJECT_FOLDER, 'generator/programs/edge'),
  autoEscape: true,
  escapeFunction: nginxText,
  autoTrim: false,
  cache: true,
});

/** Fills in the template next to this source, where `it` is the data with these functions. */
export const renderNginx = (data: object): string =>
  eta.render('./nginx.conf.eta', { ...data, quoted, words, pattern, comment });
