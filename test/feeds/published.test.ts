/** When entries of feeds are said to be published. */
import { expect, it } from 'vitest';
import { EntryMaker } from '../../generator/outputs/feeds/entries.js';
import { NAMES } from '../../generator/outputs/feeds/changes.js';
import { ROUTES } from '../../generator/routes/index.js';
import { IMPRINT } from './nasty-document.js';

it.each([
  ['that the platform dates before its reading', '2026-05-26T08:00:00Z', '2026-05-26T08:00:00Z'],
  ['that nobody dates', null, '2026-05-27T08:00:00Z'],
  ['that the platform dates after its reading', '2026-05-28T08:00:00Z', '2026-05-27T08:00:00Z'],
])('a change %s is never updated before it is published', (_, changedAt, published) => {
  const { entry, measuredAt } = new EntryMaker(IMPRINT, ROUTES).change({
    source: NAMES,
    id: 7,
    position: 2,
    from: ['Old'],
    to: ['New'],
    changedAt,
    measuredAt: '2026-05-27T08:00:00Z',
    changedAfter: null,
  });
  expect(entry.published).toBe(published);
  expect(entry.updated >= entry.published).toBe(true);
  expect(entry.updated).toBe(changedAt ?? measuredAt);
});
