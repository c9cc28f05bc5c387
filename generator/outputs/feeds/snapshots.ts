/**
 * The feed of snapshots, derived from the change index and so from build times. Like that index, it
 * is not part of the tree's digest.
 */
import { FEEDS, FEED_FORMATS, documentFile } from '../../routes/feeds.js';
import { PATHS } from '../../routes/paths.js';
import type { Change } from '../../tree/changes.js';
import type { RenderSnapshotFeed } from '../../publish/plan.js';
import { NEVER, tag, type FeedEntry, type FeedOperator } from './document.js';
import { wordsIn } from '../../schema/words.js';
import { anchor, list, type Fact } from './entries.js';
import { RENDERED } from './render.js';
import { escaped } from './text.js';

const { name, title, description } = FEEDS.snapshots;

/** @param measured the kinds that the register measures, in the plural */
export const snapshotFeed =
  (operator: FeedOperator, measured: readonly string[]): RenderSnapshotFeed =>
  (all) => {
    const changes = all.filter(({ counts }) => Object.values(counts).some(isOne));
    const document = (file: string) => ({
      id: tag(operator, `feeds/${name}`),
      title: `${operator.name}: ${title}`,
      description,
      updated: changes[0]?.built_at ?? NEVER,
      self: `${operator.baseUrl}/${file}`,
      entries: changes.map((change) => entryOf(change, operator, measured)),
    });
    return FEED_FORMATS.map((format) => {
      const file = documentFile(FEEDS.snapshots, format);
      return { file, body: RENDERED[format](document(file), operator) };
    });
  };

type ChangeCounts = Change['counts'][string];

/** Whether any record changed. */
const isOne = ({ added, changed, removed }: ChangeCounts): boolean => added + changed + removed > 0;

const countsIn = ({ added, changed, removed }: ChangeCounts): string =>
  `${added} added, ${changed} changed, ${removed} removed`;

function entryOf(
  { sequence, from, as_of, built_at, counts, bundle }: Change,
  operator: FeedOperator,
  measured: readonly string[],
): FeedEntry {
  const kinds = Object.entries(counts);
  const inWords = wordsIn(operator);
  const sum = (of: (count: ChangeCounts) => number): number =>
    kinds.reduce((total, [, count]) => total + of(count), 0);
  const added = sum((count) => count.added);
  const facts: readonly Fact[] = [
    ...(from === null ? [] : [['Follows', `snapshot ${from}`] as const]),
    ['Newest measurement', as_of ?? 'none'],
    ['Built at', built_at],
    ...kinds
      .filter(([kind]) => measured.includes(kind))
      .map(([kind, count]) => [escaped(inWords(kind)), countsIn(count)] as const),
  ];
  const url = operator.baseUrl + (bundle?.file ?? PATHS.changes);
  return {
    id: tag(operator, `snapshot/${sequence}`),
    title:
      `Snapshot ${sequence}: ${added} ${added === 1 ? 'record' : 'records'} added,` +
      ` ${sum((count) => count.changed)} changed, ${sum((count) => count.removed)} removed`,
    content: `${list(facts)}<p>${anchor(url, bundle === null ? 'The newest snapshots' : 'Everything that it changed')}</p>`,
    published: built_at,
    url,
  };
}
