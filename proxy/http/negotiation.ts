/** Content codings (RFC 9110 §8.4.1): what lies beside a file, and what a client takes of it. Pure. */

/** The codings the generator writes, the one preferred at equal weight first. */
export const CODINGS = ['br', 'gzip'] as const;
export type Coding = (typeof CODINGS)[number];

/** What is appended to the file's name, and to its entity tag. */
export const SIBLINGS: Readonly<Record<Coding, { readonly suffix: string; readonly tag: string }>> = {
  br: { suffix: '.br', tag: '-br' },
  gzip: { suffix: '.gz', tag: '-gz' },
};

/** One member of Accept-Encoding, with its weight (RFC 9110 §12.4.2). */
const MEMBER =
  /^[ \t]*([!#$%&'*+.^_`|~0-9a-z-]+)[ \t]*(?:;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*)?$/i;

/**
 * The codings a client takes and does not like less than no coding at all, best first (RFC 9110 §12.5.3). A
 * client without the field gets no coding: it could take any, but says so of none. Whatever this returns, the
 * file as it is may be sent, also to a client that excludes it: there is more use in that than in 406.
 *
 * @param field the value of Accept-Encoding; members that are malformed count for nothing
 */
export function acceptedCodings(field: string | undefined): readonly Coding[] {
  if (field === undefined || field === '') return [];
  const weights = new Map<string, number>();
  for (const member of field.split(',')) {
    const [, name, weight = '1'] = MEMBER.exec(member) ?? [];
    if (name === undefined) continue;
    // RFC 9110 §8.4.1.3 has x-gzip mean gzip.
    const coding = name.toLowerCase().replace(/^x-gzip$/, 'gzip');
    if (!weights.has(coding)) weights.set(coding, Number(weight));
  }
  const weigh = (coding: string): number => weights.get(coding) ?? weights.get('*') ?? 0;
  const none = weigh('identity');
  return CODINGS.filter((coding) => weigh(coding) > 0 && weigh(coding) >= none).toSorted(
    (a, b) => weigh(b) - weigh(a),
  );
}
