/** The line of a group’s readings with a way through it, by pointer and by keyboard: a slider whose values are readings. */
import { highest, lineOf, type Reading } from '../series.js';
import { amount, day, difference, integer, moment, short } from '../words.js';
import type { Chart, draw as drawChart } from './chart.js';
import { element, time } from './dom.js';

const PAGE_OF_READINGS = 10;

/** How far each key leads; beyond either end is that end. */
const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -PAGE_OF_READINGS,
  PageUp: PAGE_OF_READINGS,
  Home: -Infinity,
  End: Infinity,
};

const countWords = ({ member_count }: Reading) => `${integer(member_count)} members`;

/** What is said instead of a line. @param readings at most one */
export const fewReadings = ([first]: readonly Reading[]) =>
  first === undefined
    ? 'The member count has not been read yet.'
    : `One reading so far: ${countWords(first)} on ${moment(first.measured_at)}. A line needs two.`;

/** @param readings oldest first, at least two */
export function readingsLine(readings: readonly Reading[]) {
  const line = lineOf(readings);
  const peak = highest(readings);
  const last = readings.length - 1;
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
  let chart: Chart | undefined;
  let marked: readonly number[] = [];
  let at = last;

  const say = (index: number) => {
    const [before, reading] = [readings[index - 1], readings[index]];
    if (reading === undefined) return;
    at = index;
    const when = moment(reading.measured_at);
    plot.setAttribute('aria-valuenow', String(index + 1));
    plot.setAttribute('aria-valuetext', `${countWords(reading)}, ${when}`);
    const since =
      before === undefined
        ? 'the first reading'
        : `${difference(reading.member_count - before.member_count)} since ${moment(before.measured_at)}`;
    readout.replaceChildren(
      element('b', {}, countWords(reading)),
      ' ',
      time(reading.measured_at, when),
      element('span', { class: 'since' }, since),
    );
  };
  say(at);
  plot.addEventListener('keydown', (event) => {
    const step = STEPS[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    say(Math.min(Math.max(at + step, 0), last));
    chart?.show(at);
  });

  return {
    /** Is drawn into. */
    plot,
    /** The reading that the way has reached, in words. */
    readout,
    /** Says where the axis of counts starts. */
    start,
    /** How many readings there are, and what of gaps. */
    summary: summaryOf(readings, line.gaps),
    /** The index of the highest reading. */
    peak,
    /** In seconds. */
    times: line.times,
    /** @param onRange is called with the times shown */
    draw: (draw: typeof drawChart, onRange?: (from: number, to: number) => void) => {
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
    /** Shows the times from one to another, in seconds. */
    zoom: (from: number, to: number) => chart?.zoom(from, to),
    /** Rings the readings taken at these times. */
    mark: (times: readonly string[]) => {
      marked = readings.flatMap(({ measured_at }, index) => (times.includes(measured_at) ? [index] : []));
      chart?.mark(marked);
    },
  };
}

function summaryOf(readings: readonly Reading[], gaps: number) {
  const [from, to] = [readings[0], readings.at(-1)].map((reading) => day(reading?.measured_at ?? ''));
  const hatched =
    gaps === 0
      ? 'No gap is among them.'
      : `Where ${gaps === 1 ? 'a gap is' : `${integer(gaps)} gaps are`} hatched, nothing was read, and nothing is drawn.`;
  return `${amount(readings.length, 'reading')} from ${from} to ${to}. ${hatched}`;
}
