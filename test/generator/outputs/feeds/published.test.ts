/** When entries of feeds are said to be published, and which group an owner is of. */
import { expect, it } from 'vitest';
import { EntryMaker } from '../../../../generator/outputs/feeds/entries.js';
import { NAMES, OWNERS } from '../../../../generator/outputs/feeds/changes.js';
import { ROUTES } from '../../../../generator/routes/index.js';
import { IMPRINT } from './imprint.js';

it.each([
  ['that the platform dates before its reading', '2026-05-26T08:00:00Z', '2026-05-26T08:00:00Z'],
  ['that nobody dates', null, '2026-05-27T08:00:00Z'],
  ['that the platform dates after its reading', '2026-05-28T08:00:00Z', '2026-05-27T08:00:00Z'],
])('a change %s is never updated before it is published', (_, changedAt, published) => {
  const { entry, measuredAt } = new EntryMaker(IMPRINT, ROUTES).dated({
    source: NAMES,
    id: 7,
    position: 2,
    from: ['Old'],
    to: ['New'],
    changedAt,
    measuredAt: '2026-05-27T08:00:00Z',
    changedAfter: null,
    name: null,
  });
  expect(entry.published).toBe(published);
  expect(entry.updated >= entry.published).toBe(true);
  expect(entry.updated).toBe(changedAt ?? measuredAt);
});

it('an owner is of a group by its id, where it had no name', () => {
  const { entry } = new EntryMaker(IMPRINT, ROUTES).dated({
    source: OWNERS,
    id: 7,
    position: 2,
    from: ['none', null, null],
    to: ['owned', 8, null],
    changedAt: null,
    measuredAt: '2026-05-27T08:00:00Z',
    changedAfter: null,
    name: null,
  });
  expect(entry.title).toBe('Owner of group 7 changed from no owner to user 8');
  expect(entry.content).not.toContain('<dt>Group</dt>');
});
