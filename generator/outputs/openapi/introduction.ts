/** What is common to all endpoints, in CommonMark. */
import type { SiteConfig } from '../../config/config.js';
import { OWNER_CASES } from '../../schema/group.js';
import { enumerated, enumeratedKinds, measuredKinds, type Measured } from '../../schema/measured.js';
import { licenceText, pageLimitText, rateLimitText } from '../api-index.js';

/** The values of measured absences, and the kinds that have them. */
const ABSENCES: readonly (readonly [words: string, ...kinds: string[]])[] = [
  ['`owner_state` is `none`', 'groups'],
  ['`price_state` is `unlisted`', 'items'],
  ['a description is empty', 'groups', 'games', 'items'],
];

/** `A measured absence has a value of its own: …`, if the register measures a kind that has one. */
function absencesIn(measured: Measured): string {
  const found = ABSENCES.flatMap(([words, ...kinds]) => (measured.hasAny(kinds) ? [words] : []));
  if (found.length === 0) return '';
  return `A measured absence has a value of its own: ${enumerated(found, 'or')}. `;
}

export function introduction({ operator, limits }: SiteConfig, measured: Measured): string {
  const kinds = measuredKinds(measured);
  return [
    `Measured records of ${enumeratedKinds(kinds)} on ${operator.platform}. Every value was measured; none is estimated.`,
    'In records and histories, `null` means that a value was not measured, or that it is not published because the owner or creator is withheld. ' +
      `${absencesIn(measured)}Zero means that zero was measured.`,
    ...(measured.has('groups') ? [ownerTable()] : []),
    'Times follow RFC 3339, in UTC and whole seconds. Ids are decimal integers up to 2^53 - 1. Texts are published exactly as read. Unknown query parameters are ignored.',
    'HEAD returns the same headers as GET, without a body. OPTIONS returns 204 with the headers that a browser’s preflight expects: any web page may read the API. Any other method gets a 405 with `Allow: GET, HEAD, OPTIONS`. A path with a trailing slash or an unnecessary escape (`%34` for `4`) is redirected by a 308 to the path without it.',
    `${rateLimitText(limits)} ${pageLimitText(limits)} Every GET and HEAD counts, even if the response is a 304 or 404. A download also counts as a request. A HEAD request for a download, or a 304 or 412 response, counts only as a request. A range counts as its share of the file, at least one hundredth of a download. A refused request doesn’t count: wait for as long as \`Retry-After\` says. The number of connections from one client is also limited.`,
    '`Cache-Control` says how long a response may be cached. After that, send `If-None-Match`: a 304 has no body. Any file can be read in parts by `Range`, which is described for bundles of changes: send `If-Match` with it, and a 412 means that the file was replaced. If you need many records, use the bulk downloads or follow the changes.',
    'Errors are `application/problem+json` (RFC 9457) with a stable `error` code, including those for paths at which nothing is published.',
    `Fields are only ever added, so ignore those you don’t know. Removing one takes a new path prefix, announced in the headers \`Deprecation\` and \`Sunset\`.`,
    licenceText(operator),
  ].join('\n\n');
}

/** The combinations of `owner_state` and `owner`. */
const ownerTable = (): string =>
  [
    '| `owner_state` | `owner` is an object | `owner` is null |',
    '| --- | --- | --- |',
    ...OWNER_CASES.map((each) => `| \`${each.state}\` | ${each.object ?? 'impossible'} | ${each.null} |`),
  ].join('\n');
