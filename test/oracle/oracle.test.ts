import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temporary } from '../support/folder.js';
import { histories, play } from './play.js';

const path = temporary();
/** More by `node build/test/oracle/main.js --rounds N`. 30 s. */
const TIME_MS = 30_000;

describe('a build that follows others', () => {
  it('gives the tree of a build from nothing, whatever became of the register', async () => {
    const folder = path('dist');
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        expect(await play(folder, history)).toBeUndefined();
      }),
      { numRuns: 1_000, interruptAfterTimeLimit: TIME_MS, markInterruptAsFailure: false },
    );
  });
});
