/** What is common to all endpoints, in CommonMark. */
import type { BuildConfig } from '../../config.js';
import { licenceText, pageLimitText, rateLimitText } from '../api-index.js';

export const introduction = ({ operator, limits }: BuildConfig): string =>
  [
    `Measured records of groups, users, games and catalogue items of ${operator.platform}. Every value was measured, none is estimated.`,
    'In records and histories `null` means "not measured", or not published: a withheld owner or creator. A measured absence has a value of its own: `owner_state` is `none`, `price_state` is `unlisted`, a description is empty. Zero is a measured zero.',
    'Times are RFC 3339 in UTC and whole seconds. Ids are decimal integers up to 2^53 - 1. Texts are exactly as read. Unknown query parameters are ignored.',
    'GET and HEAD are answered alike, HEAD without a body. OPTIONS answers 204 with what a browser’s preflight asks for: any web page may read the API. Any other method is answered by 405 with `Allow: GET, HEAD, OPTIONS`. A slash at the end of a path, and an escape that needs none (`%34` for `4`), are answered by 308 to the path without them.',
    `${rateLimitText(limits)} ${pageLimitText(limits)} Each GET and HEAD counts, 304 and 404 too; a download counts as a request as well. HEAD, 304 and 412 of a download count as requests alone, and a range as its share of the file, at least a hundredth. A request that is refused takes nothing: wait as long as \`Retry-After\` says. The connections of one client are limited, too.`,
    'Answers say in `Cache-Control` how long to keep them. After that, ask with `If-None-Match`: a 304 has no body. Whoever reads a file in parts sends `If-Match`: 412 says that it was replaced. Who needs much takes the bulk downloads, or follows the change lists.',
    'Errors are `application/problem+json` (RFC 9457) with a stable `error` code, also for paths that nothing is published at.',
    `Fields are only added, so ignore those you don’t know. A removal needs a new path prefix, and is announced by the headers \`Deprecation\` and \`Sunset\`.`,
    licenceText(operator),
  ].join('\n\n');
