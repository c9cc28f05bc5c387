/** Names, owners or usernames in time: one row each, newest first, all on one axis. */
import { element } from './dom.js';
import { isObject } from './facts.js';
import { spansOf, ticksOf } from '../spans.js';
import { integer } from '../words.js';

/**
 * @typedef {import('../spans.js').HistoryEntry & { position: number, is_current: boolean }} Entry
 * @typedef {import('../spans.js').Span} Span
 */

/** How many rows are shown, the newest; the rest is in the history. */
const MOST_SPANS = 40;
const TICKS = 6;
/** Widths are in percent; a span is seen even if it lasts a moment. */
const LEAST_WIDTH = 0.4;
/** Further to the right, a label has no room next to its tick. */
const LAST_LABEL = 88;

/**
 * @param {unknown} value
 * @returns {value is Entry & Readonly<Record<string, unknown>>}
 */
export const isEntry = (value) =>
  isObject(value) &&
  typeof value.first_measured_at === 'string' &&
  typeof value.last_measured_at === 'string';

/** @typedef {{ from: number, to: number }} Scale in milliseconds */

/**
 * The axis of several lists of entries, from the first beginning to the last end that is known.
 * @param {readonly (readonly Entry[])[]} lists
 * @param {string | null} created when the record was created
 * @returns {Scale | undefined}
 */
export function scaleOf(lists, created) {
  const times = lists
    .flatMap((entries) => spansOf(entries, created).slice(-MOST_SPANS))
    .flatMap(({ start, end, latest }) => [start, end, latest].filter((at) => at !== null));
  const [from, to] = [Math.min(...times), Math.max(...times)];
  return to > from ? { from, to } : undefined;
}

/**
 * @template {Entry} T
 * @param {object} part
 * @param {string} part.id
 * @param {HTMLElement} part.heading has the id
 * @param {string} part.one what an entry is called
 * @param {readonly T[]} part.entries oldest first
 * @param {(entry: T) => Node} part.label
 * @param {string | null} part.created when the record was created
 * @param {Scale} [part.scale]
 * @param {readonly Scale[]} part.gaps times without a reading
 * @param {string} part.history path of the history
 */
export function timeline({ id, heading, one, entries, label, created, scale, gaps, history }) {
  const attributes = { 'aria-labelledby': id, class: 'timeline' };
  if (entries.length === 0)
    return element('section', attributes, heading, element('p', {}, `No ${one} has been read yet.`));
  const spans = spansOf(entries, created);
  const rows = entries
    .map((entry, index) => ({ entry, span: spans[index] }))
    .slice(-MOST_SPANS)
    .toReversed();
  const left = entries.length - rows.length;
  return element(
    'section',
    attributes,
    heading,
    element(
      'ol',
      { reversed: true, class: 'spans' },
      ...rows.map(({ entry, span }) =>
        element(
          'li',
          {},
          element(
            'div',
            { class: 'what' },
            element('span', { class: 'name' }, label(entry)),
            ' ',
            element(
              'span',
              { class: 'note' },
              entry.is_current && entries.length > 1 ? `now; ${span.begun}` : span.begun,
            ),
          ),
          scale && track(span, scale, gaps, entry.is_current),
        ),
      ),
    ),
    scale && axis(scale),
    left > 0 &&
      element(
        'p',
        { class: 'note' },
        `${integer(left)} older ones are in the `,
        element('a', { href: history }, 'history as JSON'),
        '.',
      ),
  );
}

/** @param {number} at @param {Scale} scale */
const percentOf = (at, { from, to }) => (100 * (at - from)) / (to - from);

/**
 * @param {string} name
 * @param {number} from
 * @param {number} to
 * @param {Scale} scale
 */
function piece(name, from, to, scale) {
  const made = element('span', { class: name });
  // The policy allows no style attributes, but properties that a script sets.
  made.style.left = `${Math.min(percentOf(from, scale), 100 - LEAST_WIDTH)}%`;
  made.style.width = `${Math.max(percentOf(to, scale) - percentOf(from, scale), LEAST_WIDTH)}%`;
  return made;
}

/**
 * The bar of a span: filled while it was read, hatched where nothing was, and where it may have ended already.
 * @param {Span} span
 * @param {Scale} scale
 * @param {readonly Scale[]} gaps
 * @param {boolean} isCurrent
 */
function track({ start, end, latest }, scale, gaps, isCurrent) {
  const made = element('div', { class: 'track', 'aria-hidden': 'true' });
  if (end === null) return made;
  if (start !== null) {
    made.append(piece(isCurrent ? 'span now' : 'span', start, end, scale));
    for (const { from, to } of gaps)
      if (from < end && to > start)
        made.append(piece('unsure', Math.max(from, start), Math.min(to, end), scale));
  }
  if (latest !== null) made.append(piece('unsure', end, latest, scale));
  return made;
}

/** @param {Scale} scale */
const axis = (scale) =>
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
