import { CODINGS, type Coding } from '../tree/read.js';

/** Which content codings (RFC 9110 §8.4.1) and which form of an error a client accepts. Pure. */

/** A member of Accept-Encoding, with its weight (RFC 9110 §12.4.2). */
const MEMBER =
  /^[ \t]*([!#$%&'*+.^_`|~0-9a-z-]+)[ \t]*(?:;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*)?$/i;

/**
 * The codings that a client accepts and prefers to no coding, best first (RFC 9110 §12.5.3). A
 * client without the field gets no coding, although any would be acceptable. The uncompressed file
 * may always be sent, even if the client excludes it: that is more useful than a 406.
 *
 * @param field the value of Accept-Encoding; malformed members are ignored
 */
export function acceptedCodings(field: string | undefined): readonly Coding[] {
  if (field === undefined || field === '') return [];
  const weights = new Map<string, number>();
  for (const member of field.split(',')) {
    const [, name, weight = '1'] = MEMBER.exec(member) ?? [];
    if (name === undefined) continue;
    // x-gzip means gzip (RFC 9110 §8.4.1.3).
    const coding = name.toLowerCase().replace(/^x-gzip$/, 'gzip');
    if (!weights.has(coding)) weights.set(coding, Number(weight));
  }
  const weigh = (coding: string): number => weights.get(coding) ?? weights.get('*') ?? 0;
  const none = weigh('identity');
  return CODINGS.filter((coding) => weigh(coding) > 0 && weigh(coding) >= none).toSorted(
    (a, b) => weigh(b) - weigh(a),
  );
}

/** A media range without its parameters, and these (RFC 9110 §12.5.1). */
const MEDIA_RANGE =
  /^([!#$%&'*+.^_`|~0-9a-z-]+\/[!#$%&'*+.^_`|~0-9a-z-]+)((?:[ \t]*;[ \t]*[!#$%&'*+.^_`|~0-9a-z-]+=(?:[!#$%&'*+.^_`|~0-9a-z-]+|"[^"\\]*"))*)$/i;
const WEIGHT = /;[ \t]*q=([^; \t]*)/i;
const VALID_WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;
/** The media types of a problem document, each from the most to the least specific range. */
const PROBLEM_RANGES = ['application/problem+json', 'application/json'].map((type) => [
  type,
  'application/*',
  '*/*',
]);

/**
 * Whether a client prefers an HTML page to a problem document: it names text/html, with a higher
 * weight than it gives both application/problem+json and application/json. Parameters of media
 * types make no difference; of several weights, the highest counts.
 *
 * @param field the value of Accept. Without it, and if any member is malformed, nobody prefers HTML
 */
export function prefersHtml(field: string | undefined): boolean {
  if (field === undefined) return false;
  const weights = new Map<string, number>();
  for (const member of field.split(',')) {
    const text = member.trim();
    // Members may be empty (RFC 9110 §5.6.1.2).
    if (text === '') continue;
    const [, range, parameters = ''] = MEDIA_RANGE.exec(text) ?? [];
    const [, weight = '1'] = WEIGHT.exec(parameters) ?? [];
    if (range === undefined || !VALID_WEIGHT.test(weight)) return false;
    const type = range.toLowerCase();
    weights.set(type, Math.max(weights.get(type) ?? 0, Number(weight)));
  }
  const html = weights.get('text/html') ?? 0;
  return PROBLEM_RANGES.every((ranges) => {
    const range = ranges.find((candidate) => weights.has(candidate));
    return html > (range === undefined ? 0 : (weights.get(range) ?? 0));
  });
}
