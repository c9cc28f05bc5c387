/** Regular expressions for the values of parameters, as PCRE and RE2 both read them. */
import { UNPLAIN_ENDS, literalPattern, templatePattern, textPattern } from '../../routes/keys.js';
import { MAX_INTEGER } from '../../schema/shape.js';
import type { SnapshotRoute } from '../../tree/snapshot-json.js';

/** Decimals without sign or leading zero, from 0 to `maximum`. */
export function decimalsUpTo(maximum: number): string {
  const digits = String(maximum);
  // Numbers with fewer digits, then those whose first different digit is lower, then the maximum.
  const shorter = digits.length > 1 ? [`[1-9][0-9]{0,${digits.length - 2}}`] : [];
  const lower = digits.split('').flatMap((digit, index) => {
    const lowest = index === 0 && digits.length > 1 ? 1 : 0;
    if (Number(digit) <= lowest) return [];
    const rest = digits.length - index - 1;
    return `${digits.slice(0, index)}[${lowest}-${Number(digit) - 1}]${rest > 0 ? `[0-9]{${rest}}` : ''}`;
  });
  return `(?:${[...(digits.length > 1 ? ['0'] : []), ...shorter, ...lower, digits].join('|')})`;
}

/** A value of a parameter of type `id`. */
const ID = decimalsUpTo(MAX_INTEGER);

type RouteParameter = NonNullable<SnapshotRoute['parameters']>[number];
export type QueryParameter = Extract<RouteParameter, { in: 'query' }>;

/** A valid value of a parameter. */
export function valuePattern(parameter: RouteParameter): string {
  if (parameter.type === 'id') return ID;
  const text = textPattern(parameter.type);
  if (parameter.type === 'platform_id')
    return text + UNPLAIN_ENDS.map((end) => `(?<!${literalPattern(end)})`).join('');
  if (parameter.in === 'path') return text;
  const { minimum, maximum } = parameter;
  const tooLow = minimum > 0 ? `(?!${decimalsUpTo(minimum - 1)}(?:&|$))` : '';
  return tooLow + decimalsUpTo(maximum);
}

/** A parameter's name in a query, each character as itself or percent-encoded. */
export const namePattern = (name: string): string =>
  name
    .split('')
    .map((character) => `(?:${character}|%${escapePattern(character)})`)
    .join('');

const escapePattern = (character: string): string =>
  character
    .charCodeAt(0)
    .toString(16)
    .replace(/[a-f]/, (digit) => `[${digit}${digit.toUpperCase()}]`);

/** A path template with something in the place of each parameter: `/group/{id}` -> `^/group/[^/]*$`. */
export const pathPattern = (template: string, replace: (name: string) => string): string =>
  `^${templatePattern(template, replace)}$`;

/** An Accept-Encoding that accepts a coding: it is there with a weight other than 0 (RFC 9110 §12.5.3). */
export const codingPattern = (coding: string): string =>
  String.raw`(?i)(?:^|,)[ \t]*${coding}[ \t]*(?:;[ \t]*q=(?:1(?:\.0{0,3})?|0\.0{0,2}[1-9][0-9]{0,2})[ \t]*)?(?:,|$)`;

/** A token (RFC 9110 §5.6.2). */
const TOKEN = "[!#$%&'*+.^_`|~0-9a-z-]+";
const WEIGHT = String.raw`(?:0(?:[.][0-9]{0,3})?|1(?:[.]0{0,3})?)`;
const PARAMETER = String.raw`(?!q=(?!${WEIGHT}[ \t]*(?:[;,]|$)))${TOKEN}=${TOKEN}`;
/** A media range with its parameters (RFC 9110 §12.5.1), none of them in quotes. */
const MEDIA_RANGE = String.raw`${TOKEN}/${TOKEN}(?:[ \t]*;[ \t]*${PARAMETER})*`;
/** A media range that includes a problem document, with weight 1. */
const PROBLEM = String.raw`(?:application/(?:problem[+]json|json|[*])|[*]/[*])(?![ \t]*;[ \t]*q=0)[ \t]*(?:[;,]|$)`;
const HTML = String.raw`text/html[ \t]*(?:;[ \t]*q=1(?:[.]0{0,3})?[ \t]*)?(?:,|$)`;

/**
 * An Accept that prefers HTML to a problem document: well-formed, with text/html of weight 1 and
 * nothing of weight 1 that includes the problem document. A pattern can't compare other weights, so
 * some clients get the problem document that would get HTML from the proxy.
 */
export const HTML_PATTERN =
  String.raw`(?i)^(?!(?:.*,)?[ \t]*${PROBLEM})(?=(?:.*,)?[ \t]*${HTML})` +
  String.raw`[ \t,]*${MEDIA_RANGE}(?:[ \t]*,(?:[ \t]*${MEDIA_RANGE})?)*[ \t]*$`;

/** A path that people may open though no route has it: without extension, and not where errors are for programs. */
export const pagePattern = (problemsBelow: readonly string[]): string =>
  `^(?!(?:${problemsBelow.map(literalPattern).join('|')})(?:/|$)).*/[^/.]*$`;
