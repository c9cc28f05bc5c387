/** The pages of records in Debian's Chromium, over a register in which the values are known. */
import { readFileSync } from 'node:fs';
import type { Page, Route } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { csvObjects } from '../../support/csv.js';
import { temporary } from '../../support/folder.js';
import { startProxy, type RunningProxy } from '../../support/proxy.js';
import { matching } from '../../support/values.js';
import {
  COUNT_SHIFTS,
  NO_HASHES,
  SCREENS,
  accessibilityOf,
  browsing,
  faultsOf,
  faultsOnScreens,
  inChromium,
  serving,
  type Opening,
  type Watched,
} from './browser.js';
import { HOSTILE, RTL, WORKSHOP } from './workshop.js';

const path = temporary();
const out = path('dist');
let proxy: RunningProxy;

const openPage = browsing(async () => (proxy = await serving(path('register.sqlite'), WORKSHOP, out)));

const open = (url: string, { prepare, ...opening }: Opening = {}): Promise<Watched> =>
  openPage(url, {
    ...opening,
    prepare: async (page) => {
      await page.addInitScript(COUNT_SHIFTS);
      await prepare?.(page);
    },
  });

async function openRecord(url: string, opening?: Opening): Promise<Watched> {
  const watched = await open(url, opening);
  await watched.page.locator('#facts').waitFor();
  return watched;
}

const textOf = (page: Page, selector: string): Promise<string> => page.locator(selector).first().innerText();
const drawn = (page: Page) => page.locator('.plot canvas').waitFor();

/** One of each template, and the hostile, the long and the empty one. */
const RECORDS = '/group/1 /group/2 /group/4 /group/6 /user/10 /game/7 /item/8 /group'.split(' ');
const OPENED = RECORDS.map((url, at) => [url, SCREENS[at % 2]] as const);

/** Until the letters are there, and what they move has been drawn. */
const SETTLED = `document.fonts.ready.then(() =>
  new Promise((settle) => requestAnimationFrame(() => requestAnimationFrame(settle))))`;

inChromium('pages of records', () => {
  it.each(OPENED)('are in order on a phone and a desktop, and nothing moves: %s', async (url, screen) => {
    const watched = await open(url, screen);
    const { page } = watched;
    await page.locator(url === '/group' ? '.lookup' : '#facts').waitFor();
    if (url === '/group/1') await drawn(page);
    await page.evaluate(SETTLED);
    expect(await page.evaluate('window.shifts')).toBe(0);
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await page.locator('.lookup').waitFor();
    expect(await faultsOnScreens(watched)).toEqual([]);
  });

  it.each<[string, ...(readonly [string, RegExp])[]]>([
    [
      '/user/10',
      ['main h2', /^Usernames$/],
      ['.what', /^quick_hill\s+now; from 1 June 2020, 12:30 UTC \(the platform’s date\)$/],
      ['.what', /^slow_hill\s+until 1 June 2020, 12:30 UTC; since when is not known$/],
    ],
    [
      '/game/7',
      ['.main-figure', /1,290 playing/],
      ['.votes', /^75\.0 % of 100 votes are for it \(75 for, 25 against\)$/],
      // It has no price because it is free, which is known.
      ['.facts', /none: access is free/],
    ],
    [
      '/item/8',
      ['.main-figure', /No price in the catalogue/],
      ['.figures', /1,180 lowest resale price[^]*12 of 5,000 copies left/],
      ['.byline', /^Creator: not measured, or not published$/],
    ],
    // A number that was not measured keeps its place, without a unit.
    ['/item/9', ['.figures', /^not measured lowest resale price[^]*15 favourites$/]],
  ])('%s say what the register has', async (url, ...said) => {
    const { page } = await openRecord(url);
    for (const [part, text] of said)
      expect(await page.locator(part).allInnerTexts(), part).toContainEqual(matching(text));
  });

  it('have a history that is saved as CSV, made in the browser', async () => {
    for (const [url, list, name, rows] of [
      ['/user/10', 'usernames', 'usernames', [{ user_id: '10', position: '1', username: 'slow_hill' }, {}]],
      ['/group/8', 'names', 'group_names', [{ name: '' }, { name: 'a "quoted"\r\nname' }, {}]],
      // The first owner is null, and has the columns of the next one.
      ['/group/7', 'owners', 'group_owners', [{ owner_id: null }, { owner_name: 'quick_hill' }]],
    ] as const) {
      const { page, complaints, outside } = await openRecord(url);
      const begun = page.waitForEvent('download');
      await page.getByRole('button', { name: list }).click();
      const download = await begun;
      expect(download.suggestedFilename()).toBe(`${url.slice(1).replace('/', '-')}-${list}.csv`);
      const saved = csvObjects(readFileSync(await download.path(), 'utf8'));
      expect(saved).toMatchObject(rows);
      const [head = ''] = (await (await proxy.get(`/downloads/${name}.csv`)).text()).split('\r\n');
      expect(Object.keys(saved[0] ?? {})).toEqual(head.split(','));
      expect([...complaints, ...outside]).toEqual([]);
    }
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
    const readout = /^41 members[^]*unchanged since 17 January 2025, 06:00 UTC$/;
    expect(await textOf(page, '.readout')).toMatch(readout);
  });

  it('hatches names and owners where nothing was read', async () => {
    const { page } = await openRecord('/group/7');
    await drawn(page);
    expect(await textOf(page, '.axis-start')).toBe('The axis starts at 39, not at 0.');
    // The earliest of the highest.
    expect(await textOf(page, '.readings')).toContain('Peak: 41 members on 3 January 2025, 06:00 UTC');
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
    const readout = /14,812 members\s+20 November 2026, 06:00 UTC\s+−1 since 19/;
    expect(await textOf(page, '.readout')).toMatch(readout);
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowLeft');
    expect(await now()).toBe('10,000 members, 1 January 2025, 06:00 UTC');
    for (let step = 0; step < 30; step += 1) await page.keyboard.press('PageUp');
    // The 301st reading follows the gap.
    expect(await now()).toBe('13,300 members, 27 November 2025, 06:00 UTC');
    await page.keyboard.press('End');
    expect(await plot.getAttribute('aria-valuenow')).toBe('660');
    expect(await textOf(page, '.axis-start')).toBe('The axis starts at 9.60\u00a0k, not at 0.');
    await page.locator('.u-over').hover({ position: { x: 1, y: 50 } });
    expect(await textOf(page, '.readout')).toMatch(/^10,000 members\s+1 January 2025/);
    expect(await textOf(page, '.readings')).toContain('Peak: 15,000 members on 16 May 2026, 06:00 UTC');
    const pressed = () => page.locator('.ranges [aria-pressed=true]').allInnerTexts();
    expect(await pressed()).toEqual(['All']);
    await page.getByRole('button', { name: '90 days' }).click();
    // From 14,901 to 14,811, with 8 % of 90 below.
    await expect.poll(() => textOf(page, '.axis-start')).toBe('The axis starts at 14.8\u00a0k, not at 0.');
    // To the first reading and back: as much is shown, and nothing before the first or after the last.
    await plot.focus();
    await page.keyboard.press('Home');
    await expect.poll(pressed).toEqual([]);
    await page.keyboard.press('End');
    await expect.poll(pressed).toEqual(['90 days']);
    // From left to right, a part is chosen.
    await page.locator('.u-over').dragTo(page.locator('.u-over'), {
      sourcePosition: { x: 100, y: 60 },
      targetPosition: { x: 300, y: 60 },
    });
    await expect.poll(pressed).toEqual([]);
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
    const cut = 'Cut after 300 of 400 characters; the JSON has all.';
    expect(await textOf(long, '.record-head')).toContain(cut);
    // That its owner is not in the register is noted when the link has the focus, which stays.
    await long.locator('.byline a').focus();
    await expect.poll(() => textOf(long, '.byline')).toBe('Owner: elsewhere (not in this register)');
    expect(await long.locator('#record-status').textContent()).toBe('elsewhere (not in this register).');
    expect(await long.evaluate('document.activeElement.getAttribute("href")')).toBe('/user/999');
  });

  it('says what its facts mean on a phone when somebody asks', async () => {
    const { page } = await openRecord('/group/1', SCREENS[0]);
    const meaning = page.getByText('When the register first measured the record.');
    expect(await meaning.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'What these mean' }).click();
    expect(await meaning.isVisible()).toBe(true);
  });

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

inChromium('what goes wrong', () => {
  it.each([
    [404, 'h1', 'No group 4 in this register'],
    [503, '.problem', '(503). It usually recovers within minutes.'],
  ])('is said, with what to do: %i', async (status, part, words) => {
    const body = '{"error":"not_found"}';
    const { page } = await open('/group/4', {
      prepare: (each) => each.route('**/api/v1/group/4', (route) => route.fulfill({ status, body })),
    });
    await expect.poll(() => textOf(page, part)).toContain(words);
    expect(await page.locator('.lookup').count()).toBe(status === 404 ? 1 : 0);
    expect(await accessibilityOf(page)).toEqual([]);
  });

  it('a refusal is waited out, and then the record is shown', async () => {
    const strict = await startProxy(out, [], { limits: { api: { tokens: 4, refill_seconds: 5 } } });
    onTestFinished(async () => void (await strict.stop()));
    while ((await strict.get('/api/v1/stats')).status !== 429);
    const { page } = await open('/group/3', { base: strict.base });
    await page.locator('.problem').waitFor();
    expect(await textOf(page, '.problem')).toContain('Too many requests came from your network.');
    expect(await page.locator('.problem button').isDisabled()).toBe(true);
    await page.locator('#facts').waitFor();
  });

  it('a broken history leaves the record, and can be asked for again', async () => {
    const { page } = await openRecord('/group/8', {
      prepare: (each) => each.route('**/history.json', (route) => route.abort(), { times: 1 }),
    });
    await expect.poll(() => textOf(page, '.problem')).toContain('The history could not be loaded.');
    // Without it nobody knows when the count was read.
    const figure = /^9 members\s+record last read 25 November 2026, 06:00 UTC$/;
    expect(await textOf(page, '.main-figure')).toMatch(figure);
    // Nothing else of the page changes: what is open stays open, and the keyboard where it was.
    await page.getByRole('button', { name: 'Cite' }).click();
    await page.locator('#citation bdi').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('#names').waitFor();
    await expect.poll(() => textOf(page, '.main-figure')).toMatch(/^9 members\s+read 10 January 2025/);
    expect(await page.locator('#citation bdi').isVisible()).toBe(true);
    expect(await page.locator(':focus #names').count()).toBe(1);
  });

  it('without the number of the snapshot there is no sentence to cite, until it is asked for again', async () => {
    const { page } = await openRecord('/group/8', {
      prepare: (each) => each.route('**/snapshot.json', (route) => route.abort(), { times: 1 }),
    });
    await page.getByRole('button', { name: 'Cite' }).click();
    await expect
      .poll(() => textOf(page, '#citation'))
      .toContain('The number of the snapshot could not be loaded.');
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => textOf(page, '#citation bdi')).toContain(', snapshot 1, ');
  });

  it.each([
    ['chart', 'The line could not be loaded; the table below has the readings.', '.plot canvas'],
    ['cite', 'The sentence to cite could not be loaded.', '#citation bdi'],
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

  it('the field without its script leads to the page that has it', async () => {
    let failed: Promise<unknown> | undefined;
    const { page } = await open('/group/1', {
      prepare: (each) => {
        failed = each.waitForEvent('requestfailed');
        return each.route('**/assets/lookup-*.js', (route) => route.abort(), { times: 1 });
      },
    });
    await failed;
    await page.locator('.another input').fill('quick_hill');
    await page.getByRole('button', { name: 'Look up' }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe('/user/10');
  });

  it.each(['no-preference', 'reduce'] as const)('without its script: %s', async (reducedMotion) => {
    const watched = await open('/group/1', {
      ...SCREENS[0],
      reducedMotion,
      prepare: (each) => each.route('**/assets/record-*.js', (route) => route.abort()),
    });
    const { page } = watched;
    const heading = page.getByRole('heading', { name: 'A group in this register' });
    expect(await heading.isVisible()).toBe(false);
    await heading.waitFor({ timeout: 8000 });
    expect(await page.locator('main').innerText()).toContain('/api/v1/group/{id}');
    expect(await page.locator('.skeletons').isVisible()).toBe(false);
    expect(await page.evaluate('window.shifts')).toBe(0);
    expect(await faultsOf({ ...watched, complaints: [] })).toEqual([]);
  });

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
  it('leads to an id, from an address to its kind, and where a form says that was sent without its script', async () => {
    const { page } = await opened('/group');
    await seek(page, 'https://platform.example/users/10/profile');
    await page.waitForURL('**/user/10');
    await page.goto(`${proxy.base}/game`);
    expect(await page.getByLabel('Kind').inputValue()).toBe('game');
    await seek(page, '7');
    await page.waitForURL('**/game/7');
    await page.goto(`${proxy.base}/group?kind=group&q=read`);
    await page.locator('.matches a').first().waitFor();
    await page.goto(`${proxy.base}/group?kind=user&q=quick_hill`);
    await page.waitForURL('**/user/10');
    // The form isn't on the way back.
    await page.goBack();
    expect(new URL(page.url()).search).toBe('?kind=group&q=read');
  });

  it('finds names, present and past, in whatever case', async () => {
    const { page, complaints } = await opened('/user');
    const matches = page.locator('.matches li');
    // The only record with a name is opened.
    await seek(page, 'SLOW_hill');
    await page.waitForURL('**/user/10');
    await page.goto(`${proxy.base}/user`);
    await page.locator('.lookup .hint').waitFor({ state: 'attached' });
    await seek(page, HOSTILE);
    await expect.poll(() => status(page)).toBe('2 records have or had this name.');
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
    const { page, complaints } = await opened('/user');
    const input = page.getByRole('combobox', { name: 'Id, address or name' });
    const options = page.locator('[role=option]');
    await input.pressSequentially('quICK');
    await expect.poll(() => options.allInnerTexts()).toEqual(['quick_hill user 10']);
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
    await input.fill('quick_h');
    await options.first().click();
    await page.waitForURL('**/user/10');
    expect(complaints).toEqual([]);
  });

  it('is on the page of an address without a record, for the kind of that address', async () => {
    const { page, complaints } = await opened('/user/999');
    expect(await page.getByLabel('Kind').inputValue()).toBe('user');
    expect(await accessibilityOf(page)).toEqual([]);
    // The page itself.
    expect(complaints).toHaveLength(1);
  });

  it('says so where the browser can’t hash', async () => {
    const { page } = await opened('/group', { prepare: (each) => each.addInitScript(NO_HASHES) });
    await seek(page, 'quick_hill');
    await expect.poll(() => status(page)).toContain('only on an https address');
  });
});
