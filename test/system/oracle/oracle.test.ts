import * as fc from 'fast-check';
import { expect } from 'vitest';
import { always, isThorough } from '../../support/thorough.js';
import { temporary } from '../../support/folder.js';
import { SWEEP } from '../../generator/publish/faults.js';
import { histories, play, type History } from './play.js';

const path = temporary();
/** For histories by chance; more by `node build/test/system/oracle/main.js ROUNDS`. 20 s. */
const TIME_MS = 20_000;

const PLAIN = { edits: [], keepDownloads: false, skipInvalid: false, operator: 0 };

/** Documents that come, go, change and shrink, in builds with and without downloads. */
const SHORT: History = {
  records: 40,
  seed: 0,
  steps: [
    { ...PLAIN, keepDownloads: true },
    {
      ...PLAIN,
      edits: [
        ['records that are gone', { a: 3, b: 1, c: 0 }],
        ['a record withheld', { a: 2, b: 0, c: 1 }],
        ['ids of the platform of many', { a: 0, b: 0, c: 2 }],
        ['a record that leaves its histories', { a: 3, b: 0, c: 1 }],
      ],
      skipInvalid: true,
    },
  ],
};

always('a build after others gives the tree of one from nothing, whatever came', SWEEP, async () => {
  const folder = path('dist');
  expect(await play(folder, SHORT)).toBeUndefined();
  if (!isThorough) return;
  const deadline = performance.now() + TIME_MS;
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      if (performance.now() < deadline) expect(await play(folder, history)).toBeUndefined();
    }),
    { numRuns: 1_000 },
  );
});
