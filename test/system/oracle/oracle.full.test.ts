import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { temporary } from '../../support/folder.js';
import { SWEEP } from '../../generator/publish/faults.js';
import { histories, play } from './play.js';

const path = temporary();
/** More by `node build/test/system/oracle/main.js ROUNDS`. 25 s. */
const TIME_MS = 25_000;

it('a build after others gives the tree of one from nothing, whatever came', SWEEP, async () => {
  const folder = path('dist');
  const deadline = performance.now() + TIME_MS;
  let played = 0;
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      // However slow the machine is, some are played.
      if (played > 2 && performance.now() > deadline) return;
      played += 1;
      expect(await play(folder, history)).toBeUndefined();
    }),
    { numRuns: 1_000 },
  );
});
