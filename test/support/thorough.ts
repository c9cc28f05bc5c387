/**
 * One file of tests for both runs: `npm test` runs what it says by `it`, `npm run test:full` what it
 * says by `thorough`, and both run `always`, for which `some` gives the quick run fewer cases.
 */
import { it as always } from 'vitest';

export { always };

/** Whether this is `npm run test:full`. */
export const isThorough = process.env['TEST_THOROUGH'] === '1';

export const it = isThorough ? always.skip : always;
export const thorough = isThorough ? always : always.skip;

/** All cases, or in `npm test` so many, evenly spread from the first to the last. */
export function some<T>(all: readonly T[], count: number): T[] {
  if (isThorough || all.length <= count) return [...all];
  const step = count === 1 ? 0 : (all.length - 1) / (count - 1);
  return Array.from({ length: count }, (_, at) => all[Math.round(at * step)]).filter(
    (each) => each !== undefined,
  );
}

/** All cases, or in `npm test` one of so many. */
export function* oneIn<T>(count: number, all: Iterable<T>): Generator<T> {
  let at = 0;
  for (const each of all) if (isThorough || (at += 1) % count === 0) yield each;
}
