import type { Contender, Figure } from './suite.js';

/** Runs in turns, and what is made of their values. */

/** Values of all runs, in their order, by `CONTENDER/VALUE`. */
export type Values = ReadonlyMap<string, readonly number[]>;

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** A figure with what came out. */
export interface Result {
  readonly figure: Figure;
  readonly ours: Spread;
  readonly peer: Spread | undefined;
  /** Ours ÷ peer, run by run: what slows down the machine for a while slows down both. */
  readonly ratio: Spread | undefined;
  /** Whether the median ratio meets the target; undefined where there is none. */
  readonly holds: boolean | undefined;
}

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
        const series = values.get(key) ?? [];
        series.push(value);
        values.set(key, series);
      }
    }
  }
  return values;
}

/** @throws Error for a figure of something no contender gave */
export function resultOf(figure: Figure, values: Values): Result {
  const ours = seriesOf(figure.ours, values);
  const { peer, target, better } = figure;
  if (peer === undefined) {
    return { figure, ours: spread(ours), peer: undefined, ratio: undefined, holds: undefined };
  }
  const peers = typeof peer === 'number' ? ours.map(() => peer) : seriesOf(peer, values);
  const ratio = spread(ours.map((value, run) => value / (peers[run] ?? Number.NaN)));
  const meets = better === 'higher' ? ratio.median >= (target ?? 0) : ratio.median <= (target ?? Infinity);
  return {
    figure,
    ours: spread(ours),
    peer: spread(peers),
    ratio,
    holds: target === undefined ? undefined : meets,
  };
}

function seriesOf(key: string, values: Values): readonly number[] {
  const series = values.get(key);
  if (series === undefined) {
    throw new Error(`figure of "${key}": expected one of ${[...values.keys()].join(', ')}`);
  }
  return series;
}

/** The lower of the two in the middle for an even count: no value that was never measured. */
export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  return { median: at(Math.floor((sorted.length - 1) / 2)), min: at(0), max: at(sorted.length - 1) };
}
