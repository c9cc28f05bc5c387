/**
 * When a record had each of its names or owners, as far as readings and the platform say. Runs in
 * the browser, compiled, and in tests.
 */
import { day, moment } from './words.js';

/** An entry of a history of names or owners. */
export interface HistoryEntry {
  readonly first_measured_at: string;
  readonly last_measured_at: string;
  readonly changed_at?: string | null;
  readonly changed_after: string | null;
  readonly changed_before: string | null;
}

/** Times in milliseconds; null where nobody knows. */
export interface Span {
  readonly start: number | null;
  readonly end: number | null;
  /** After the end: until when the next entry had begun for sure. Null if the end is exact. */
  readonly latest: number | null;
  /** How it began, in words. */
  readonly begun: string;
}

/**
 * @param entries oldest first
 * @param created when the record was created, according to the platform
 */
export const spansOf = (entries: readonly HistoryEntry[], created: string | null): readonly Span[] =>
  entries.map((entry, index) => {
    const next = entries[index + 1];
    const [end, latest] = next === undefined ? [milliseconds(entry.last_measured_at), null] : changeTo(next);
    const start = startOf(entry, index === 0);
    // Names of the platform's own list were first read after they had ended.
    if (index === 0 && start !== null && end !== null && start > (latest ?? end))
      return {
        start: earlier(milliseconds(created), end),
        end,
        latest,
        begun: `until ${moment(next?.changed_at ?? next?.changed_after ?? '')}; since when is not known`,
      };
    // It was read on the day on which it ended.
    const last = start !== null && end !== null ? Math.max(start, end) : end;
    return { start, end: last, latest, begun: begunWords(entry, index === 0) };
  });

/** When the platform says that the entry began. */
const dateOf = ({ changed_at: at }: HistoryEntry): string | null => at ?? null;

const DAY_MS = 86_400_000;

/** When the platform says that the entry began, at the earliest and, if that is a day, at the latest. */
function datedTo(at: string): readonly [earliest: number, latest: number | null] {
  const time = Date.parse(at);
  return [time, at.includes('T') ? null : time + DAY_MS];
}

/** When the entry began, at the earliest and, unless that is exact, at the latest. */
function changeTo(entry: HistoryEntry): readonly [number | null, number | null] {
  const at = dateOf(entry);
  return at === null ? [milliseconds(entry.changed_after), milliseconds(entry.changed_before)] : datedTo(at);
}

function startOf(entry: HistoryEntry, isFirst: boolean): number | null {
  const at = dateOf(entry);
  if (at !== null) {
    const [earliest, latest] = datedTo(at);
    return latest === null
      ? earliest
      : Math.max(earliest, Math.min(latest, Date.parse(entry.first_measured_at)));
  }
  return isFirst || entry.changed_before !== null ? milliseconds(entry.first_measured_at) : null;
}

const earlier = (time: number | null, end: number): number | null =>
  time !== null && time <= end ? time : null;

function begunWords(entry: HistoryEntry, isFirst: boolean): string {
  const { changed_after: after, changed_before: before } = entry;
  const at = dateOf(entry);
  if (at !== null) return `from ${moment(at)} (the platform’s date)`;
  if (after !== null && before !== null) return `changed between ${moment(after)} and ${moment(before)}`;
  return isFirst ? `first read ${moment(entry.first_measured_at)}` : 'on a date that is not known';
}

const milliseconds = (time: string | null): number | null => (time === null ? null : Date.parse(time));

/** A label of an axis of time, in milliseconds. */
export interface TimeLabel {
  readonly time: number;
  readonly words: string;
}

/** Steps of an axis, in months. */
const STEPS = [1, 3, 6, 12, 24, 60, 120];
const MONTHS_OF_YEAR = 12;

const monthNumber = (date: Date): number => date.getUTCFullYear() * MONTHS_OF_YEAR + date.getUTCMonth();

/** The round dates in a range. @param most how many there may be, at least */
export function ticksOf(start: number, end: number, most: number): readonly TimeLabel[] {
  const first = new Date(start);
  const last = new Date(end);
  const [from, to] = [monthNumber(first) + 1, monthNumber(last)];
  const step = STEPS.find((each) => (to - from) / each < most) ?? Math.ceil((to - from) / most / 120) * 120;
  const ticks: TimeLabel[] = [];
  for (let month = Math.ceil(from / step) * step; month <= to; month += step) {
    const date = new Date(Date.UTC(Math.floor(month / MONTHS_OF_YEAR), month % MONTHS_OF_YEAR, 1));
    const iso = `${date.toISOString().slice(0, 19)}Z`;
    const words = day(iso).split(' ');
    ticks.push({
      time: date.getTime(),
      words: step >= MONTHS_OF_YEAR ? (words[2] ?? '') : `${words[1]?.slice(0, 3)} ${words[2]}`,
    });
  }
  return ticks;
}
