/** The line of a group’s readings with a way through it, by pointer and by keyboard: a slider whose values are readings. */
import { element, time } from './dom.js';
import { highest, lineOf } from '../series.js';
import { amount, day, difference, integer, moment, short } from '../words.js';

/**
 * @typedef {import('../series.js').Reading} Reading
 * @typedef {import('./chart.js').Chart} Chart
 *
 * @typedef {object} ReadingsLine
 * @property {HTMLElement} plot is drawn into
 * @property {HTMLElement} readout the reading that the way has reached, in words
 * @property {HTMLElement} start says where the axis of counts starts
 * @property {string} summary how many readings there are, and what of gaps
 * @property {number} peak the index of the highest reading
 * @property {readonly number[]} times in seconds
 * @property {(draw: typeof import('./chart.js').draw, onRange?: (from: number, to: number) => void) => void} draw
 *   `onRange` is called with the times shown
 * @property {(from: number, to: number) => void} zoom shows the times from one to another, in seconds
 * @property {(times: readonly string[]) => void} mark rings the readings taken at these times
 */

const PAGE_OF_READINGS = 10;

/** What is said instead of a line. @param {readonly Reading[]} readings at most one */
export const fewReadings = ([first]) =>
  first === undefined
    ? 'The member count has not been read yet.'
    : `One reading so far: ${integer(first.member_count)} members on ${moment(first.measured_at)}. A line needs two.`;

/**
 * @param {readonly Reading[]} readings oldest first, at least two
 * @returns {ReadingsLine}
 */
export function readingsLine(readings) {
  const line = lineOf(readings);
  const peak = highest(readings);
  const plot = element('div', {
    class: 'plot',
    role: 'slider',
    tabindex: '0',
    'aria-label': 'Readings of the member count, oldest first',
    'aria-valuemin': '1',
    'aria-valuemax': String(readings.length),
  });
  const readout = element('p', { class: 'readout' });
  const start = element('p', { class: 'note axis-start' });
  /** @type {Chart | undefined} */
  let chart;
  /** @type {readonly number[]} */
  let marked = [];
  let at = readings.length - 1;

  const say = (/** @type {number} */ reading) => {
    at = reading;
    const { measured_at, member_count } = readings[reading];
    plot.setAttribute('aria-valuenow', String(reading + 1));
    plot.setAttribute('aria-valuetext', `${integer(member_count)} members, ${moment(measured_at)}`);
    const before = readings[reading - 1];
    readout.replaceChildren(
      element('b', {}, `${integer(member_count)} members`),
      ' ',
      time(measured_at, moment(measured_at)),
      element(
        'span',
        { class: 'since' },
        before === undefined
          ? 'the first reading'
          : `${difference(member_count - before.member_count)} since ${moment(before.measured_at)}`,
      ),
    );
  };
  say(at);
  plot.addEventListener('keydown', (event) => {
    const target = steps(at, readings.length - 1).get(event.key);
    if (target === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    say(Math.min(Math.max(target, 0), readings.length - 1));
    chart?.show(at);
  });

  return {
    plot,
    readout,
    start,
    summary: summaryOf(readings, line.gaps),
    peak,
    times: line.times,
    draw: (draw, onRange) => {
      chart = draw(plot, line, {
        peak,
        onReading: say,
        onRange: (from, to, low) => {
          onRange?.(from, to);
          start.textContent =
            low > 0 ? `The axis starts at ${short(low)}, not at 0.` : 'The axis starts at 0.';
        },
      });
      chart.mark(marked);
    },
    zoom: (from, to) => chart?.zoom(from, to),
    mark: (times) => {
      marked = readings.flatMap(({ measured_at }, index) => (times.includes(measured_at) ? [index] : []));
      chart?.mark(marked);
    },
  };
}

/**
 * Where each key leads.
 * @param {number} at
 * @param {number} last
 */
const steps = (at, last) =>
  new Map([
    ['ArrowLeft', at - 1],
    ['ArrowDown', at - 1],
    ['ArrowRight', at + 1],
    ['ArrowUp', at + 1],
    ['PageDown', at - PAGE_OF_READINGS],
    ['PageUp', at + PAGE_OF_READINGS],
    ['Home', 0],
    ['End', last],
  ]);

/**
 * @param {readonly Reading[]} readings
 * @param {number} gaps
 */
function summaryOf(readings, gaps) {
  const [from, to] = [readings[0], readings[readings.length - 1]].map(({ measured_at }) => day(measured_at));
  const hatched =
    gaps === 0
      ? 'No gap is among them.'
      : `Where ${gaps === 1 ? 'a gap is' : `${integer(gaps)} gaps are`} hatched, nothing was read, and nothing is drawn.`;
  return `${amount(readings.length, 'reading')} from ${from} to ${to}. ${hatched}`;
}
