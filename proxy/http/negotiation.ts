import { CODINGS, type Coding } from '../tree/files.js';

/** Which content codings (RFC 9110 §8.4.1) and which form of an error a client accepts. Pure. */

const TOKEN = "[!#$%&'*+.^_`|~0-9a-z-]+";
/** A coding or a media range, and its parameters (RFC 9110 §12.5.1). */
const MEMBER = new RegExp(
  String.raw`^(${TOKEN}(?:/${TOKEN})?)((?:[ \t]*;[ \t]*${TOKEN}=(?:${TOKEN}|"[^"\\]*"))*)$`,
  'i',
);
/** The parameter that is a weight (RFC 9110 §12.4.2). */
const WEIGHT = /;[ \t]*q=([^; \t]*)/i;
const VALID_WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/**
 * Parses the weights of a field. Of several weights of a name, the highest counts.
 *
 * @param malformed whether a malformed member makes the whole field count for nothing, or just itself
 * @returns the weight of the first of some names (in lower case) that the field has; 0 if it has none
 */
function parseWeights(field: string, malformed: 'refuse' | 'skip'): (...names: readonly string[]) => number {
  const weights = new Map<string, number>();
  // Members may be empty (RFC 9110 §5.6.1.2).
  for (const member of field.split(',').filter((text) => text.trim() !== '')) {
    const [, name = '', parameters = ''] = MEMBER.exec(member.trim()) ?? [];
    const [, weight = '1'] = WEIGHT.exec(parameters) ?? [];
    const key = name.toLowerCase();
    if (key !== '' && VALID_WEIGHT.test(weight))
      weights.set(key, Math.max(weights.get(key) ?? 0, Number(weight)));
    else if (malformed === 'refuse') return () => 0;
  }
  return (...names) => weights.get(names.find((name) => weights.has(name)) ?? '') ?? 0;
}

/**
 * The codings that a client accepts and prefers to no coding, best first (RFC 9110 §12.5.3). A
 * client without the field gets no coding, although any would be acceptable. The uncompressed file
 * may always be sent, even if the client excludes it: that is more useful than a 406.
 *
 * @param field the value of Accept-Encoding; malformed members are ignored
 */
export function acceptedCodings(field = ''): readonly Coding[] {
  // x-gzip means gzip (RFC 9110 §8.4.1.3).
  const weigh = parseWeights(field.replace(/\bx-gzip\b/i, 'gzip'), 'skip');
  const none = weigh('identity', '*');
  return CODINGS.filter((coding) => weigh(coding, '*') > 0 && weigh(coding, '*') >= none).toSorted(
    (a, b) => weigh(b, '*') - weigh(a, '*'),
  );
}

/**
 * Whether a client prefers an HTML page to a problem document: it names text/html, with a higher
 * weight than it gives both application/problem+json and application/json.
 *
 * @param field the value of Accept. If any member is malformed, nobody prefers HTML
 */
export function prefersHtml(field = ''): boolean {
  const weigh = parseWeights(field, 'refuse');
  return ['application/problem+json', 'application/json'].every(
    (type) => weigh('text/html') > weigh(type, 'application/*', '*/*'),
  );
}
