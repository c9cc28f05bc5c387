import * as fc from 'fast-check';
import { expect } from 'vitest';
import { always, isThorough } from '../../support/thorough.js';
import { temporary } from '../../support/folder.js';
import { SWEEP } from '../../generator/publish/faults.js';
import { histories, play, type History } from './play.js';

const path = temporary();
/** More by `node build/test/system/oracle/main.js --rounds N`. 30 s, or 5 s in `npm test`. */
const TIME_MS = isThorough ? 30_000 : 5_000;

const PLAIN = { keepDownloads: false, skipInvalid: false, operator: 0, ends: [] };

/** A withheld name in another case stayed published when the column's collation changed, and nothing else. */
const COLLATION: History = {
  records: 40,
  seed: 0,
  steps: [
    { ...PLAIN, edits: [['a withheld user who is named in another case', { a: 0, b: 0, c: 0 }]] },
    { ...PLAIN, edits: [['a table of another shape', { a: 0, b: 6, c: 2 }]] },
  ],
};

/** A history stays whose record is gone, and nothing else changed. */
const ORPHAN: History = {
  records: 40,
  seed: 1,
  steps: [
    { ...PLAIN, edits: [] },
    { ...PLAIN, edits: [['a record that leaves its histories', { a: 3, b: 0, c: 1 }]] },
    { ...PLAIN, edits: [], skipInvalid: true },
  ],
};

/** Downloads were empty that a build had to write though it was to keep them: nothing was published before it. */
const KEPT: History = {
  records: 40,
  seed: 0,
  steps: [
    { ...PLAIN, edits: [], keepDownloads: true },
    { ...PLAIN, edits: [['a record at the end', { a: 0, b: 0, c: 3 }]] },
  ],
};

always('a build after others gives the tree of one from nothing, whatever came', SWEEP, async () => {
  const folder = path('dist');
  const deadline = performance.now() + TIME_MS;
  let played = 0;
  await fc.assert(
    fc.asyncProperty(histories(), async (history) => {
      // However slow the machine is, the examples are played: fast-check's own limit fails without any.
      if (played > 2 && performance.now() > deadline) return;
      played += 1;
      expect(await play(folder, history)).toBeUndefined();
    }),
    { numRuns: 1_000, examples: [[COLLATION], [ORPHAN], [KEPT]] },
  );
});
