/** A made-up origin and a copy of it, for each test of a file, by a mirror that doesn't wait. */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { z } from 'zod';
import { removeTree } from '../../../support/tree.js';
import { hashesOf, inProcess, leftovers, temporary } from '../../publish/support.js';
import { MadeUpOrigin } from './made-up.js';

function replaceTimer(wait: (ms: number) => unknown): void {
  Reflect.set(timers, 'setTimeout', wait);
  syncBuiltinESMExports();
}

const resultSchema = z.looseObject({
  sequence: z.int(),
  fetched: z.string(),
  requests: z.int(),
  bytes: z.int(),
  changes: z.unknown(),
  log: z.unknown(),
});

/** Call it at the top of a test file. */
export async function copying() {
  const path = temporary();
  const waits: number[] = [];
  const { setTimeout } = timers;
  const origin = new MadeUpOrigin();
  const base = await origin.start();
  const out = path('copy');
  beforeAll(() =>
    replaceTimer((ms) => {
      waits.push(ms);
      return setTimeout(1);
    }),
  );
  beforeEach(() => {
    origin.reset();
    waits.length = 0;
  });
  afterEach(() => removeTree(out));
  afterAll(() => {
    replaceTimer(setTimeout);
    return origin.stop();
  });
  const run = (...options: string[]) => inProcess('mirror', base, '--out', out, ...options);
  /** The hash of each file of the copy. */
  const published = (): Record<string, string> => hashesOf(out);
  return {
    path,
    origin,
    /** The URL of the origin. */
    base,
    /** Where the copy is. */
    out,
    /** How long the mirror would have waited, in ms, in the test so far. */
    waits,
    run,
    published,
    /** Runs it to a good end. @returns its result, and what it asked for */
    copied: async (...options: string[]) => {
      origin.asked();
      const { code, stdout, stderr } = await run('--json', ...options);
      expect([code, stderr]).toEqual([0, '']);
      const [result, asked] = [resultSchema.parse(JSON.parse(stdout)), origin.asked()];
      expect(asked).toHaveLength(result.requests);
      expect(leftovers(out)).toEqual([]);
      return { ...result, asked };
    },
    /** Runs it in vain: the copy must stay what it was. @returns its exit code and message */
    refused: async (...options: string[]): Promise<[number | null, string]> => {
      const before = published();
      const { code, stdout, stderr } = await run(...options);
      expect([stdout, published()]).toEqual(['', before]);
      return [code, stderr];
    },
  };
}
