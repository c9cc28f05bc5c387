/** All readings of a group’s member count: the line, a way through it by keyboard, and the table. */
import { usefulRanges, type Reading } from '../series.js';
import { amount, integer, moment, signed } from '../words.js';
import { button, element, link, time } from './dom.js';
import { fewReadings, readingsLine } from './line.js';
import { unloaded } from './problem.js';

/** The most rows of the table, which has the newest readings; the history has all. */
const MOST_ROWS = 200;
const DAY_SECONDS = 86_400;

/**
 * @param readings oldest first
 * @param history path of the history
 */
export function readingsPart(readings: readonly Reading[], history: string) {
  const heading = element('h2', { id: 'readings' }, 'Members');
  if (readings.length < 2) {
    const few = element('p', {}, fewReadings(readings));
    return { part: element('section', { 'aria-labelledby': 'readings' }, heading, few), mark: () => {} };
  }
  const line = readingsLine(readings);
  const ranges = rangeButtons(line.times, line.zoom);
  const addChart = async () => {
    const script = await import('./chart.js').catch(() => undefined);
    if (script !== undefined) return line.draw(script.draw, ranges.press);
    const retry = () => {
      instead.replaceWith(line.plot);
      line.plot.focus();
      void addChart();
    };
    const words = 'The line could not be loaded; the table below has the readings.';
    const instead = element('div', { class: 'plot' }, unloaded(words, retry));
    line.plot.replaceWith(instead);
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
    element('p', { class: 'note' }, peakWords(readings, line.peak)),
    tableOf(readings, history),
  );
  return { part, mark: line.mark };
}

function peakWords(readings: readonly Reading[], peak: number) {
  const { member_count: count = 0, measured_at: at = '' } = readings[peak] ?? {};
  return (
    `Peak: ${integer(count)} members on ${moment(at)}, the highest of ${amount(readings.length, 'reading')}. ` +
    'Between two readings it may have been higher.'
  );
}

/**
 * Buttons for the ranges that show less than everything.
 * @param times in seconds
 */
function rangeButtons(times: readonly number[], zoom: (from: number, to: number) => void) {
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  const useful = usefulRanges(times);
  const all = [
    { name: 'All', from: first },
    ...useful.map(({ name, days }) => ({ name, from: last - days * DAY_SECONDS })),
  ].map(({ name, from }) => ({
    from,
    button: button(name, () => zoom(from, last), { 'aria-pressed': String(from === first) }),
  }));
  const buttons = all.map((each) => each.button);
  return {
    part:
      useful.length > 0 &&
      element('div', { class: 'ranges', role: 'group', 'aria-label': 'Range of the chart' }, ...buttons),
    press: (from: number, to: number) => {
      for (const each of all)
        each.button.setAttribute('aria-pressed', String(Math.abs(each.from - from) < 1 && to >= last));
    },
  };
}

const cell = (words: string) => element('td', { class: 'number' }, words);

function tableOf(readings: readonly Reading[], history: string) {
  const details = element('details', {}, element('summary', {}, 'As a table'));
  const fillIn = () => {
    const older = Math.max(0, readings.length - MOST_ROWS);
    const rows = readings.slice(older).map(({ measured_at, member_count }, index) => {
      const before = readings[older + index - 1];
      return element(
        'tr',
        {},
        element('th', { scope: 'row' }, time(measured_at, moment(measured_at))),
        cell(integer(member_count)),
        cell(before === undefined ? '' : signed(member_count - before.member_count)),
      );
    });
    const heads = ['Read', 'Members', 'Since the reading before'].map((words, index) =>
      element('th', { scope: 'col', class: index > 0 && 'number' }, words),
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
        older > 0
          ? `The newest ${MOST_ROWS} of ${integer(readings.length)} readings. All of them are in the `
          : 'The same is in the ',
        link(history, 'history as JSON'),
        '.',
      ),
    );
  };
  details.addEventListener('toggle', fillIn, { once: true });
  return details;
}
