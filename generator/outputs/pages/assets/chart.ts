/** A member history as a chart. What was not read is not drawn: a gap stays a gap, and is hatched. */
import uPlot from 'uplot';
import { axisRange, lineOf, readingAt, type Line } from '../series.js';
import { countLabels, integer } from '../words.js';

export { lineOf };

const HEIGHT = 300;
/** On phones. */
const LOW_HEIGHT = 230;
const NARROW = 560;
/** The most readings of which each is marked. */
const MARKED_READINGS = 160;
/** The most readings with large marks. */
const FEW_MARKS = 60;

interface Options {
  /** Index of the reading to mark as the highest. */
  readonly peak?: number;
  /** Called with the reading under the pointer. */
  readonly onReading?: (reading: number) => void;
  /** Called with the times shown, and where the axis starts. */
  readonly onRange?: (from: number, to: number, low: number) => void;
}

export interface Chart {
  /** Moves the cursor to a reading. */
  readonly show: (reading: number) => void;
  /** Shows the times from one to another, in seconds. */
  readonly zoom: (from: number, to: number) => void;
  /** Rings some readings. */
  readonly mark: (readings: readonly number[]) => void;
}

/** The readings to mark: all of a few, else those that no line leads to, which would not be seen. */
function marked({ counts }: Line) {
  const few = counts.length <= MARKED_READINGS;
  const isNone = (index: number) => (counts[index] ?? null) === null;
  return [...counts.keys()].filter((at) => !isNone(at) && (few || (isNone(at - 1) && isNone(at + 1))));
}

/** Times as the rest of the service writes them; by the smallest step that each row is for, in seconds. */
const TIMES = [
  [365 * 86_400, '{YYYY}', null, null, null, null, null, null, 1],
  [28 * 86_400, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [86_400, '{D} {MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [60, '{HH}:{mm}', '\n{D} {MMM} {YYYY}', null, '\n{D} {MMM}', null, null, null, 1],
];

/** The steps of counts, which are whole numbers: 1, 2, 5, 10 … */
const COUNT_STEPS = Array.from({ length: 16 }, (_, digits) =>
  [1, 2, 5].map((step) => step * 10 ** digits),
).flat();

/** Room for the labels in the axis' font. */
const roomFor = (labels: readonly string[] | null) =>
  18 + 7.2 * Math.max(3, ...(labels ?? []).map(({ length }) => length));

/** A pattern of slanted lines, as `--hatching` of the style sheet. */
function hatching(context: CanvasRenderingContext2D, colour: string) {
  const size = Math.round(10 * devicePixelRatio);
  const tile = document.createElement('canvas');
  tile.width = tile.height = size;
  const pen = tile.getContext('2d');
  if (pen === null) return colour;
  pen.strokeStyle = colour;
  pen.lineWidth = devicePixelRatio;
  for (const shift of [-size, 0, size]) {
    pen.moveTo(shift, size);
    pen.lineTo(shift + size, 0);
  }
  pen.stroke();
  return context.createPattern(tile, 'repeat') ?? colour;
}

function hatchGaps(plot: uPlot, { open }: Line, colour: string) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.fillStyle = hatching(ctx, colour);
  for (const [from, to] of open) {
    const left = plot.valToPos(from, 'x', true);
    ctx.fillRect(left, bbox.top, plot.valToPos(to, 'x', true) - left, bbox.height);
  }
  ctx.restore();
}

type Look = Readonly<
  Record<'accent' | 'paper' | 'ink' | 'muted' | 'rule' | 'strongRule' | 'hatch' | 'font', string>
>;

/** A ring around a reading, and perhaps a word above it. */
function ringAt(plot: uPlot, place: number | undefined, look: Look, word?: string) {
  const { ctx, bbox, data } = plot;
  const [time, count] = [data[0][place ?? -1], data[1]?.[place ?? -1]];
  if (time === undefined || typeof count !== 'number') return;
  const x = plot.valToPos(time, 'x', true);
  const y = plot.valToPos(count, 'y', true);
  if (x < bbox.left - 1 || x > bbox.left + bbox.width + 1) return;
  const unit = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.arc(x, y, 4.5 * unit, 0, 2 * Math.PI);
  ctx.fillStyle = look.paper;
  ctx.fill();
  ctx.lineWidth = 2 * unit;
  ctx.strokeStyle = look.accent;
  ctx.stroke();
  if (word !== undefined) {
    ctx.font = `600 ${12 * unit}px ${look.font}`;
    ctx.fillStyle = look.ink;
    const half = ctx.measureText(word).width / 2;
    ctx.textAlign = 'center';
    const centre = Math.min(Math.max(x, bbox.left + half), bbox.left + bbox.width - half);
    ctx.fillText(word, centre, y - 10 * unit);
  }
  ctx.restore();
}

/** What the axis shows: the readings in sight, and those next to them, to which the line leads. */
function rangeOf({ data, series }: uPlot, low: number | null, high: number | null): [number, number] {
  const [first, last] = series[0]?.idxs ?? [0, 0];
  const all = [low, high, data[1]?.[first - 1], data[1]?.[last + 1]].filter(
    (value) => typeof value === 'number',
  );
  return all.length === 0 ? [0, 1] : axisRange(Math.min(...all), Math.max(...all));
}

/** What changes the colours: dark or light, forced colours, paper. */
const LOOKS = ['(prefers-color-scheme: dark)', '(forced-colors: active)', 'print'];

/** What ends the chart that an element has. */
const endings = new WeakMap<HTMLElement, () => void>();

/** Ends the chart that an element has, which leaves the page. */
export const end = (host: HTMLElement) => endings.get(host)?.();

/** Colours as a canvas takes them, by the properties of the style sheet: those may be made of the colour of the text. */
function lookOf(host: HTMLElement): Look {
  const probe = host.appendChild(document.createElement('span'));
  const colour = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const look = {
    accent: colour('accent'),
    paper: colour('paper'),
    ink: colour('ink'),
    muted: colour('muted'),
    rule: colour('rule'),
    strongRule: colour('strong-rule'),
    hatch: colour('hatch'),
    font: getComputedStyle(host).fontFamily,
  };
  probe.remove();
  return look;
}

/**
 * Draws into an element, in place of what was drawn there.
 * @param line of at least one reading
 */
export function draw(host: HTMLElement, line: Line, { peak, onReading, onRange }: Options = {}): Chart {
  end(host);
  const ending = new AbortController();
  const { signal } = ending;
  let plot: uPlot | undefined;
  let rings: readonly number[] = [];
  let width = 0;
  let range: { min: number; max: number } | undefined;
  const marks = marked(line);

  const redraw = () => {
    width = host.clientWidth;
    const look = lookOf(host);
    const { accent, paper, muted, rule, strongRule, hatch } = look;
    const axis = {
      stroke: muted,
      font: `12px ${look.font}`,
      grid: { stroke: rule, width: 1 },
      border: { show: false, stroke: strongRule, width: 1 },
    };
    plot?.destroy();
    plot = new uPlot(
      {
        width,
        height: width < NARROW ? LOW_HEIGHT : HEIGHT,
        // Half a label of the time axis fits to the right of the last tick.
        padding: [18, 20, 0, 0],
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
        // A caller that follows the pointer shows the reading itself.
        legend: { show: onReading === undefined },
        cursor: {
          // In a gap, the reading that is nearer.
          hover: { skip: [null], prox: Number.MAX_VALUE },
          drag: { x: true, y: false, setScale: true },
          points: { size: 9, fill: accent, stroke: paper, width: 2 },
          y: false,
        },
        scales: { y: { range: rangeOf } },
        axes: [
          {
            ...axis,
            values: TIMES,
            grid: { show: false },
            ticks: { show: true, size: 8, stroke: strongRule, width: 1 },
            border: { ...axis.border, show: true },
          },
          {
            ...axis,
            ticks: { show: false },
            incrs: COUNT_STEPS,
            size: (_, labels) => roomFor(labels),
            values: (_, ticks) => [...countLabels(ticks)],
          },
        ],
        series: [
          { label: 'Time', value: '{YYYY}-{MM}-{DD} {HH}:{mm} UTC' },
          {
            label: 'Members',
            value: (_, count) => (typeof count === 'number' ? integer(count) : '–'),
            stroke: accent,
            width: 1.75,
            spanGaps: false,
            points: {
              show: true,
              size: marks.length > FEW_MARKS ? 4 : 8,
              fill: accent,
              width: 0,
              filter: () => marks,
            },
          },
        ],
        hooks: {
          drawClear: [(self) => hatchGaps(self, line, hatch)],
          draw: [
            (self) => {
              for (const reading of rings) ringAt(self, line.places[reading], look);
              if (peak !== undefined) ringAt(self, line.places[peak], look, 'peak');
            },
          ],
          setCursor: [
            (self) => {
              const place = self.cursor.idxs?.[1];
              if (typeof place === 'number') onReading?.(readingAt(line, place));
            },
          ],
          setScale: [
            (self, key) => {
              const { min, max } = self.scales['x'] ?? {};
              if (key !== 'x' || typeof min !== 'number' || typeof max !== 'number') return;
              range = { min, max };
              queueMicrotask(() => onRange?.(min, max, self.scales['y']?.min ?? 0));
            },
          ],
        },
      },
      [line.times, line.counts],
      host,
    );
    if (range !== undefined) plot.setScale('x', range);
  };

  redraw();
  for (const query of LOOKS) matchMedia(query).addEventListener('change', redraw, { signal });
  // A style sheet may say by a transition that the text has another colour.
  host.addEventListener('transitionend', redraw, { signal });
  const observer = new ResizeObserver(() => {
    if (host.clientWidth !== width && host.clientWidth > 0) redraw();
  });
  observer.observe(host);
  // A finger moves the cursor sideways, as the mouse does.
  const follow = ({ pointerType, clientX, clientY }: PointerEvent) => {
    if (pointerType !== 'touch' || plot === undefined) return;
    const { left, top } = plot.over.getBoundingClientRect();
    plot.setCursor({ left: clientX - left, top: clientY - top });
  };
  host.addEventListener('pointerdown', follow, { signal });
  host.addEventListener('pointermove', follow, { signal });
  endings.set(host, () => {
    ending.abort();
    observer.disconnect();
    plot?.destroy();
  });

  return {
    show: (reading) => {
      const place = line.places[reading] ?? 0;
      const seconds = line.times[place] ?? 0;
      const { min = seconds, max = seconds } = plot?.scales['x'] ?? {};
      const point = () => {
        const [left, top] = [plot?.valToPos(seconds, 'x'), plot?.valToPos(line.counts[place] ?? 0, 'y')];
        if (left !== undefined && top !== undefined) plot?.setCursor({ left, top }, false);
      };
      if (seconds >= min && seconds <= max) return point();
      // As wide as before, and nothing that is not between the first reading and the last.
      const [first, last] = [line.times[0] ?? min, line.times.at(-1) ?? max];
      const from = Math.max(first, Math.min(seconds - (max - min) / 2, last - (max - min)));
      plot?.setScale('x', { min: from, max: from + (max - min) });
      // The scale changes in a microtask.
      queueMicrotask(() => {
        point();
        onReading?.(reading);
      });
    },
    zoom: (min, max) => plot?.setScale('x', { min, max }),
    mark: (readings) => {
      rings = readings;
      plot?.redraw(false);
    },
  };
}
