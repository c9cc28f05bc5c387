/** The front page: what it shows of a register, and that an edit leads to what a new build gives. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporary } from '../../../support/folder.js';
import type { Rows } from '../../../support/register.js';
import { siteOf } from '../../../support/site.js';
import { between, textOf } from './site.js';

const path = temporary();
const pageOf = (out: string): string => readFileSync(join(out, 'index.html'), 'utf8');
/** A part of the page as text, without the spaces of its markup. */
const words = (html: string): string => textOf(html.replaceAll('<br>', ' ')).replaceAll(/\s+/g, ' ').trim();
const section = (html: string, id: string): string =>
  between(html, `<section aria-labelledby="${id}">`, '</section>')[0] ?? '';

const heroOf = (html: string): string => words(between(html, '<figure', '</figure>')[0] ?? '');
const largestOf = (html: string): string[] =>
  between(section(html, 'largest'), '<tr>', '</tr>').slice(1).map(words);

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

const frontOf = async (content: Rows | string, at = '2026-12-01T00:00:00Z') =>
  pageOf((await siteOf(path, content, { at })).out);

const front = await frontOf(ROWS);

describe('the front page', () => {
  it('shows the readings of the largest group, with its last number, its time and its gap', () => {
    const figure = between(front, '<figure', '</figure>')[0] ?? '';
    expect(figure).toContain('<a href="/group/7"><bdi>Lantern Guild</bdi></a>');
    for (const said of [
      // From 20 October, 1420 members, to 20 November, 3100 members.
      'The largest group Lantern Guild 3,100 members read 20 November 2026, 08:00 UTC · +1,680 in 30 days',
      '1,000 18 Oct 2026 3,100 20 Nov 2026',
      '6 readings, each a dot; a line joins neighbours. Hatched: nothing was read.',
      'The axis starts at 1,000.',
    ])
      expect(words(figure)).toContain(said);
    // 33 days; the gap is from day 2 to day 31.
    expect(figure.match(/<rect /g)).toHaveLength(1);
    expect(figure).toContain('<rect class="gap" x="6.06%" width="87.88%"');
    expect(figure).toContain('Peak 3,300<tspan class="day">, 18 Nov 2026</tspan>');
  });

  it('says who moved, with both readings and their times', () => {
    const [gained = '', lost = ''] = between(section(front, 'movers'), '<ol class="movers">', '</ol>');
    expect(words(gained)).toBe('Lantern Guild +1,680 1,420 → 3,100 20 Oct 2026 – 20 Nov 2026');
    expect(words(lost)).toBe(`${HARBOUR} −30 90 → 60 20 Oct 2026 – 20 Nov 2026`);
    expect(lost).toContain(`<a class="name" href="/group/8"><bdi>${HARBOUR}</bdi></a>`);
    // Two readings, a line from the upper left to the lower right.
    expect(lost).toContain('<path d="M2 2L118 26"/>');
  });

  it('says what was renamed in the last year, and when that was, as far as it is known', () => {
    const [groups = '', users = ''] = between(section(front, 'renamed'), '<ul class="renamed">', '</ul>');
    expect(words(groups)).toBe('Lamp Guild → Lantern Guild between 18 Nov 2026 and 19 Nov 2026');
    expect(words(users)).toBe('finch → marlow on 9 Oct 2026');
    expect(users).toContain('<a href="/user/4"><bdi>marlow</bdi></a>');
  });

  it('has them newest first by the day that it shows, and says a day once', async () => {
    const READ = { first_measured_at: '2026-11-20T08:00:00Z', last_measured_at: '2026-11-20T08:00:00Z' };
    const BEFORE = { first_measured_at: '2026-11-01T08:00:00Z', last_measured_at: '2026-11-20T03:10:00Z' };
    const front = await frontOf({
      groups: [1, 2, 3].map((id) => ({ id, name: `new ${id}`, measured_at: '2026-11-20T08:00:00Z' })),
      group_names: [
        ...[1, 2, 3].map((group_id) => ({ group_id, position: 1, name: `old ${group_id}`, ...BEFORE })),
        // What the platform dates is learned with the rest.
        { group_id: 1, position: 2, name: 'new 1', changed_at: '2026-11-02T08:00:00Z', ...READ },
        { group_id: 2, position: 2, name: 'new 2', ...READ },
        { group_id: 3, position: 2, name: 'new 3', changed_at: '2026-11-18T08:00:00Z', ...READ },
      ],
    });
    const [list = ''] = between(section(front, 'renamed'), '<ul class="renamed">', '</ul>');
    expect(between(list, '<li>', '</li>').map(words)).toEqual([
      'old 2 → new 2 between 03:10 and 08:00 UTC on 20 Nov 2026',
      'old 3 → new 3 on 18 Nov 2026',
      'old 1 → new 1 on 2 Nov 2026',
    ]);
  });

  it('lists the largest with the time of each number, and says what was not measured', () => {
    expect(largestOf(front)).toEqual([
      '1 Lantern Guild 3,100 20 Nov 2026 +1,680',
      `2 ${HARBOUR} 60 20 Nov 2026 −30`,
      '3 Group 9 50 20 Nov 2026 no reading then no readings',
    ]);
  });
});

it('a count has the time of its newest reading, however much later its record was measured', async () => {
  const later = { name: null, measured_at: '2026-11-25T09:42:00Z' };
  const { out } = await siteOf(path, {
    groups: [
      { id: 7, member_count: 40_621, ...later },
      { id: 8, member_count: 5, ...later },
    ],
    group_member_readings: [read(7, '11-22', 40_600), read(7, '11-23', 40_621), read(7, '11-24', 40_621)],
  });
  expect(heroOf(pageOf(out))).toContain('40,621 members read 24 November 2026, 08:00 UTC');
  expect(largestOf(pageOf(out))).toEqual([
    '1 Group 7 40,621 24 Nov 2026 no reading then',
    // It has no reading, so its record is all that is known.
    '2 Group 8 5 25 Nov 2026 no reading then no readings',
  ]);
  const start = words(readFileSync(join(out, 'developers.html'), 'utf8'));
  for (const said of [
    'Group 7 has no name that was read.',
    'It was last measured on 25 November 2026, 09:42 UTC.',
    'The newest reading of its members was on 24 November 2026, 08:00 UTC: 40,621 members.',
    'Unchanged since the reading of 23 November 2026, 08:00 UTC',
  ])
    expect(start).toContain(said);
  expect(start).not.toMatch(/at that time|\b0 since/i);
});

const listsOf = (html: string, id: string) => between(section(html, id), '<h3>', '</ol>').map(words);

const day = (date: string): string => `2026-11-${date}T08:00:00Z`;

describe('a register of', () => {
  it('games alone begins with those that are played most, and has the most visited and the newest', async () => {
    const html = await frontOf({
      games: [
        { id: 1, name: 'Harbour', playing: 50, visits: 9000, first_measured_at: day('03') },
        { id: 2, name: 'Circuit', playing: 200, visits: 10, genre: 'Racing', first_measured_at: day('02') },
        { id: 5, name: 'Quiet', playing: null, visits: 4500, first_measured_at: day('01') },
      ],
    });
    expect(heroOf(html)).toMatch(
      /The most played game Circuit 200 players read 20 November 2026, 08:00 UTC · Racing Harbour 50 20 Nov 2026 Each number/,
    );
    // A bar is a share of the highest.
    expect(html).toContain('<rect width="25%" height="100%"/>');
    expect(html).toContain('<a href="/api/v1/largest/games">More as JSON</a>');
    const [example = ''] = between(section(html, 'programs'), '<div class="answered">', '</div>');
    expect(example).not.toContain(': null');
    expect(words(example)).toMatch(/"visits": 9000, .* without \d+ more members that are null\.$/);
    expect(listsOf(html, 'games')).toEqual([
      'Most visits Harbour 9,000 20 Nov 2026 Quiet 4,500 20 Nov 2026 Circuit 10 Racing 20 Nov 2026',
      'Newest Harbour first read 3 Nov 2026 Circuit Racing first read 2 Nov 2026 Quiet first read 1 Nov 2026',
    ]);
  });

  it('items alone begins with the newest, by the platform’s dates where nobody knows of a first measurement', async () => {
    const unknown = { first_measured_at: null };
    const html = await frontOf({
      items: [
        { id: 1, name: 'Hat 1', created_at: '2026-01-05T08:00:00Z', favourites: 7, ...unknown },
        { id: 2, name: 'Hat 2', created_at: '2026-03-05T08:00:00Z', price: 120, ...unknown },
        { id: 3, name: 'Hat 3', price: 30, ...unknown },
      ],
    });
    expect(heroOf(html)).toContain(
      'The newest item Hat 2 created 5 March 2026, 08:00 UTC Hat 1 created 5 Jan 2026',
    );
    expect(listsOf(html, 'items')).toEqual([
      'Most favourites Hat 1 7 20 Nov 2026',
      'Highest prices, in currency units Hat 2 120 20 Nov 2026 Hat 3 30 20 Nov 2026',
    ]);
    expect(words(html)).not.toContain('first read 2');
  });

  it('users alone begins with the latest names, however old, and has the newest', async () => {
    const rows = {
      users: [{ id: 4, username: 'marlow', measured_at: '2028-11-20T08:00:00Z' }],
      usernames: ROWS['usernames'] ?? [],
    };
    const html = await frontOf(rows, '2028-12-01T00:00:00Z');
    expect(heroOf(html)).toContain('The latest name marlow formerly finch renamed on 9 Oct 2026');
    expect(listsOf(html, 'users')).toEqual(['Newest marlow first read 1 Nov 2026']);
    expect(section(html, 'renamed')).toBe('');
  });

  it('users alone shows the answer for one of them, whether former names are known or not', async () => {
    const html = await frontOf({ users: [{ id: 4, username: 'marlow' }] });
    expect(section(html, 'programs')).toContain('/api/v1/user/4');
  });

  it('groups alone without readings begins with the largest, in a list with bars', async () => {
    const { out } = await siteOf(path, { groups: ROWS['groups'] ?? [] });
    expect(heroOf(pageOf(out))).toContain(
      `The largest group Lantern Guild 3,100 members read 20 November 2026, 08:00 UTC ${HARBOUR} 60 20 Nov 2026`,
    );
    expect(section(pageOf(out), 'largest')).toBe('');
    // A count is dated by its record.
    const start = words(readFileSync(join(out, 'developers.html'), 'utf8'));
    expect(start).toContain('At that time it had 3,100 members.');
  });
});
