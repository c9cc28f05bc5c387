/** Archives of records that are new. */
import { expect, it } from 'vitest';
import { FIRSTS_ARCHIVES } from '../../../../generator/outputs/feeds/contents.js';
import { FEEDS_SECTION } from '../../../../generator/outputs/feeds/feeds.js';
import { Register } from '../../../../generator/register/database.js';
import { archiveText } from '../../../../generator/routes/keys.js';
import { temporary } from '../../../support/folder.js';
import { writeRegister } from '../../../support/register.js';
import { IMPRINT } from './imprint.js';

const path = temporary();
const month = (index: number): string =>
  `${2024 + Math.floor(index / 12)}-${String(1 + (index % 12)).padStart(2, '0')}`;

it('are only the newest, in whole months, however few are of a month', () => {
  const measured_at = '2026-09-20T08:00:00Z';
  const items = Array.from({ length: 33 * 190 }, (_, index) => ({
    id: index + 1,
    first_measured_at: `${month(Math.floor(index / 190))}-01T08:00:00Z`,
    measured_at,
  }));
  const register = Register.open(writeRegister(path('register.sqlite'), { items }));
  const changes = { tables: undefined, asOf: [measured_at, measured_at] } as const;
  const inputs = { operator: IMPRINT, changes, entries: 0 };
  const found = [...FEEDS_SECTION.render(register, inputs, () => false)].filter(
    ({ route }) => route === 'feed-items-archive',
  );
  register.close();
  expect(found[0]?.body).not.toContain('prev-archive');
  expect(found[1]?.body).toContain('rel="prev-archive"');
  const entries = found.map(({ key, body = '' }) => [archiveText(key), body.split('<entry>').length - 1]);
  // September, of which `month(32)` is the name, is not over.
  expect(entries).toEqual(Array.from({ length: FIRSTS_ARCHIVES }, (_, index) => [month(22 + index), 190]));
});
