/** A mirror that doesn't wait: before it repeats a request, nor for its share of the limits. */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { afterAll, afterEach, beforeAll } from 'vitest';

/** Call it at the top of a test file. @returns how long the mirror would have waited, in ms, in the test so far */
export function impatient(): readonly number[] {
  const { setTimeout } = timers;
  const waits: number[] = [];
  beforeAll(() => {
    Reflect.set(timers, 'setTimeout', (ms: number) => {
      waits.push(ms);
      return setTimeout(1);
    });
    syncBuiltinESMExports();
  });
  afterEach(() => {
    waits.length = 0;
  });
  afterAll(() => {
    Reflect.set(timers, 'setTimeout', setTimeout);
    syncBuiltinESMExports();
  });
  return waits;
}
