/** The pages of records in Debian's Chromium, over a register in which the values are known. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page, Route } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { published } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { csvObjects } from '../../support/csv.js';
import { startProxy, type RunningProxy } from '../../support/proxy.js';
import { writeRegister } from '../../support/register.js';
import {
  COUNT_SHIFTS,
  NO_HASHES,
  SCREENS,
  accessibilityOf,
  browsing,
  faultsOf,
  inChromium,
  sidewaysOf,
  type Opening,
  type Watched,
} from './browser.js';
import { daysFrom } from './days.js';

const path = temporary();
const out = path('dist');
let proxy: RunningProxy;

const HOSTILE = '</script><script>document.title="x"</script><img src=x onerror=alert(1)> "\'& {id} ${name}';
const RTL = 'מגדל האור השקט';
const { at, between } = daysFrom('2025-01-01T06:00:00Z');
/** Days of the readings of group 1: 690 in a row, but for 30 of them. */
const DAYS = Array.from({ length: 690 }, (_, day) => day).filter((day) => day < 300 || day >= 330);
/** Grows by 10 a day to 10,000 + 500 * 10 on day 500, then falls by 1 a day. */
const membersOn = (day: number): number => (day <= 500 ? 10_000 + 10 * day : 15_000 - (day - 500));
const LAST = 689;

const measured = { first_measured_at: at(0), measured_at: at(LAST), measurements: DAYS.length };

type Cell = string | number | null;
/** Rows by columns; what a row lacks at its end is null. */
const table = (columns: string, ...rows: readonly Cell[][]) =>
  rows.map((row) => Object.fromEntries(columns.split(' ').map((column, at) => [column, row[at] ?? null])));

const OWNED = 'owner_state owner_id owner_name';
const GROUPS = table(
  `id name member_count state ${OWNED}`,
  [1, 'Snowy River Workshop', membersOn(LAST), 'present', 'owned', 10, 'quick_hill'],
  // Its owner is withheld.
  [2, HOSTILE, 5, 'locked', 'owned', 11, 'secret'],
  [3, RTL, 7, 'present', 'none'],
  [4],
  [5, 'Withheld', 9],
  [6, 'W'.repeat(400), 1, null, null, 999, 'elsewhere'],
  [7, 'Read before', 41],
  [8, 'Read once before', 9],
);
/** Their members were not read at the last measurement. */
const MEASURED_LATER = { ...measured, measured_at: at(LAST + 4) };
const MORE_OF_1 = {
  ...measured,
  description: `One\nTwo ${HOSTILE}`,
  public_entry: 1,
  created_at: '2019-05-04T17:20:00Z',
};

const REGISTER = {
  groups: GROUPS.map((group) => ({
    ...group,
    ...(group['id'] === 1 && MORE_OF_1),
    ...(Number(group['id']) > 6 && MEASURED_LATER),
  })),
  group_member_readings: [
    ...DAYS.map((day) => ({ group_id: 1, measured_at: at(day), member_count: membersOn(day) })),
    { group_id: 3, measured_at: '2026-11-20T08:00:00Z', member_count: 7 },
    ...[1, 2, 3, 4, 5, 16, 17].map((day) => ({
      group_id: 7,
      measured_at: at(day),
      member_count: day === 1 ? 40 : 41,
    })),
    { group_id: 8, measured_at: at(9), member_count: 9 },
  ],
  group_names: [
    { group_id: 1, position: 1, name: HOSTILE, ...between(0, 100) },
    { group_id: 1, position: 2, name: 'Snowy River Workshop', ...between(104, LAST) },
    { group_id: 7, position: 1, name: 'Read before', ...between(1, 17) },
  ],
  group_owners: [
    { owner_state: 'none', ...between(0, 50) },
    { owner_state: 'owned', owner_id: 11, owner_name: 'secret', ...between(51, 99) },
    { owner_state: 'owned', owner_id: 10, owner_name: 'quick_hill', ...between(100, LAST) },
    { group_id: 7, position: 1, owner_state: 'none', ...between(1, 5) },
    {
      group_id: 7,
      position: 2,
      owner_state: 'owned',
      owner_id: 10,
      owner_name: 'quick_hill',
      ...between(16, 17),
    },
  ].map((owner, index) => ({ group_id: 1, position: index + 1, ...owner })),
  users: table(
    'id username display_name state created_at',
    [10, 'quick_hill', 'Quick', 'banned', '2017-02-11T09:00:00Z'],
    [11, 'secret'],
  ),
  usernames: [
    { user_id: 10, position: 1, username: 'slow_hill', changed_at: null, ...between(3, 3) },
    {
      user_id: 10,
      position: 2,
      username: 'quick_hill',
      changed_at: '2020-06-01T12:30:00Z',
      ...between(3, 9),
    },
  ],
  games: table(
    'id name state access creator_type creator_id creator_name playing visits up_votes down_votes',
    [7, 'Lantern Harbour', 'present', 'free', 'group', 1, 'Snowy River Workshop', 1290, 70_214_993, 75, 25],
  ),
  items: table(
    'id name favourites state price_state limited lowest_resale_price quantity_total quantity_remaining asset_type_id asset_type',
    [8, 'Copper Diving Helmet', null, 'present', 'unlisted', 1, 1180, 5000, 12, 8, 'Hat'],
    [9, 'Copper Cloak', 15],
  ),
  withheld: [
    { kind: 'group', id: 5, since: '2026-01-01T00:00:00Z' },
    { kind: 'user', id: 11, since: '2026-01-01T00:00:00Z' },
  ],
};

const openPage = browsing(async () => {
  const register = writeRegister(path('register.sqlite'), REGISTER);
  await published({ register, out });
  return (proxy = await startProxy(out));
});

const open = (url: string, { prepare, ...opening }: Opening = {}): Promise<Watched> =>
  openPage(url, {
    ...opening,
    prepare: async (page) => {
      await page.addInitScript(COUNT_SHIFTS);
      await prepare?.(page);
    },
  });

/** Opens a record's page and waits until all of it is there. */
async function openRecord(url: string, opening?: Opening): Promise<Watched> {
  const watched = await open(url, opening);
  await watched.page.locator('#facts').waitFor();
  return watched;
}

const textOf = (page: Page, selector: string): Promise<string> => page.locator(selector).first().innerText();
const drawn = (page: Page) => page.locator('.plot canvas').waitFor();

const RECORDS = '/group/1 /group/2 /group/3 /group/4 /group/6 /user/10 /game/7 /item/8 /group'.split(' ');

inChromium.each(RECORDS)('the page %s', (url) => {
  it.each(SCREENS)('is in order on %s, and nothing moves while it loads', async (_, screen) => {
    const watched = await open(url, screen);
    const { page } = watched;
    await page.locator(url === '/group' ? '.lookup' : '#facts').waitFor();
    if (url === '/group/1') await drawn(page);
    await page.waitForTimeout(300);
    expect(await page.evaluate('window.shifts')).toBe(0);
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await page.locator('.lookup').waitFor();
    expect(await faultsOf(watched)).toEqual([]);
  });
});

inChromium('the page of a group', () => {
  it('says what it is, the number that matters, when it was read, and all changes with what bounds them', async () => {
    const { page } = await openRecord('/group/1');
    expect(await page.title()).toMatch(/^Snowy River Workshop · group 1 – /);
    expect(await textOf(page, 'h1')).toBe('Snowy River Workshop');
    // Day 689 after 1 January 2025 is 21 November 2026.
    expect(await textOf(page, '.main-figure')).toMatch(/^14,811 members\s+read 21 November 2026, 06:00 UTC$/);
    expect(await page.locator('.byline a').getAttribute('href')).toBe('/user/10');
    const [day, week, month] = await page.locator('.change').all();
    const words = ', from 14,818 on 14 November 2026, 06:00 UTC to 14,811 on 21 November 2026, 06:00 UTC';
    expect(await day?.textContent()).toMatch(/^−1 in a day, from 14,812/);
    expect(await week?.textContent()).toBe(`−7 in a week${words}`);
    expect(await month?.textContent()).toMatch(/^−30 in 30 days, from 14,841/);
    await week?.focus();
    expect(await textOf(page, '.change-note')).toBe(`In a week: ${words.slice(2)}.`);
    const rows = (id: string) => page.locator(`[aria-labelledby=${id}] .what`).allInnerTexts();
    expect(await rows('names')).toEqual([
      'Snowy River Workshop\nnow; changed between 11 April 2025, 06:00 UTC and 15 April 2025, 06:00 UTC',
      `${HOSTILE}\nfirst read 1 January 2025, 06:00 UTC`,
    ]);
    expect((await rows('owners')).map((each) => each.split('\n')[0])).toEqual([
      'quick_hill',
      'not published, or not measured',
      'no owner',
    ]);
    expect(await textOf(page, '.description')).toBe(`One\nTwo ${HOSTILE}`);
  });

  it('dates a count by its newest reading, however much later the record was measured', async () => {
    const { page } = await openRecord('/group/7');
    expect(await textOf(page, '.main-figure')).toMatch(/^41 members\s+read 18 January 2025, 06:00 UTC$/);
    expect(await textOf(page, '.readout')).toMatch(
      /^41 members[^]*unchanged since 17 January 2025, 06:00 UTC$/,
    );
    const { page: once } = await openRecord('/group/8');
    expect(await textOf(once, '.main-figure')).toMatch(/^9 members\s+read 10 January 2025, 06:00 UTC$/);
    // Without its history nobody knows when it was read.
    const { page: broken } = await openRecord('/group/8', {
      prepare: (each) => each.route('**/history.json', (route) => route.abort()),
    });
    expect(await textOf(broken, '.main-figure')).toMatch(
      /^9 members\s+record last read 25 November 2026, 06:00 UTC$/,
    );
  });

  it('has whole numbers at its axis, and hatches names and owners where nothing was read', async () => {
    const { page } = await openRecord('/group/7', {
      prepare: (each) =>
        each.addInitScript(`window.drawn = [];
          const { fillText } = CanvasRenderingContext2D.prototype;
          CanvasRenderingContext2D.prototype.fillText = function (text, ...more) {
            window.drawn.push(text);
            return fillText.call(this, text, ...more);
          };`),
    });
    await drawn(page);
    const texts = z.array(z.string()).parse(await page.evaluate('window.drawn'));
    expect([...new Set(texts.filter((text) => /^(?!2025)[\d.,]+$/.test(text)))]).toEqual([
      '39',
      '40',
      '41',
      '42',
    ]);
    expect(await textOf(page, '.axis-start')).toBe('The axis starts at 39, not at 0.');
    const parts = (name: string) =>
      page.evaluate(`[...document.querySelectorAll('[aria-labelledby=${name}] .track')].map((track) =>
        [...track.children].map((each) => [each.className, each.getAttribute('style')]))`);
    // Read on days 1 to 5, 16 and 17 of 1 to 17: from 25 % to 93.75 % nobody read anything.
    expect(await parts('names')).toEqual([
      [
        ['span now', 'left: 0%; width: 100%;'],
        ['unsure', 'left: 25%; width: 68.75%;'],
      ],
    ]);
    // Each has its share of the gap, and the first may have ended in it.
    expect(await parts('owners')).toEqual([
      [['span now', 'left: 93.75%; width: 6.25%;']],
      [
        ['span', 'left: 0%; width: 25%;'],
        ['unsure', 'left: 25%; width: 68.75%;'],
      ],
    ]);
  });

  it('walks through all readings by keyboard, and shows the value under the pointer, a year, and a table', async () => {
    const { page } = await openRecord('/group/1');
    await drawn(page);
    const plot = page.getByRole('slider');
    await plot.focus();
    const now = () => plot.getAttribute('aria-valuetext');
    expect(await now()).toBe('14,811 members, 21 November 2026, 06:00 UTC');
    await page.keyboard.press('ArrowLeft');
    expect(await now()).toBe('14,812 members, 20 November 2026, 06:00 UTC');
    expect(await textOf(page, '.readout')).toMatch(
      /14,812 members\s+20 November 2026, 06:00 UTC\s+−1 since 19/,
    );
    await page.keyboard.press('Home');
    expect(await now()).toBe('10,000 members, 1 January 2025, 06:00 UTC');
    await page.keyboard.press('ArrowLeft');
    expect(await plot.getAttribute('aria-valuenow')).toBe('1');
    for (let step = 0; step < 30; step += 1) await page.keyboard.press('PageUp');
    // The 301st reading follows the gap.
    expect(await now()).toBe('13,300 members, 27 November 2025, 06:00 UTC');
    expect(await plot.getAttribute('aria-valuenow')).toBe('301');
    await page.keyboard.press('End');
    expect(await plot.getAttribute('aria-valuenow')).toBe('660');
    expect(await textOf(page, '.axis-start')).toBe('The axis starts at 9.60\u00a0k, not at 0.');
    await page.locator('.u-over').hover({ position: { x: 1, y: 50 } });
    expect(await textOf(page, '.readout')).toMatch(/^10,000 members\s+1 January 2025/);
    expect(await textOf(page, '.readings')).toContain('Peak: 15,000 members on 16 May 2026, 06:00 UTC');
    const pressed = () => page.locator('.ranges [aria-pressed=true]').allInnerTexts();
    expect(await pressed()).toEqual(['All']);
    await page.getByRole('button', { name: '90 days' }).click();
    expect(await pressed()).toEqual(['90 days']);
    // From 14,901 to 14,811, with 8 % of 90 below.
    await expect.poll(() => textOf(page, '.axis-start')).toBe('The axis starts at 14.8\u00a0k, not at 0.');
    // To the first reading and back: as much is shown, and nothing before the first or after the last.
    await page.locator('.plot').focus();
    await page.keyboard.press('Home');
    await expect.poll(pressed).toEqual([]);
    await page.keyboard.press('End');
    await expect.poll(pressed).toEqual(['90 days']);
    await page.getByRole('button', { name: '1 year' }).click();
    expect(await pressed()).toEqual(['1 year']);
    const box = await page.locator('.u-over').boundingBox();
    if (box === null) throw new Error('the chart has no area');
    await page.mouse.move(box.x + 100, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 300, box.y + 60, { steps: 5 });
    await page.mouse.up();
    await expect.poll(pressed).toEqual([]);
    await page.getByRole('button', { name: 'All' }).click();
    await expect.poll(pressed).toEqual(['All']);
    await page.getByText('As a table').click();
    const rows = page.locator('.readings tbody tr');
    await expect.poll(() => rows.count()).toBe(200);
    expect(await rows.first().innerText()).toMatch(/^21 November 2026, 06:00 UTC\s+14,811\s+−1$/);
    expect(await textOf(page, '.readings details')).toContain('The newest 200 of 660 readings.');
  });

  it('keeps a hostile name as text, and an owner who is withheld unnamed', async () => {
    const { page } = await openRecord('/group/2');
    expect(await textOf(page, 'h1')).toBe(HOSTILE);
    expect(await page.locator('main img').count()).toBe(0);
    expect(await textOf(page, '.byline')).toBe('Owner: not published, or not measured');
    expect(await page.content()).not.toContain('secret');
  });

  it('writes a name from right to left where it is read so, and cuts one of hundreds of characters', async () => {
    const { page } = await openRecord('/group/3');
    expect(await textOf(page, 'h1')).toBe(RTL);
    expect(await page.evaluate('getComputedStyle(document.querySelector("h1")).direction')).toBe('rtl');
    expect(await textOf(page, '.record')).toContain('One reading so far: 7 members on 20 November 2026');
    expect(await page.locator('.plot').count()).toBe(0);
    const { page: long } = await openRecord('/group/6');
    expect(await long.title()).toMatch(/^W{80}… · group 6 – /);
    expect(await textOf(long, 'h1')).toBe(`${'W'.repeat(300)}…`);
    expect(await textOf(long, '.record-head')).toContain(
      'Cut after 300 of 400 characters; the JSON has all.',
    );
  });

  it('says what its facts mean on a phone when somebody asks', async () => {
    const { page } = await openRecord('/group/1', { viewport: { width: 375, height: 800 } });
    const meaning = page.getByText('When the register first measured the record.');
    expect(await meaning.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'What these mean' }).click();
    expect(await meaning.isVisible()).toBe(true);
  });

  it.each(['hover', 'focus'] as const)(
    'notes on %s of a link that an owner is not in the register',
    async (how) => {
      const { page } = await openRecord('/group/6');
      const link = page.locator('.byline a');
      await link[how]();
      await expect.poll(() => textOf(page, '.byline')).toBe('Owner: elsewhere (not in this register)');
      expect(await page.locator('#record-status').textContent()).toBe('elsewhere (not in this register).');
      const focused = 'document.activeElement.getAttribute("href")';
      expect(await page.evaluate(focused)).toBe(how === 'focus' ? '/user/999' : null);
    },
  );

  it('is drawn in the colours of the night, of forced colours and of paper', async () => {
    const { page, complaints } = await openRecord('/group/1');
    await drawn(page);
    const look = () => page.evaluate('document.querySelector(".plot canvas").toDataURL()');
    const seen = [await look()];
    for (const media of [{ colorScheme: 'dark' }, { colorScheme: 'dark', media: 'print' }] as const) {
      await page.emulateMedia(media);
      await expect.poll(look).not.toBe(seen.at(-1));
      seen.push(await look());
    }
    await page.emulateMedia({ media: null, colorScheme: 'light', forcedColors: 'active' });
    await expect.poll(look).not.toBe(seen.at(-1));
    expect(complaints).toEqual([]);
  });
});

inChromium('the pages of other kinds', () => {
  it('have a user’s names first, with the platform’s dates', async () => {
    const { page } = await openRecord('/user/10');
    expect(await page.locator('[aria-labelledby=usernames] .what').allInnerTexts()).toEqual([
      'quick_hill\nnow; from 1 June 2020, 12:30 UTC (the platform’s date)',
      'slow_hill\nuntil 1 June 2020, 12:30 UTC; since when is not known',
    ]);
    expect(await page.locator('h2').first().innerText()).toBe('Usernames');
  });

  it.each([
    ['/game/7', '.main-figure', /1,290 playing/],
    ['/game/7', '.votes', /^75\.0 % of 100 votes are for it \(75 for, 25 against\)$/],
    // It has no price because it is free, which is known.
    ['/game/7', '.facts', /none: access is free/],
    ['/item/8', '.main-figure', /No price in the catalogue/],
    ['/item/8', '.figures', /1,180 lowest resale price[^]*12 of 5,000 copies left/],
    ['/item/8', '.byline', /^Creator: not measured, or not published$/],
    // A number that was not measured keeps its place, without a unit.
    ['/item/9', '.main-figure', /^not measured price\s+read/],
    ['/item/9', '.figures', /^not measured lowest resale price[^]*15 favourites$/],
  ])('%s says in %s what the register has', async (url, part, text) => {
    const { page } = await openRecord(url);
    expect(await textOf(page, part)).toMatch(text);
  });
});

/** A record that the service refuses with this status. */
const failing = (status: number) =>
  open('/group/4', {
    prepare: (each) =>
      each.route('**/api/v1/group/4', (route) => route.fulfill({ status, body: '{"error":"not_found"}' })),
  });

inChromium('what goes wrong', () => {
  it('a record that has gone since is said to be gone, and of an error of the service what to do', async () => {
    const { page } = await failing(404);
    await expect.poll(() => textOf(page, 'h1')).toBe('No group 4 in this register');
    await page.locator('.lookup').waitFor();
    expect(await accessibilityOf(page)).toEqual([]);
    const { page: other } = await failing(503);
    await expect
      .poll(() => textOf(other, '.problem'))
      .toContain('(503). It usually recovers within minutes.');
  });

  it('a refusal is waited out, and then the record is shown', async () => {
    const strict = await startProxy(out, ['--api-tokens', '4', '--api-refill-seconds', '5']);
    onTestFinished(async () => void (await strict.stop()));
    while ((await strict.get('/api/v1/stats')).status !== 429);
    const { page } = await open('/group/3', { base: strict.base });
    await page.locator('.problem').waitFor();
    expect(await textOf(page, '.problem')).toContain('Too many requests came from your network.');
    expect(await page.locator('.problem button').isDisabled()).toBe(true);
    await page.locator('#facts').waitFor();
  });

  it('a broken history leaves the record, and can be asked for again', async () => {
    const { page } = await open('/group/4', {
      prepare: (each) => each.route('**/history.json', (route) => route.abort(), { times: 1 }),
    });
    await expect.poll(() => textOf(page, '.problem')).toContain('The history could not be loaded.');
    expect(await page.locator('#facts').isVisible()).toBe(true);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('#names').waitFor();
  });

  it.each([
    ['chart', 'The line could not be loaded; the table below has the readings.', '.plot canvas'],
    ['cite', 'The sentence to cite could not be loaded.', '#citation bdi'],
    ['lookup', 'The field could not be loaded.', '.lookup'],
  ])('the script of a part that did not load is asked for again: %s', async (script, words, then) => {
    const { page, complaints } = await open('/group/1', {
      prepare: (each) => each.route(`**/assets/${script}-*.js`, (route) => route.abort(), { times: 1 }),
    });
    await page.locator('#facts').waitFor();
    await page.getByRole('button', { name: 'Cite' }).click();
    await page.locator('.another').scrollIntoViewIfNeeded();
    await page.locator('.problem').waitFor();
    expect(await textOf(page, '.problem')).toContain(words);
    expect(await accessibilityOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator(then).waitFor();
    expect(await page.locator('.problem').count()).toBe(0);
    expect(complaints.filter((each) => !each.includes('net::ERR_FAILED'))).toEqual([]);
  });

  it.each(['no-preference', 'reduce'] as const)(
    'without its script, the page says after some seconds where the JSON is: motion %s',
    async (reducedMotion) => {
      const { page } = await open('/group/1', {
        reducedMotion,
        viewport: { width: 375, height: 800 },
        prepare: (each) => each.route('**/assets/record-*.js', (route) => route.abort()),
      });
      const heading = page.getByRole('heading', { name: 'A group in this register' });
      expect(await heading.isVisible()).toBe(false);
      await heading.waitFor({ timeout: 8000 });
      expect(await page.locator('main').innerText()).toContain('/api/v1/group/{id}');
      expect(await page.locator('.skeletons').isVisible()).toBe(false);
      expect(await page.evaluate('window.shifts')).toBe(0);
      expect(await accessibilityOf(page)).toEqual([]);
      expect(await sidewaysOf(page)).toBe(0);
    },
  );

  it('a slow service is not taken for a script that is missing', async () => {
    let held: Route | undefined;
    const { page } = await open('/group/1', {
      prepare: (each) => each.route('**/api/v1/group/1', (route) => void (held = route)),
    });
    await page.waitForTimeout(4500);
    expect(await page.locator('.skeletons').isVisible()).toBe(true);
    expect(await page.locator('h1').count()).toBe(0);
    await held?.continue();
    await page.locator('#facts').waitFor();
    expect(await page.evaluate('window.shifts')).toBe(0);
  });
});

const status = (page: Page): Promise<string> => textOf(page, '.lookup .status');
const seek = async (page: Page, text: string): Promise<void> => {
  await page.getByLabel('Id, address or name').fill(text);
  await page.keyboard.press('Enter');
};

const opened = async (...args: Parameters<typeof open>): Promise<Watched> => {
  const watched = await open(...args);
  await watched.page.locator('.lookup').waitFor();
  return watched;
};

inChromium('the field that finds records', () => {
  it('leads to an id, and from an address to the record of its kind', async () => {
    const { page } = await opened('/group');
    await seek(page, 'https://platform.example/users/10/profile');
    await page.waitForURL('**/user/10');
    await page.goto(`${proxy.base}/game`);
    await page.locator('.lookup').waitFor();
    expect(await page.getByLabel('Kind').inputValue()).toBe('game');
    await seek(page, '7');
    await page.waitForURL('**/game/7');
  });

  it('finds names, present and past, in whatever case', async () => {
    const { page, complaints } = await opened('/user');
    const matches = page.locator('.matches li');
    await seek(page, 'SLOW_hill');
    await expect.poll(() => status(page)).toBe('One user has or had this name.');
    expect(await matches.first().innerText()).toMatch(/^formerly slow_hill\s+user 10$/);
    expect(await page.locator('.matches a').getAttribute('href')).toBe('/user/10');
    await seek(page, HOSTILE);
    await expect.poll(() => status(page)).toBe('2 groups have or had this name.');
    expect(await matches.allInnerTexts()).toEqual([`${HOSTILE} group 2`, `formerly ${HOSTILE} group 1`]);
    await seek(page, 'nobody at all');
    await expect
      .poll(() => status(page))
      .toMatch(/^No published group, user, game or item has or had exactly this name\./);
    await seek(page, '');
    await expect.poll(() => status(page)).toBe('Enter an id, an address or a name.');
    expect(await matches.count()).toBe(0);
    expect(complaints.filter((each) => !each.includes('404'))).toEqual([]);
  });

  it('suggests records by the beginning of a name, and opens them by keys and by a click', async () => {
    const asked: string[] = [];
    const { page, complaints } = await opened('/user', {
      prepare: (each) => {
        each.on('request', (request) => asked.push(new URL(request.url()).pathname));
        return Promise.resolve();
      },
    });
    const input = page.getByRole('combobox', { name: 'Id, address or name' });
    const options = page.locator('[role=option]');
    await input.pressSequentially('qu');
    await page.waitForTimeout(400);
    expect(asked.filter((each) => each.startsWith('/api/'))).toEqual([]);
    await input.pressSequentially('ICK');
    await expect.poll(() => options.allInnerTexts()).toEqual(['quick_hill user 10']);
    expect(asked.filter((each) => each.startsWith('/api/'))).toEqual([
      '/api/v1/lookup/names',
      '/api/v1/lookup/names/1',
    ]);
    expect(await input.getAttribute('aria-expanded')).toBe('true');
    await input.press('ArrowDown');
    expect(await options.first().getAttribute('aria-selected')).toBe('true');
    expect(await input.getAttribute('aria-activedescendant')).toBe(await options.first().getAttribute('id'));
    expect(await accessibilityOf(page)).toEqual([]);
    await input.press('ArrowUp');
    expect(await input.getAttribute('aria-activedescendant')).toBeNull();
    await input.press('Escape');
    expect(await options.count()).toBe(0);
    expect(await input.inputValue()).toBe('quICK');
    await input.fill('slow');
    await expect.poll(() => options.allInnerTexts()).toEqual(['formerly slow_hill user 10']);
    await input.press('ArrowUp');
    await input.press('Enter');
    await page.waitForURL('**/user/10');
    await page.goto(`${proxy.base}/user`);
    // An id is no name.
    await input.fill('1000');
    await page.waitForTimeout(400);
    expect(await options.count()).toBe(0);
    await input.fill('quick_h');
    await options.first().click();
    await page.waitForURL('**/user/10');
    expect(complaints).toEqual([]);
  });

  it('is on the page of an address without a record, for the kind of that address', async () => {
    const { page, complaints } = await opened('/user/999');
    expect(await page.getByLabel('Kind').inputValue()).toBe('user');
    expect(await accessibilityOf(page)).toEqual([]);
    expect(await page.evaluate('window.shifts')).toBe(0);
    // The page itself.
    expect(complaints).toHaveLength(1);
  });

  it('does what a form says that was sent without its script, which isn’t on the way back', async () => {
    const { page } = await open('/group?kind=user&q=quick_hill');
    await page.locator('.matches a').waitFor();
    expect(await page.locator('.matches a').getAttribute('href')).toBe('/user/10');
    await page.goto(`${proxy.base}/group?kind=game&q=7`);
    await page.waitForURL('**/game/7');
    await page.goBack();
    expect(new URL(page.url()).search).toBe('?kind=user&q=quick_hill');
  });

  it('says no longer that it opens a record, back from there', async () => {
    const { page } = await opened('/group');
    await page.route('**/group/1', (route) => route.fulfill({ status: 204 }));
    await seek(page, '1');
    await expect.poll(() => status(page)).toBe('Opening …');
    // As a browser does that kept the page; tests run without such a memory.
    await page.evaluate('dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))');
    expect(await status(page)).toBe('');
  });

  it('says so where the browser can’t hash', async () => {
    const { page } = await opened('/group', { prepare: (each) => each.addInitScript(NO_HASHES) });
    await seek(page, 'quick_hill');
    await expect.poll(() => status(page)).toContain('only on an https address');
  });
});

inChromium('the history of a record', () => {
  it('is saved as CSV, made in the browser', async () => {
    const { page, complaints, outside } = await openRecord('/user/10', {});
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'usernames' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('user-10-usernames.csv');
    const rows = csvObjects(readFileSync(await download.path(), 'utf8'));
    expect(rows.map(({ user_id, position, username }) => [user_id, position, username])).toEqual([
      ['10', '1', 'slow_hill'],
      ['10', '2', 'quick_hill'],
    ]);
    expect([...complaints, ...outside]).toEqual([]);
  });
});

inChromium('the first load of a record', () => {
  it('is less than 60 kB, compressed by gzip, with the chart', async () => {
    const { page } = await openRecord('/group/1', { viewport: { width: 1280, height: 800 } });
    await drawn(page);
    const loaded = await page.evaluate('performance.getEntriesByType("resource").map(({ name }) => name)');
    const files = (Array.isArray(loaded) ? loaded : [])
      .map((url) => new URL(String(url)).pathname)
      // The field that finds records comes half a second later.
      .filter((file) => file.startsWith('/assets/') && !file.startsWith('/assets/lookup-'));
    expect(files.some((file) => /\/chart-\w+\.js$/.test(file))).toBe(true);
    const sizes = ['/group.html', ...new Set(files)].map((file) => {
      const body = readFileSync(join(out, file));
      // What is shorter has no compressed form.
      return body.length < 4096 || file.endsWith('.woff2') ? body.length : gzipSync(body).length;
    });
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(60_000);
  });
});
