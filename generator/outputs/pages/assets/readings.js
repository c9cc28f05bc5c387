/** All readings of a group’s member count: the line, a way through it by keyboard, and the table. */
import { button, element, time, unloaded } from './dom.js';
import { isObject } from './facts.js';
import { highest, lineOf, usefulRanges } from '../series.js';
import { amount, day, difference, integer, moment, short, signed } from '../words.js';

/**
 * @typedef {import('../series.js').Reading} Reading
 * @typedef {import('./chart.js').Chart} Chart
 *
 * @typedef {object} ReadingsPart
 * @property {HTMLElement} part
 * @property {(times: readonly string[]) => void} mark rings the readings taken at these times
 */

/**
 * @param {unknown} value
 * @returns {value is Reading}
 */
export const isReading = (value) =>
  isObject(value) && typeof value.measured_at === 'string' && typeof value.member_count === 'number';

/** The table has so many rows at most, the newest; the rest is in the history. */
const MOST_ROWS = 200;
const PAGE_OF_READINGS = 10;
const DAY_SECONDS = 86_400;

/**
 * @param {readonly Reading[]} readings oldest first
 * @param {string} history path of the history
 * @returns {ReadingsPart}
 */
export function readingsPart(readings, history) {
  const first = readings[0];
  const last = readings[readings.length - 1];
  const heading = element('h2', { id: 'readings' }, 'Members');
  if (first === undefined || last === undefined || readings.length < 2) {
    const words =
      first === undefined
        ? 'The member count has not been read yet.'
        : `One reading so far: ${integer(first.member_count)} members on ${moment(first.measured_at)}. A line needs two.`;
    const part = element('section', { 'aria-labelledby': 'readings' }, heading, element('p', {}, words));
    return { part, mark: () => undefined };
  }
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

  const ranges = rangeButtons(line.times, (from, to) => chart?.zoom(from, to));
  const addChart = async () => {
    const script = await import('./chart.js').catch(() => undefined);
    if (script === undefined) {
      const retry = () => {
        instead.replaceWith(plot);
        plot.focus();
        void addChart();
      };
      const words = 'The line could not be loaded; the table below has the readings.';
      const instead = element('div', { class: 'plot' }, unloaded(words, retry));
      plot.replaceWith(instead);
      return;
    }
    chart = script.draw(plot, line, {
      peak,
      onReading: say,
      onRange: (from, to, low) => {
        ranges.press(from, to);
        start.textContent = low > 0 ? `The axis starts at ${short(low)}, not at 0.` : 'The axis starts at 0.';
      },
    });
    chart.mark(marked);
  };
  // The library comes after what can be read without it.
  requestAnimationFrame(() => setTimeout(() => void addChart()));
  const part = element(
    'section',
    { 'aria-labelledby': 'readings', class: 'readings' },
    element('div', { class: 'bar' }, heading, ranges.part),
    readout,
    plot,
    start,
    element(
      'p',
      { class: 'note' },
      summaryOf(readings, line.gaps),
      element('span', { class: 'pointer-only' }, ' Drag to zoom in, double-click to see all.'),
    ),
    element('p', { class: 'note' }, peakWords(readings[peak], readings.length)),
    tableOf(readings, history),
  );
  return {
    part,
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

/**
 * @param {Reading} peak
 * @param {number} count
 */
const peakWords = ({ member_count, measured_at }, count) =>
  `Peak: ${integer(member_count)} members on ${moment(measured_at)}, the highest of ${amount(count, 'reading')}. ` +
  'Between two readings it may have been higher.';

/**
 * Buttons for the ranges that show less than everything.
 * @param {readonly number[]} times in seconds
 * @param {(from: number, to: number) => void} zoom
 */
function rangeButtons(times, zoom) {
  const first = times[0];
  const last = times[times.length - 1];
  const useful = usefulRanges(times);
  const all = [{ name: 'All', from: first }].concat(
    useful.map(({ name, days }) => ({ name, from: last - days * DAY_SECONDS })),
  );
  const buttons = all.map(({ name, from }) =>
    button(name, () => zoom(from, last), { 'aria-pressed': String(from === first) }),
  );
  return {
    part:
      useful.length > 0 &&
      element('div', { class: 'ranges', role: 'group', 'aria-label': 'Range of the chart' }, ...buttons),
    /** @param {number} from @param {number} to */
    press: (from, to) => {
      for (const [index, each] of buttons.entries())
        each.setAttribute('aria-pressed', String(Math.abs(all[index].from - from) < 1 && to >= last));
    },
  };
}

/**
 * @param {readonly Reading[]} readings
 * @param {string} history
 */
function tableOf(readings, history) {
  const details = element('details', {}, element('summary', {}, 'As a table'));
  details.addEventListener(
    'toggle',
    () => {
      const rows = readings.slice(-MOST_ROWS).map(({ measured_at, member_count }, index, shown) => {
        const before = shown[index - 1] ?? readings[readings.length - MOST_ROWS - 1];
        return element(
          'tr',
          {},
          element('th', { scope: 'row' }, time(measured_at, moment(measured_at))),
          element('td', { class: 'number' }, integer(member_count)),
          element(
            'td',
            { class: 'number' },
            before === undefined ? '' : signed(member_count - before.member_count),
          ),
        );
      });
      const heads = ['Read', 'Members', 'Since the reading before'].map((words, index) =>
        element('th', { scope: 'col', class: index > 0 ? 'number' : undefined }, words),
      );
      details.append(
        element(
          'table',
          {},
          element('caption', { class: 'note' }, 'Readings of the member count, newest first'),
          element('thead', {}, element('tr', {}, ...heads)),
          element('tbody', {}, ...rows.toReversed()),
        ),
        element(
          'p',
          { class: 'note' },
          readings.length > MOST_ROWS
            ? `The newest ${MOST_ROWS} of ${integer(readings.length)} readings. All of them are in the `
            : 'The same is in the ',
          element('a', { href: history }, 'history as JSON'),
          '.',
        ),
      );
    },
    { once: true },
  );
  return details;
}
