/** A made-up origin and a copy of it, for each test of a file. */
import { existsSync } from 'node:fs';
import { afterAll, afterEach, beforeEach } from 'vitest';
import { removeTree } from '../../support/tree.js';
import { hashesOf, inProcess, temporary } from '../publish/support.js';
import { impatient } from './impatient.js';
import { MadeUpOrigin } from './made-up.js';

/** Call it at the top of a test file. */
export async function copying() {
  const path = temporary();
  const waits = impatient();
  const origin = new MadeUpOrigin();
  const base = await origin.start(0);
  const out = path('copy');
  beforeEach(() => origin.reset());
  afterEach(() => removeTree(out));
  afterAll(() => origin.stop());
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
