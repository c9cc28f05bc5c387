/** All readings of a group’s member count: the line, a way through it by keyboard, and the table. */
import { button, element, time, unloaded } from './dom.js';
import { fewReadings, readingsLine } from './line.js';
import { usefulRanges } from '../series.js';
import { amount, integer, moment, signed } from '../words.js';

/**
 * @typedef {import('../series.js').Reading} Reading
 *
 * @typedef {object} ReadingsPart
 * @property {HTMLElement} part
 * @property {(times: readonly string[]) => void} mark rings the readings taken at these times
 */

/** The table has so many rows at most, the newest; the rest is in the history. */
const MOST_ROWS = 200;
const DAY_SECONDS = 86_400;

/**
 * @param {readonly Reading[]} readings oldest first
 * @param {string} history path of the history
 * @returns {ReadingsPart}
 */
export function readingsPart(readings, history) {
  const heading = element('h2', { id: 'readings' }, 'Members');
  if (readings.length < 2) {
    const part = element(
      'section',
      { 'aria-labelledby': 'readings' },
      heading,
      element('p', {}, fewReadings(readings)),
    );
    return { part, mark: () => undefined };
  }
  const line = readingsLine(readings);
  const ranges = rangeButtons(line.times, line.zoom);
  const addChart = async () => {
    const script = await import('./chart.js').catch(() => undefined);
    if (script === undefined) {
      const retry = () => {
        instead.replaceWith(line.plot);
        line.plot.focus();
        void addChart();
      };
      const words = 'The line could not be loaded; the table below has the readings.';
      const instead = element('div', { class: 'plot' }, unloaded(words, retry));
      line.plot.replaceWith(instead);
      return;
    }
    line.draw(script.draw, ranges.press);
  };
  // The library comes after what can be read without it.
  requestAnimationFrame(() => setTimeout(() => void addChart()));
  const part = element(
    'section',
    { 'aria-labelledby': 'readings', class: 'readings' },
    element('div', { class: 'bar' }, heading, ranges.part),
    line.readout,
    line.plot,
    line.start,
    element(
      'p',
      { class: 'note' },
      line.summary,
      element('span', { class: 'pointer-only' }, ' Drag to zoom in, double-click to see all.'),
    ),
    element('p', { class: 'note' }, peakWords(readings[line.peak], readings.length)),
    tableOf(readings, history),
  );
  return { part, mark: line.mark };
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
