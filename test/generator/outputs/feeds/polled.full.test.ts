/** A feed reader that keeps what is newer than its last poll, as most bots do, over many snapshots. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { published } from '../../../support/build.js';
import { temporary } from '../../../support/folder.js';
import { changeRegister, writeRegister } from '../../../support/register.js';

const path = temporary();

const feed = z.object({
  items: z.array(z.object({ id: z.string(), date_published: z.string(), date_modified: z.string() })),
});

/** Reads a JSON feed back to its last poll. */
class Bot {
  readonly name: string;
  /** The ids of entries, in the order in which it saw them. */
  readonly seen: string[] = [];
  #lastPoll = '';

  constructor(name: string) {
    this.name = name;
  }

  poll(out: string): void {
    const since = this.#lastPoll;
    const { items } = feed.parse(JSON.parse(readFileSync(join(out, `feeds/${this.name}.json`), 'utf8')));
    const fresh = items.filter(({ date_published: published }) => published > since);
    this.seen.push(...fresh.map(({ id }) => id.replace(/^tag:[^:]+:/, '')));
    this.#lastPoll = fresh[0]?.date_published ?? since;
  }
}

const IDS = Array.from({ length: 150 }, (_, index) => index + 1);
const MONTH_BEFORE = '2026-10-01T08:00:00Z';
const FIRST = { first_measured_at: MONTH_BEFORE, last_measured_at: MONTH_BEFORE };
const RECORD = { first_measured_at: MONTH_BEFORE, measured_at: MONTH_BEFORE };

/** A third of the groups is renamed on each of three days; the platform dates some this year, years ago, or even later. */
const dayOfChanges = (day: number): string => `
  CREATE TEMP TABLE today AS SELECT id, '2026-11-0${day}T08:00:00Z' AS read FROM groups WHERE id % 3 = ${day} % 3;
  UPDATE groups SET measured_at = (SELECT read FROM today) WHERE id IN (SELECT id FROM today);
  INSERT INTO group_names (group_id, position, name, changed_at, first_measured_at, last_measured_at)
    SELECT id, 2, 'new', iif(id % 4 = 0, '2012-01-01T00:00:00Z', iif(id % 4 = 1, '2026-11-0${day}T20:00:00Z', NULL)),
      read, read FROM today;
  INSERT INTO games (id, first_measured_at, measured_at) SELECT 1000 * ${day} + id, read, read FROM today;`;

it('a bot sees each change and each new record once, whenever the platform dates it', async () => {
  const [register, out] = [path('register.sqlite'), path('dist')];
  writeRegister(register, {
    groups: IDS.map((id) => ({ id, ...RECORD })),
    group_names: IDS.map((id) => ({ group_id: id, position: 1, name: 'old', ...FIRST })),
  });
  const bots = ['groups', 'new-groups', 'games'].map((name) => new Bot(name));
  for (const day of [0, 1, 2, 3]) {
    if (day > 0) changeRegister(register, dayOfChanges(day));
    await published({ register, out });
    for (const bot of bots) bot.poll(out);
  }
  const games = IDS.map((id) => `game/${1000 * (id % 3 || 3) + id}/first_measured_at/1`);
  expect(bots.map(({ seen }) => seen.toSorted())).toEqual([
    IDS.map((id) => `group/${id}/name/2`).toSorted(),
    IDS.map((id) => `group/${id}/first_measured_at/1`).toSorted(),
    games.toSorted(),
  ]);
});
