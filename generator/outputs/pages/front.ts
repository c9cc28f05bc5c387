/** The front page: what can be looked up, the largest group's readings, what moved, and how to use it. */
import type { Operator } from '../../config/operator-file.js';
import type { Register } from '../../register/database.js';
import { firstMeasurement, type Overview, type Population } from '../../register/overview.js';
import { moversRoute } from '../../routes/lists.js';
import { isMeasured, routeNamed } from '../../routes/routes.js';
import { filler, urlTemplate, type Route } from '../../routes/route.js';
import { LARGEST_LIMIT } from '../../routes/endpoints.js';
import type { Kind } from '../../schema/field.js';
import { enumerated, type Measured } from '../../schema/measured.js';
import { allWords, wordsIn, type InWords, type Words } from '../../schema/words.js';
import { RANKED, SHOWN_RECORDS, boardsOf, shareOf, titleOf, type Board } from './boards.js';
import {
  PublishedDocuments,
  type LargestGroup,
  type ListedMover,
  type ReadDocument,
  type Renaming,
} from './documents.js';
import { at, linker, pageOf, renamed, type Linker } from './linked.js';
import { SIDE, lineChart } from './line-chart.js';
import type { LookupField } from './page-data.js';
import { arrivalsIn, changesIn } from './feeds.js';
import { questions } from './questions.js';
import { sample } from './sample.js';
import { HEIGHT, WIDTH, sparkline } from './sparkline.js';
import type { Reading } from './series.js';
import { amount, day, difference, integer, shortDay, signed } from './words.js';

const SHOWN_LARGEST = 10;
const SHOWN_MOVERS = 5;
const SHOWN_RENAMED = 6;
/** What is older than this, at the newest measurement, is not called new: 365 days. */
const LATELY_MS = 365 * 86_400_000;

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
      change: change === null ? undefined : difference(change),
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

/** When a name was new, as far as that is known, and as it is shown. */
const renamedAt = ({ changed_at, measured_at }: Renaming): string => changed_at ?? measured_at;

const latestFirst = (renamings: readonly Renaming[]): readonly Renaming[] =>
  renamings.toSorted((a, b) => Date.parse(renamedAt(b)) - Date.parse(renamedAt(a)));

/** The latest new names, unless they are old news. */
const renamedLately = (kind: Kind, renamings: readonly Renaming[], asOf: string | null, linkTo: Linker) =>
  latestFirst(renamings)
    .filter((each) => asOf !== null && Date.parse(renamedAt(each)) > Date.parse(asOf) - LATELY_MS)
    .slice(0, SHOWN_RENAMED)
    .map(renamed(kind, linkTo));

const ranked = (documents: PublishedDocuments, linkTo: Linker) => (group: LargestGroup) => {
  const change = documents.monthlyChange(group.id);
  const readings = documents.readings(group.id);
  return {
    ...linkTo({ kind: 'group', ...group }),
    rank: group.rank,
    count: group.member_count,
    members: integer(group.member_count),
    // A record may have been measured later, without its members.
    read: at(readings.at(-1)?.measured_at ?? group.measured_at),
    change: change === null ? undefined : signed(change),
    ...spark(readings),
  };
};

/** The largest groups as a list with bars, where there is no line. */
function groupBoard(
  groups: readonly ReturnType<ReturnType<typeof ranked>>[],
  inWords: InWords,
): readonly Board[] {
  const highest = groups[0]?.count ?? 0;
  const rows = groups.slice(0, SHOWN_RECORDS).map(({ url, name, instead, count, members, read }) => ({
    url,
    name,
    instead,
    figure: members,
    share: shareOf(count, highest),
    what: 'read',
    at: read,
  }));
  const titles = { title: inWords('The largest groups'), first: inWords('The largest group') };
  return rows.length === 0 ? [] : [{ ...titles, unit: 'members', caption: RANKED, rows }];
}

/** Where there is more of what the front page shows of a kind. */
const MORE: Readonly<Record<Kind, string>> = {
  group: 'largest',
  user: 'recent',
  game: 'largest-games',
  item: 'newest',
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

/** A response without its members that are null, as most are where little is measured, and how many those are. */
function measuredIn(body: string): { readonly response: string; readonly omitted: number } {
  let omitted = 0;
  const text = JSON.stringify(JSON.parse(body), (_, value: unknown) => {
    if (value !== null) return value;
    omitted += 1;
    return undefined;
  });
  return { response: sample(text), omitted };
}

/** A request to try and its response: the largest group, or a record of another kind. */
function example({ populations }: Overview, table: readonly Route[], documents: PublishedDocuments) {
  for (const { resource, samples } of populations) {
    const [id] = samples;
    if (id === undefined) continue;
    const [name, key] =
      resource.kind === 'group' ? ['largest', LARGEST_LIMIT.minimum] : [resource.record.route, id];
    const body = documents.text(name, key);
    if (body !== undefined) {
      const url = filler(urlTemplate(routeNamed(table, name)))(key);
      return { path: url, ...measuredIn(body) };
    }
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
 * @param register read only where the readings of groups give no picture
 */
export function frontPage(
  operator: Operator,
  overview: Overview,
  table: readonly Route[],
  lookup: LookupField,
  read: ReadDocument,
  register: Register,
) {
  const { baseUrl, platform, headline, introduction, words } = operator;
  const { populations, measured, asOf } = overview;
  const inWords = wordsIn(operator);
  const linkTo = linker(inWords);
  const documents = new PublishedDocuments(read);
  const largest = documents.largest(SHOWN_LARGEST);
  const { gains, losses } = documents.movers('d30');
  const { group_names, usernames } = documents.recent();
  const first = firstMeasurement(populations);
  const tried = example(overview, table, documents);
  const groups = largest.map(ranked(documents, linkTo));
  const line = picture(largest, documents, linkTo, inWords);
  const known = populations.filter(({ records }) => records > 0).map(({ resource }) => resource);
  const hasGroups = known.some(({ kind }) => kind === 'group');
  // Without a line, what there is of groups, or else of everything.
  const parts = known
    .filter(({ kind }) => line === undefined && (kind === 'group') === hasGroups)
    .map((resource) => ({
      id: resource.plural,
      title: titleOf(resource, inWords),
      boards: [
        ...(resource.kind === 'group' ? groupBoard(groups, inWords) : []),
        ...boardsOf(register, resource, latestFirst(usernames), linkTo, inWords),
      ],
    }));
  const board = parts.flatMap(({ boards }) => boards)[0];
  const [more] = known.map(({ kind }) => routeNamed(table, MORE[kind]));
  return {
    headline,
    introduction,
    questions: questions(populations, measured, platform, inWords),
    lookup,
    addresses: addresses(populations, table),
    picture: line,
    board: board && { ...board, json: more && isMeasured(more, measured) ? more.path : undefined },
    parts: parts
      .map((each) => ({ ...each, boards: each.boards.filter((other) => other !== board) }))
      .filter(({ boards }) => boards.length > 0),
    movers: [
      { title: 'Gained', groups: gains.slice(0, SHOWN_MOVERS).map(moved(documents, linkTo)) },
      { title: 'Lost', groups: losses.slice(0, SHOWN_MOVERS).map(moved(documents, linkTo)) },
    ].filter(({ groups }) => groups.length > 0),
    moversPath: routeNamed(table, moversRoute('d30')).path,
    renamed: [
      { title: inWords('Groups'), records: renamedLately('group', group_names, asOf, linkTo) },
      { title: inWords('Users'), records: hasGroups ? renamedLately('user', usernames, asOf, linkTo) : [] },
    ].filter(({ records }) => records.length > 0),
    recentPath: routeNamed(table, 'recent').path,
    groups: line === undefined ? [] : groups,
    hasReadings: measured.has('group_member_readings'),
    spark: { width: WIDTH, height: HEIGHT },
    totals: totals(populations, documents, words),
    asOf: asOf === null ? undefined : at(asOf),
    since: first === null ? undefined : at(first),
    example: tried && { ...tried, url: baseUrl + tried.path },
    feedsText: inWords(feedsText(measured)),
  };
}
