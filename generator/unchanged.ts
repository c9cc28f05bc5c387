/** What a build leaves as the last snapshot has it, where it is known what changed since. */
import type { Changed } from './examine.js';
import { routeNames } from './feed-routes.js';
import type { FeedDeclaration } from './feed-routes.js';
import { stayingFeeds } from './outputs/feeds/contents.js';
import type { Publisher } from './publish/publisher.js';
import { RESOURCES } from './resources/index.js';

/**
 * Records outside the ranges stay, with their histories, and feeds that nothing changed in. To be said before any document of
 * these is published.
 * @param asOf the newest reading of the register
 * @returns those feeds
 */
export function keepUnchanged(
  publisher: Publisher,
  { ranges, tables }: Changed,
  asOf: string | null,
): readonly FeedDeclaration[] {
  for (const { kind, record, history } of RESOURCES) {
    const own = ranges.filter((range) => range.kind === kind);
    for (const document of [record, history]) {
      if (document !== undefined) publisher.keepOutside(document.route, own);
    }
  }
  const staying = stayingFeeds(tables, [asOf, publisher.previous?.as_of ?? null]);
  for (const route of staying.flatMap(routeNames)) publisher.keepOutside(route, []);
  return staying;
}
