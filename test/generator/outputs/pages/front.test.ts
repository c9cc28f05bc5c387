/** The front page: what it shows of a register, and that an edit leads to what a new build gives. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { published } from '../../../support/build.js';
import { temporary } from '../../../support/folder.js';
import { writeRegister } from '../../../support/register.js';
import type { Rows } from '../../../support/register.js';
import { between, textOf } from './site.js';

const path = temporary();
const pageOf = (out: string): string => readFileSync(join(out, 'index.html'), 'utf8');
/** A part of the page as text, without the spaces of its markup. */
const words = (html: string): string => textOf(html.replaceAll('<br>', ' ')).replaceAll(/\s+/g, ' ').trim();
const section = (html: string, id: string): string =>
  between(html, `<section aria-labelledby="${id}">`, '</section>')[0] ?? '';

const read = (group_id: number, day: string, member_count: number) => ({
  group_id,
  measured_at: `2026-${day}T08:00:00Z`,
  member_count,
});

const seen = (first: string, last: string) => ({
  first_measured_at: `${first}T08:00:00Z`,
  last_measured_at: `${last}T08:00:00Z`,
});

/** Half of the name is written from right to left. */
const HARBOUR = 'נמל Harbour';

const ROWS: Rows = {
  groups: [
    { id: 7, name: 'Lantern Guild', member_count: 3100 },
    { id: 8, name: HARBOUR, member_count: 60 },
    { id: 9, name: null, member_count: 50 },
  ],
  group_member_readings: [
    read(7, '10-18', 1000),
    read(7, '10-19', 1210),
    read(7, '10-20', 1420),
    // No reading for a month.
    read(7, '11-18', 3300),
    read(7, '11-19', 3200),
    read(7, '11-20', 3100),
    read(8, '10-20', 90),
    read(8, '11-20', 60),
  ],
  group_names: [
    { group_id: 7, position: 1, name: 'Candle Guild', ...seen('2025-01-05', '2025-11-19') },
    { group_id: 7, position: 2, name: 'Lamp Guild', ...seen('2025-11-20', '2026-11-18') },
    { group_id: 7, position: 3, name: 'Lantern Guild', ...seen('2026-11-19', '2026-11-20') },
  ],
  users: [{ id: 4, username: 'marlow' }],
  usernames: [
    { user_id: 4, position: 1, username: 'finch', ...seen('2026-10-01', '2026-10-01') },
    {
      user_id: 4,
      position: 2,
      username: 'marlow',
      changed_at: '2026-10-09T11:30:00Z',
      ...seen('2026-11-01', '2026-11-20'),
    },
  ],
};

async function frontOf(content: Rows | string): Promise<string> {
  const out = path('dist');
  await published({ register: writeRegister(path('register.sqlite'), content), out });
  return pageOf(out);
}

describe('the front page', () => {
  let html: string;
  beforeAll(async () => {
    html = await frontOf(ROWS);
  });

  it('shows the readings of the largest group, with its last number, its time and its gap', () => {
    const figure = between(html, '<figure', '</figure>')[0] ?? '';
    expect(figure).toContain('<a href="/group/7"><bdi>Lantern Guild</bdi></a>');
    // From 20 October, 1420 members, to 20 November, 3100 members.
    expect(words(figure)).toContain('3,100 members read 20 November 2026, 08:00 UTC · +1,680 in 30 days');
    // 33 days; the gap is from day 2 to day 31.
    expect(figure.match(/<rect /g)).toHaveLength(1);
    expect(figure).toContain('<rect class="gap" x="6.06%" width="87.88%"');
    expect(figure).toContain('Peak 3,300<tspan class="day">, 18 Nov 2026</tspan>');
    expect(words(figure)).toContain('1,000 18 Oct 2026 3,100 20 Nov 2026');
    expect(words(figure)).toContain(
      '6 readings, each a dot; a line joins neighbours. Hatched: nothing was read.',
    );
    expect(words(figure)).toContain('The axis starts at 1,000.');
  });

  it('says who moved, with both readings and their times', () => {
    const [gained = '', lost = ''] = between(section(html, 'movers'), '<ol class="movers">', '</ol>');
    expect(words(gained)).toBe('Lantern Guild +1,680 1,420 → 3,100 20 Oct 2026 – 20 Nov 2026');
    expect(words(lost)).toBe(`${HARBOUR} −30 90 → 60 20 Oct 2026 – 20 Nov 2026`);
    expect(lost).toContain(`<a class="name" href="/group/8"><bdi>${HARBOUR}</bdi></a>`);
    // Two readings, a line from the upper left to the lower right.
    expect(lost).toContain('<path d="M2 2L118 26"/>');
  });

  it('says what was renamed in the last year, and when that was, as far as it is known', () => {
    const [groups = '', users = ''] = between(section(html, 'renamed'), '<ul class="renamed">', '</ul>');
    expect(words(groups)).toBe('Lamp Guild → Lantern Guild between 18 Nov 2026 and 19 Nov 2026');
    expect(words(users)).toBe('finch → marlow on 9 Oct 2026');
    expect(users).toContain('<a href="/user/4"><bdi>marlow</bdi></a>');
  });

  it('lists the largest with the time of each number, and says what was not measured', () => {
    const rows = between(section(html, 'largest'), '<tr>', '</tr>').slice(1).map(words);
    expect(rows).toEqual([
      '1 Lantern Guild 3,100 20 Nov 2026 +1,680',
      `2 ${HARBOUR} 60 20 Nov 2026 −30`,
      '3 Group 9 50 20 Nov 2026 no reading then no readings',
    ]);
  });
});
