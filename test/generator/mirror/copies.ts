/** A made-up origin and a copy of it, for each test of a file, by a mirror that doesn't wait. */
import { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { removeTree } from '../../support/tree.js';
import { hashesOf, inProcess, temporary } from '../publish/support.js';
import { MadeUpOrigin } from './made-up.js';

function replaceTimer(wait: (ms: number) => unknown): void {
  Reflect.set(timers, 'setTimeout', wait);
  syncBuiltinESMExports();
}

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
  return {
    path,
    origin,
    /** The URL of the origin. */
    base,
    /** Where the copy is. */
    out,
    /** How long the mirror would have waited, in ms, in the test so far. */
    waits,
    run: (...options: string[]) => inProcess('mirror', base, '--out', out, ...options),
    /** The hash of each file of the copy. */
    published: (): Record<string, string> => (existsSync(out) ? hashesOf(out) : {}),
  };
}
