/** Names, owners or usernames in time: one row each, newest first, all on one axis. */
import { lineOf } from '../series.js';
import { spansOf, ticksOf, type HistoryEntry, type Span } from '../spans.js';
import { integer, visible } from '../words.js';
import { element, isolated, link } from './dom.js';
import { labelOf, ownerWords, type Reference } from './facts.js';
import { isReading, listIn, shaped, textIn, type Values } from './values.js';

/** In milliseconds. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** The lists of a history that are drawn so, and what an entry of each is called. */
const ENTRIES = { usernames: 'username', names: 'name', owners: 'owner' };
type List = keyof typeof ENTRIES;
export const TIMELINES = ['usernames', 'names', 'owners'] as const satisfies readonly List[];

/** How many rows are shown, the newest; the rest is in the history. */
const MOST_SPANS = 40;
const TICKS = 6;
/** Widths are in percent; a span is seen even if it lasts a moment. */
const LEAST_WIDTH = 0.4;
/** Further to the right, a label has no room next to its tick. */
const LAST_LABEL = 88;

const isDated = shaped({ first_measured_at: 'string', last_measured_at: 'string' });
export const isEntry = (value: unknown): value is HistoryEntry & Values => isDated(value);

/** The axis of several lists, from the first beginning to the last end that is known. */
function scaleOf(spans: readonly Span[]): Range | undefined {
  const times = spans.flatMap(({ start, end, latest }) => [start, end, latest]).filter((at) => at !== null);
  const [from, to] = [Math.min(...times), Math.max(...times)];
  return to > from ? { from, to } : undefined;
}

/**
 * Lists of a history, as far as they are measured.
 * @param created when the record was created
 * @param url of the history
 */
export function timelines(
  history: Values,
  lists: readonly List[],
  {
    tag,
    created,
    url,
    reference,
  }: { tag: 'h2' | 'p'; created: string | null; url: string; reference: Reference },
) {
  const measured = lists
    .filter((list) => Array.isArray(history[list]))
    .map((list) => {
      const entries = listIn(history[list], isEntry);
      const spans = spansOf(entries, created);
      const rows = entries.flatMap((entry, index) => {
        const span = spans[index];
        return span === undefined ? [] : [{ entry, span, isNow: entry['is_current'] === true }];
      });
      return { list, rows: rows.slice(-MOST_SPANS), left: Math.max(0, rows.length - MOST_SPANS) };
    });
  const scale = scaleOf(measured.flatMap(({ rows }) => rows.map(({ span }) => span)));
  const gaps = lineOf(listIn(history['members'], isReading)).open.map(([from, to]) => ({
    from: 1000 * from,
    to: 1000 * to,
  }));
  return measured.map(({ list, rows, left }) => {
    const one = ENTRIES[list];
    const items = rows.map(({ entry, span, isNow }) => {
      const name =
        list === 'owners'
          ? ownerWords(entry, reference)
          : isolated(visible(textIn(entry[one])) ?? '(an empty name)');
      const begun = isNow && rows.length > 1 ? `now; ${span.begun}` : span.begun;
      return element(
        'li',
        {},
        element(
          'div',
          { class: 'what' },
          element('span', { class: 'name' }, name),
          ' ',
          element('span', { class: 'note' }, begun),
        ),
        scale && track(span, scale, gaps, isNow),
      );
    });
    return element(
      'section',
      { 'aria-labelledby': list, class: 'timeline' },
      element(tag, { id: list }, labelOf(list)),
      items.length === 0
        ? element('p', {}, `No ${one} has been read yet.`)
        : element('ol', { reversed: true, class: 'spans' }, ...items.toReversed()),
      items.length > 0 && scale && axis(scale),
      left > 0 &&
        element(
          'p',
          { class: 'note' },
          `${integer(left)} older ones are in the `,
          link(url, 'history as JSON'),
          '.',
        ),
    );
  });
}

const percentOf = (at: number, { from, to }: Range) => (100 * (at - from)) / (to - from);

function piece(name: string, from: number, to: number, scale: Range) {
  const made = element('span', { class: name });
  // The policy allows no style attributes, but properties that a script sets.
  made.style.left = `${Math.min(percentOf(from, scale), 100 - LEAST_WIDTH)}%`;
  made.style.width = `${Math.max(percentOf(to, scale) - percentOf(from, scale), LEAST_WIDTH)}%`;
  return made;
}

/** The bar of a span: filled while it was read, hatched where nothing was, and where it may have ended already. */
function track({ start, end, latest }: Span, scale: Range, gaps: readonly Range[], isNow: boolean) {
  const made = element('div', { class: 'track', 'aria-hidden': 'true' });
  if (end === null) return made;
  if (start !== null) {
    made.append(piece(isNow ? 'span now' : 'span', start, end, scale));
    for (const { from, to } of gaps)
      if (from < end && to > start)
        made.append(piece('unsure', Math.max(from, start), Math.min(to, end), scale));
  }
  if (latest !== null) made.append(piece('unsure', end, latest, scale));
  return made;
}

const axis = (scale: Range) =>
  element(
    'div',
    { class: 'axis', 'aria-hidden': 'true' },
    ...ticksOf(scale.from, scale.to, TICKS).map(({ time, words }) => {
      const place = percentOf(time, scale);
      const made = element('span', {}, place <= LAST_LABEL && words);
      made.style.left = `${place}%`;
      return made;
    }),
  );
