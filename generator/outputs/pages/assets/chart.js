/** A member history as a chart. What was not read is not drawn: a gap stays a gap. */
import uPlot from 'uplot';
import { gapsBefore } from '../gaps.js';

const HEIGHT = 260;
/** Up to so many readings, each is marked. */
const MARKED_READINGS = 60;

/**
 * @typedef {{ measured_at: string, member_count: number }} Reading
 * @typedef {object} Line what uPlot takes: times in seconds, and a null in each gap
 * @property {number[]} times
 * @property {(number | null)[]} counts
 * @property {number} gaps
 */

/**
 * @param {readonly Reading[]} readings
 * @returns {Line}
 */
export function lineOf(readings) {
  const all = readings.map(({ measured_at }) => Date.parse(measured_at) / 1000);
  const gaps = gapsBefore(all);
  /** @type {Line} */
  const line = { times: [], counts: [], gaps: gaps.size };
  for (const [index, { member_count }] of readings.entries()) {
    if (gaps.has(index)) {
      line.times.push((all[index - 1] + all[index]) / 2);
      line.counts.push(null);
    }
    line.times.push(all[index]);
    line.counts.push(member_count);
  }
  return line;
}

/**
 * The readings to mark: all of a few, else those that no line leads to, which would not be seen.
 * @param {Line} line
 */
function marked({ counts }) {
  const few = counts.length <= MARKED_READINGS;
  const isNone = (/** @type {number} */ index) => (counts[index] ?? null) === null;
  return [...counts.keys()].filter((at) => !isNone(at) && (few || (isNone(at - 1) && isNone(at + 1))));
}

/** Times as the rest of the service writes them; by the smallest step that each row is for, in seconds. */
const TIMES = [
  [365 * 86_400, '{YYYY}', null, null, null, null, null, null, 1],
  [28 * 86_400, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [86_400, '{D} {MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [60, '{HH}:{mm}', '\n{D} {MMM} {YYYY}', null, '\n{D} {MMM}', null, null, null, 1],
];

/** @param {number | null | undefined} count */
const inWords = (count) => (count === null || count === undefined ? '–' : count.toLocaleString('en'));

/** @param {number} count */
const inShort = (count) => count.toLocaleString('en', { notation: 'compact', maximumFractionDigits: 2 });

/**
 * @param {(name: string) => string} colour by the name of a custom property
 * @param {Line} line
 * @param {number} width
 * @returns {uPlot.Options}
 */
function optionsFor(colour, line, width) {
  const marks = marked(line);
  const axis = {
    stroke: colour('--muted'),
    grid: { stroke: colour('--rule'), width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height: HEIGHT,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    scales: { y: { range: (_, low, high) => (low === high ? [low - 1, high + 1] : [low, high]) } },
    axes: [
      { ...axis, values: TIMES },
      { ...axis, size: 72, values: (_, ticks) => ticks.map(inShort) },
    ],
    series: [
      { label: 'Time', value: '{YYYY}-{MM}-{DD} {HH}:{mm} UTC' },
      {
        label: 'Members',
        stroke: colour('--accent'),
        width: 1.75,
        spanGaps: false,
        points: { show: true, size: 4, fill: colour('--accent'), filter: () => marks },
        value: (_, count) => inWords(count),
      },
    ],
  };
}

/** @type {uPlot | undefined} */
let plot;
/** @type {() => void} */
let drawAgain = () => undefined;
let width = 0;

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => drawAgain());
const watcher = new ResizeObserver(([entry]) => {
  if (entry.contentRect.width !== width) drawAgain();
});

/**
 * Draws into an element, in place of what was drawn there.
 * @param {HTMLElement} element
 * @param {Line} line
 */
export function draw(element, line) {
  drawAgain = () => {
    width = element.clientWidth;
    const style = getComputedStyle(element);
    plot?.destroy();
    plot = new uPlot(
      optionsFor((name) => style.getPropertyValue(name).trim(), line, width),
      [line.times, line.counts],
      element,
    );
  };
  drawAgain();
  watcher.observe(element);
}
