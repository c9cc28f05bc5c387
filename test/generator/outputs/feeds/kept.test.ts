/** Documents of feeds are rendered only if an entry or a neighbour of theirs is another. */
import { expect, it } from 'vitest';
import { FIRSTS_ARCHIVES } from '../../../../generator/outputs/feeds/contents.js';
import { FEEDS_SECTION } from '../../../../generator/outputs/feeds/feeds.js';
import type { Kept, Output } from '../../../../generator/outputs/output.js';
import { Register } from '../../../../generator/register/database.js';
import { archiveText } from '../../../../generator/routes/keys.js';
import { temporary } from '../../../support/folder.js';
import { changeRegister, writeRegister } from '../../../support/register.js';
import { IMPRINT } from './imprint.js';

const path = temporary();

const JULY = '2026-07-01T08:00:00Z';
const SEPTEMBER = '2026-09-20T08:00:00Z';

/** The documents that a build renders, and what it notes of them all. */
class Builds {
  readonly file: string;
  readonly #known = new Map<string, string>();

  constructor(file: string) {
    this.file = file;
  }

  /** Routes and keys of what is rendered. */
  rendered(): string[] {
    return this.outputs().map(({ route, key }) => (key === 0 ? route : `${route} ${archiveText(key)}`));
  }

  outputs(): readonly (Output | Kept)[] {
    const isSame = (route: string, key: number, inputs: Buffer): boolean => {
      const [name, hash] = [`${route} ${key}`, inputs.toString('hex')];
      const isKnown = this.#known.get(name) === hash;
      this.#known.set(name, hash);
      return isKnown;
    };
    const changes = { tables: undefined, asOf: [SEPTEMBER, SEPTEMBER] } as const;
    const register = Register.open(this.file);
    try {
      const inputs = { operator: IMPRINT, changes, entries: 0 };
      return [...FEEDS_SECTION.render(register, inputs, isSame)].filter(({ body }) => body !== undefined);
    } finally {
      register.close();
    }
  }
}

const archive = (month: string) => [`feed-games-archive ${month}`, `feed-games-archive-json ${month}`];
const current = (...names: readonly string[]) =>
  names.flatMap((name) => [`feed-${name}`, `feed-${name}-json`]);

it('are kept in both formats while their entries are the same', () => {
  const ids = Array.from({ length: 450 }, (_, index) => index + 1);
  const builds = new Builds(
    writeRegister(path('register.sqlite'), {
      games: ids.map((id) => ({
        id,
        name: `game ${id}`,
        first_measured_at: id > 440 ? SEPTEMBER : JULY,
        measured_at: SEPTEMBER,
      })),
      items: [{ id: 1, name: 'item', first_measured_at: SEPTEMBER, measured_at: SEPTEMBER }],
    }),
  );
  expect(builds.rendered()).toEqual([
    ...current('groups', 'users', 'new-groups', 'new-users'),
    ...['2026-07-00001', '2026-07-00002', '2026-07'].flatMap(archive),
    ...current('games', 'items', 'all'),
  ]);
  expect(builds.rendered()).toEqual([]);
  changeRegister(builds.file, `UPDATE games SET visits = 5, measured_at = '${SEPTEMBER}'`);
  expect(builds.rendered()).toEqual([]);
  changeRegister(builds.file, `UPDATE games SET name = 'renamed' WHERE id = 7`);
  expect(builds.rendered()).toEqual(archive('2026-07-00001'));
  changeRegister(builds.file, `UPDATE games SET name = 'renamed' WHERE id = 449`);
  expect(builds.rendered()).toEqual(current('games', 'all'));
});

const month = (index: number): string =>
  `${2024 + Math.floor(index / 12)}-${String(1 + (index % 12)).padStart(2, '0')}`;

it('are only the newest of records that are new, in whole months, however few of a month', () => {
  const items = Array.from({ length: 33 * 190 }, (_, index) => ({
    id: index + 1,
    first_measured_at: `${month(Math.floor(index / 190))}-01T08:00:00Z`,
    measured_at: SEPTEMBER,
  }));
  const found = new Builds(writeRegister(path('register.sqlite'), { items }))
    .outputs()
    .filter(({ route }) => route === 'feed-items-archive');
  expect(found[0]?.body).not.toContain('prev-archive');
  expect(found[1]?.body).toContain('rel="prev-archive"');
  const entries = found.map(({ key, body = '' }) => [archiveText(key), body.split('<entry>').length - 1]);
  // September, of which `month(32)` is the name, is not over.
  expect(entries).toEqual(Array.from({ length: FIRSTS_ARCHIVES }, (_, index) => [month(22 + index), 190]));
});
