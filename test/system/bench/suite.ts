/** What a suite of the bench is, how its contenders take turns, and the table that comes of it. */

/** What one run of a contender gave: values by name, such as `{ rps: 40123, p99: 2.1 }`. */
export type Sample = Readonly<Record<string, number>>;

/** A program under measurement. Each call is one run. */
export interface Contender {
  readonly name: string;
  readonly run: () => Promise<Sample>;
}

/** One row of the table: a value of ours against one of a peer in the same run, or against a bound. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  /** `CONTENDER/VALUE`, as in `proxy/rps`. */
  readonly ours: string;
  readonly better: 'higher' | 'lower';
  /** The same of a peer, or a bound in the figure's unit. */
  readonly peer: string | number;
  /** What ours ÷ peer has to reach (`higher`) or must not exceed (`lower`); undefined for a mark to look at. */
  readonly target: number | undefined;
}

export const figure = (
  name: string,
  unit: string,
  ours: string,
  better: Figure['better'],
  peer: Figure['peer'],
  target?: number,
): Figure => ({ name, unit, ours, better, peer, target });

export interface Suite {
  readonly name: string;
  readonly description: string;
  readonly figures: readonly Figure[];
  readonly prepare: (context: Context) => Promise<Prepared>;
}

export interface Prepared {
  readonly contenders: readonly Contender[];
  /** What a reader has to know of this run: sizes, counts, settings. */
  readonly notes: readonly string[];
}

export interface Context {
  /** An empty folder of this suite's own, removed afterwards. */
  readonly folder: string;
  /** A register to measure with; undefined for a fictional one. */
  readonly register: string | undefined;
  readonly tree: string | undefined;
  readonly say: (line: string) => void;
}

/** Values of all runs, in their order, by `CONTENDER/VALUE`. */
export type Values = ReadonlyMap<string, readonly number[]>;

/** Has the contenders take turns, A B C A B C …, so that none has the quiet half of an hour for itself. */
export async function interleave(
  contenders: readonly Contender[],
  runs: number,
  say: (line: string) => void,
): Promise<Values> {
  const values = new Map<string, number[]>();
  for (let run = 1; run <= runs; run += 1) {
    for (const contender of contenders) {
      const sample = Object.entries(await contender.run());
      const text = sample.map(([name, value]) => `${name} ${Number(value.toPrecision(5))}`).join(', ');
      say(`run ${run} of ${runs}, ${contender.name}: ${text}`);
      for (const [name, value] of sample) {
        const key = `${contender.name}/${name}`;
        values.set(key, [...(values.get(key) ?? []), value]);
      }
    }
  }
  return values;
}

type Spread = Readonly<Record<'median' | 'min' | 'max', number>>;

/** The lower of the two in the middle for an even count: no value that was never measured. */
function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  return { median: at(Math.floor((sorted.length - 1) / 2)), min: at(0), max: at(sorted.length - 1) };
}

export interface Result {
  readonly figure: Figure;
  readonly ours: Spread;
  readonly peer: Spread;
  /** Ours ÷ peer, run by run: what slows down the machine for a while slows down both. */
  readonly ratio: Spread;
  /** Whether the median ratio meets the target; undefined where there is none. */
  readonly holds: boolean | undefined;
}

/** @throws Error for a figure of something no contender gave */
export function resultOf(figure: Figure, values: Values): Result {
  const { peer, target, better } = figure;
  const series = (key: string): readonly number[] => {
    const found = values.get(key);
    if (found === undefined) throw new Error(`"${key}": expected one of ${[...values.keys()].join(', ')}`);
    return found;
  };
  const ours = series(figure.ours);
  const peers = typeof peer === 'number' ? ours.map(() => peer) : series(peer);
  const ratio = spread(ours.map((value, run) => value / (peers[run] ?? Number.NaN)));
  const meets = (bound: number) => (better === 'higher' ? ratio.median >= bound : ratio.median <= bound);
  const holds = target === undefined ? undefined : meets(target);
  return { figure, ours: spread(ours), peer: spread(peers), ratio, holds };
}

const HEAD = ['What', 'Ours', 'Peer', 'Ratio (min–max)', 'Target', 'Holds'];

export const table = (results: readonly Result[]): string =>
  [HEAD, HEAD.map(() => '---'), ...results.map(row)].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

function row({ figure: { name, unit, target, better, ...figure }, ours, peer, ratio, holds }: Result) {
  const peerName = typeof figure.peer === 'string' ? `${figure.peer.replace(/\/.*/, '')}: ` : '';
  return [
    name,
    withSpread(ours, ` ${unit}`),
    peerName + withSpread(peer, ` ${unit}`),
    withSpread(ratio, ''),
    target === undefined ? '' : `${better === 'higher' ? '≥' : '≤'} ${target}`,
    holds === undefined ? '' : holds ? 'yes' : '**no**',
  ];
}

const withSpread = ({ median, min, max }: Spread, unit: string): string =>
  digits(median) + unit + (min === max ? '' : ` (${digits(min)}–${digits(max)})`);

/** Three digits that count, thousands apart. */
function digits(value: number): string {
  if (value === 0 || Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}
