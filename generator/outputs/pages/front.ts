/** The front page: what can be looked up, the largest group's readings, what moved, and how to use it. */
import type { Operator } from '../../config/config.js';
import { firstMeasurement, type Overview, type Population } from '../../register/overview.js';
import { moversRoute } from '../../routes/lists.js';
import { ROUTES, filler, routeNamed, urlTemplate } from '../../routes/index.js';
import type { Route } from '../../routes/index.js';
import { LARGEST_LIMIT } from '../../routes/endpoints.js';
import { recordPage } from '../../routes/record-pages.js';
import type { Kind } from '../../schema/field.js';
import { enumerated } from '../../schema/measured.js';
import type { Measured } from '../../schema/measured.js';
import { allWords, capitalized, wordsIn } from '../../schema/words.js';
import type { InWords, Words } from '../../schema/words.js';
import { PublishedDocuments } from './documents.js';
import type { LargestGroup, ListedMover, ReadDocument, Renaming } from './documents.js';
import { SIDE, lineChart } from './line-chart.js';
import type { LookupField } from './lookup-field.js';
import { arrivalsIn, changesIn } from './news.js';
import { questions } from './questions.js';
import { sample } from './sample.js';
import { HEIGHT, WIDTH, sparkline } from './sparkline.js';
import type { Reading } from './series.js';
import { amount, day, integer, moment, shortDay, signed } from './words.js';

const SHOWN_LARGEST = 10;
const SHOWN_MOVERS = 5;
const SHOWN_RENAMED = 6;
/** What is older than this, at the newest measurement, is not called new: 365 days. */
const LATELY_MS = 365 * 86_400_000;

interface NamedRecord {
  readonly kind: Kind;
  readonly id: number;
  /** Null if it was not measured. */
  readonly name: string | null;
}

/** Where the page of a record is. */
const pageOf = ({ kind, id }: Pick<NamedRecord, 'kind' | 'id'>): string =>
  filler(routeNamed(ROUTES, recordPage(kind)).path)(id);

/** Links to the page of a record. What has no name that can be seen is called by its id. */
const linker =
  (inWords: InWords) =>
  ({ kind, id, name }: NamedRecord) => ({
    url: pageOf({ kind, id }),
    name: isVisible(name) ? name : undefined,
    instead: inWords(`${capitalized(kind)} ${id}`),
  });

type Linker = ReturnType<typeof linker>;

/** Whether a name has a character that is neither a space nor invisible. */
const isVisible = (name: string | null): boolean =>
  name !== null && /[^\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(name);

const at = (time: string) => ({ time, day: shortDay(time), words: moment(time) });

/** A line of readings in words, for those who don't see it. */
function lineInWords(readings: readonly Reading[]): string {
  const [first, last] = [readings.at(0), readings.at(-1)];
  if (first === undefined || last === undefined) return '';
  const ends = `${integer(first.member_count)} members in the first, ${integer(last.member_count)} in the last`;
  return `${amount(readings.length, 'reading')} from ${day(first.measured_at)} to ${day(last.measured_at)}: ${ends}`;
}

const spark = (readings: readonly Reading[]) => ({ line: sparkline(readings), text: lineInWords(readings) });

/** The line of the first of some groups that has readings to draw. */
function picture(
  groups: readonly LargestGroup[],
  documents: PublishedDocuments,
  linkTo: Linker,
  inWords: InWords,
) {
  for (const [index, { id, name }] of groups.entries()) {
    const readings = documents.readings(id);
    const chart = lineChart(readings);
    const [first, last] = [readings.at(0), readings.at(-1)];
    if (chart === undefined || first === undefined || last === undefined) continue;
    const { peak } = chart;
    const highest = peak && readings[peak.index];
    const change = documents.monthlyChange(id);
    return {
      ...linkTo({ kind: 'group', id, name }),
      what: inWords(index === 0 ? 'The largest group' : 'The largest group with readings'),
      chart,
      side: SIDE,
      text: lineInWords(readings),
      readings: amount(readings.length, 'reading'),
      gaps: chart.gaps.length,
      base: integer(chart.base),
      first: { members: integer(first.member_count), ...at(first.measured_at) },
      last: { members: integer(last.member_count), ...at(last.measured_at) },
      peak: highest && {
        // The ends have their numbers below the axis.
        label: highest === last || highest === first ? 'Peak' : `Peak ${integer(highest.member_count)}`,
        day: highest === last || highest === first ? '' : shortDay(highest.measured_at),
      },
      change: change === null ? undefined : signed(change),
    };
  }
  return undefined;
}

const moved = (documents: PublishedDocuments, linkTo: Linker) => (mover: ListedMover) => ({
  ...linkTo({ kind: 'group', ...mover }),
  delta: signed(mover.delta),
  from: { members: integer(mover.from), ...at(mover.from_at) },
  to: { members: integer(mover.to), ...at(mover.to_at) },
  // From the reading that the change begins with.
  ...spark(documents.readings(mover.id).filter(({ measured_at }) => measured_at >= mover.from_at)),
});

/** The newest new names, unless they are old news. */
const renamedLately = (kind: Kind, renamings: readonly Renaming[], asOf: string | null, linkTo: Linker) =>
  renamings
    .filter(
      ({ changed_at, measured_at }) =>
        asOf !== null && Date.parse(changed_at ?? measured_at) > Date.parse(asOf) - LATELY_MS,
    )
    .slice(0, SHOWN_RENAMED)
    .map(renamed(kind, linkTo));

const renamed =
  (kind: Kind, linkTo: Linker) =>
  ({ id, from, to, changed_at, measured_at, previous_measured_at }: Renaming) => ({
    ...linkTo({ kind, id, name: to }),
    from: isVisible(from) ? from : undefined,
    fromInstead: from === null ? 'not measured' : 'an empty name',
    changed: changed_at === null ? undefined : at(changed_at),
    after: previous_measured_at === null ? undefined : at(previous_measured_at),
    read: at(measured_at),
  });

const ranked = (documents: PublishedDocuments, linkTo: Linker) => (group: LargestGroup) => {
  const change = documents.monthlyChange(group.id);
  return {
    ...linkTo({ kind: 'group', ...group }),
    rank: group.rank,
    members: integer(group.member_count),
    read: at(group.measured_at),
    change: change === null ? undefined : signed(change),
    ...spark(documents.readings(group.id)),
  };
};

/** The totals in one line: kinds with records, then what their histories hold. */
function totals(
  populations: readonly Population[],
  documents: PublishedDocuments,
  words: Words | undefined,
): readonly string[] {
  const called = allWords(words);
  const histories = documents.histories();
  return [
    ...populations.map(({ resource: { kind }, records }) => {
      const { one, many } = called[kind];
      return [records, one, many] as const;
    }),
    ...(histories === undefined
      ? []
      : ([
          [histories.member_readings, 'reading of member counts', 'readings of member counts'],
          [histories.name_changes + histories.username_changes, 'change of name', 'changes of name'],
          [histories.owner_changes, 'change of owner', 'changes of owner'],
        ] as const)),
  ].flatMap(([count, one, many]) => (count === 0 ? [] : `${integer(count)} ${count === 1 ? one : many}`));
}

/** A request to try and its response: the largest group, or a record of another kind. */
function example({ populations }: Overview, table: readonly Route[], documents: PublishedDocuments) {
  for (const { resource, samples } of populations) {
    const [id] = samples;
    if (id === undefined) continue;
    const [name, key] =
      resource.kind === 'group' ? ['largest', LARGEST_LIMIT.minimum] : [resource.record.route, id];
    const body = documents.text(name, key);
    if (body !== undefined)
      return { path: filler(urlTemplate(routeNamed(table, name)))(key), response: sample(body) };
  }
  return undefined;
}

/** What a record is good for, for those without scripts: one of the first kind that has any. */
function addresses(populations: readonly Population[], table: readonly Route[]) {
  for (const { resource, samples } of populations) {
    const [id] = samples;
    if (id !== undefined)
      return {
        url: pageOf({ kind: resource.kind, id }),
        json: filler(routeNamed(table, resource.record.route).path)(id),
      };
  }
  return undefined;
}

/** What feeds announce, as they find it. */
function feedsText(measured: Measured): string {
  const changes = changesIn(measured);
  const news = changes.length > 0 ? changes : arrivalsIn(measured);
  return news.length === 0
    ? 'new snapshots, as they are published'
    : `new ${enumerated(news)}, as they are found`;
}

/**
 * The data for the template of the front page.
 * @param read reads documents of this snapshot, some 40 of them
 */
export function frontPage(
  { baseUrl, platform, headline, introduction, words }: Operator,
  overview: Overview,
  table: readonly Route[],
  lookup: LookupField,
  read: ReadDocument,
) {
  const { populations, measured, asOf } = overview;
  const inWords = wordsIn(words);
  const linkTo = linker(inWords);
  const documents = new PublishedDocuments(read);
  const largest = documents.largest(SHOWN_LARGEST);
  const { gains, losses } = documents.movers('d30');
  const { group_names, usernames } = documents.recent();
  const first = firstMeasurement(populations);
  const tried = example(overview, table, documents);
  return {
    headline,
    introduction,
    questions: questions(populations, measured, platform, inWords),
    lookup,
    addresses: addresses(populations, table),
    picture: picture(largest, documents, linkTo, inWords),
    movers: [
      { title: 'Gained', groups: gains.slice(0, SHOWN_MOVERS).map(moved(documents, linkTo)) },
      { title: 'Lost', groups: losses.slice(0, SHOWN_MOVERS).map(moved(documents, linkTo)) },
    ].filter(({ groups }) => groups.length > 0),
    moversPath: routeNamed(table, moversRoute('d30')).path,
    renamed: [
      { title: inWords('Groups'), records: renamedLately('group', group_names, asOf, linkTo) },
      { title: inWords('Users'), records: renamedLately('user', usernames, asOf, linkTo) },
    ].filter(({ records }) => records.length > 0),
    recentPath: routeNamed(table, 'recent').path,
    groups: largest.map(ranked(documents, linkTo)),
    hasReadings: measured.has('group_member_readings'),
    spark: { width: WIDTH, height: HEIGHT },
    totals: totals(populations, documents, words),
    asOf: asOf === null ? undefined : at(asOf),
    since: first === null ? undefined : at(first),
    example: tried && { ...tried, url: baseUrl + tried.path },
    feedsText: inWords(feedsText(measured)),
  };
}
