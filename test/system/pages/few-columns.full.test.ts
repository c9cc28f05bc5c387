/** The pages of records in Debian's Chromium, over a register that measures little. */
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { published } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { writeOperator } from '../../support/operator.js';
import { changeRegister } from '../../support/register.js';
import { startProxy, type RunningProxy } from '../../support/proxy.js';
import { browsing, faultsOf, inChromium } from './browser.js';
import { CLUBS, MEASURED, READ, writeClubs } from './clubs.js';

const path = temporary();

async function served(sql = '', keys: object = CLUBS): Promise<RunningProxy> {
  const [register, out] = [writeClubs(path('register.sqlite')), path('dist')];
  changeRegister(register, sql);
  await published({ register, operator: writeOperator(path('site'), keys), out });
  return startProxy(out);
}

const openPage = browsing(() => served());

const open = async (url: string, wanted: string) => {
  const watched = await openPage(url, { viewport: { width: 375, height: 800 } });
  await watched.page.locator(wanted).first().waitFor({ state: 'attached' });
  return watched;
};

const main = (page: Page): Promise<string> => page.locator('main').innerText();

const ask = async (page: Page, kind: string, words: string): Promise<void> => {
  await page.locator('select').selectOption(kind);
  await page.locator('input[name=q]').fill(words);
  await page.getByRole('button', { name: 'Look up' }).click();
};

/** Looks up some words, and waits until the field says this of them. */
const seek = async (page: Page, kind: string, words: string, said: string): Promise<void> => {
  await ask(page, kind, words);
  await expect.poll(() => page.locator('.status').innerText()).toBe(said);
};

/** Looks up what one record has, which is opened. */
const lead = async (page: Page, kind: string, words: string, path: string): Promise<void> => {
  await page.goto(new URL('/', page.url()).href);
  await page.locator('.hint').waitFor({ state: 'attached' });
  await ask(page, kind, words);
  await page.waitForURL(`**${path}`);
};

const ALWAYS = ['First measured', 'Last measured', 'Measurements'];

inChromium('pages', () => {
  it.each([
    ['/group/4', ['Members', 'Facts', 'Look up another record'], ['JSON', 'History', 'Cite']],
    ['/user/7', ['Facts', 'Look up another record'], ['JSON', 'Cite']],
    ['/game/9', ['Among all islands', 'Facts', 'Look up another record'], ['JSON', 'Cite']],
  ])('have the parts that are measured, and say nothing of the others: %s', async (url, sections, links) => {
    const watched = await open(url, '.another form');
    const { page } = watched;
    expect(await page.locator('main h2').allInnerTexts()).toEqual(sections);
    expect(await page.locator('.facts dt').allInnerTexts()).toEqual(ALWAYS);
    expect(await page.locator('.record-links li').allInnerTexts()).toEqual(links);
    // Of the changes in a day and a week there is no reading, and that is said.
    const text = (await main(page)).replace(/not measured in a (day|week)/g, '');
    expect(text).not.toMatch(
      /not measured|not published|has been read yet|\bstate\b|votes|\b(group|user|game|item)s?\b/i,
    );
    expect(await faultsOf(watched)).toEqual([]);
  });

  it('begin with the first figure that is measured, in the words of the operator', async () => {
    const { page } = await open('/game/9', '#facts');
    expect(await page.locator('.main-figure').innerText()).toMatch(/^1,234\s+visits\s+read 20 November 2026/);
    expect(await page.title()).toBe('Lagoon · island 9 – Golden');
    // And where it stands among all of its kind.
    const standing = page.locator('section[aria-labelledby=standing]');
    await expect.poll(() => standing.locator('p').innerText()).toBe('Number 1 by visits. The list as JSON');
    expect(await standing.locator('li').allInnerTexts()).toEqual([
      expect.stringMatching(/^1\s+Lagoon\s+1,234\s+20 Nov 2026$/),
    ]);
    const club = await open('/group/4', '#facts');
    expect(await club.page.locator('.byline').innerText()).toBe('Owner: player 7');
  });

  it('say where a record stands among the newest, if nothing of it is counted, and link to no kind that is lacking', async () => {
    const sql = `ALTER TABLE games DROP COLUMN visits; ALTER TABLE games ADD COLUMN created_at TEXT;
      UPDATE games SET created_at = '2026-03-01';
      INSERT INTO games VALUES (10, 'Reef', ${READ}, '2026-04-02T10:00:00Z'), (11, 'Cove', ${READ}, NULL);
      CREATE TABLE items (id INTEGER PRIMARY KEY, asset_type TEXT, ${MEASURED}) STRICT;
      INSERT INTO items VALUES (3, 'Hat', ${READ}); DROP TABLE users;`;
    const other = await served(sql, {});
    onTestFinished(async () => void (await other.stop()));
    const openOther = async (url: string): Promise<Page> => {
      const { page } = await openPage(url, { base: other.base });
      await page.locator('#facts').waitFor();
      return page;
    };
    for (const [url, words] of [
      ['/game/9', 'Number 2 by date of creation, newest first.'],
      ['/game/11', 'Not among the first 2 by date of creation, newest first, which begin with these.'],
    ] as const) {
      const standing = (await openOther(url)).locator('section[aria-labelledby=standing]');
      await expect.poll(() => standing.locator('p').innerText()).toBe(`${words} The list as JSON`);
      const rows = (await standing.locator('li').allInnerTexts()).map((li) => li.split(/\s*\n\s*/).join(' '));
      expect(rows).toEqual(['1 Reef 2 Apr 2026', '2 Lagoon 1 Mar 2026']);
    }
    const item = await openOther('/item/3');
    expect(await item.locator('section[aria-labelledby=standing]').count()).toBe(0);
    expect(await item.locator('.facts dd:not(.note)').first().innerText()).toBe('Hat');
    const group = await openOther('/group/4');
    expect(await group.locator('.byline').innerText()).toBe('Owner: user 7');
    expect(await group.locator('.byline a').count()).toBe(0);
  });

  it('say what is null where the register measures it of others', async () => {
    const { page } = await open('/group/6', '#facts');
    expect(await page.title()).toBe('Club 6 – Golden');
    expect(await main(page)).toMatch(/name not measured[^]*not measured members/);
    expect(await main(page)).toMatch(/Not measured, or not published: name, owner, member count, peak\./);
  });

  it('have a field that offers and finds what there is, by the words of the operator, also at the address of a kind', async () => {
    const { page } = await open('/game', '.hint');
    expect(await page.locator('h1').innerText()).toBe('Look up an island');
    expect(await page.locator('.hint').innerText()).toContain('An id such as 9,');
    expect(await page.locator('select').inputValue()).toBe('game');
    expect(await page.locator('option').allInnerTexts()).toEqual(['Club', 'Player', 'Island']);
    await seek(page, 'user', 'nobody', 'No published club, player or island has exactly this name.');
    await lead(page, 'group', 'quiet arcade', '/group/4');
    const gone = await open('/item', '.hint');
    expect(await gone.page.locator('h1').innerText()).toBe('Nothing is published at this address');
  });

  it('have a chart that says clubs, and what the register doesn’t measure', async () => {
    const { page } = await open('/developers/guides/tools', 'register-chart');
    const said = (): Promise<string> => page.locator('register-chart figure').innerText();
    await expect.poll(said).toMatch(/^Quiet Arcade\s+club 4[^]*Source: Golden, CC0 1\.0\.$/);
    for (const [attributes, words] of [
      ['item="1"', /^Golden measures no records of this kind \(item\)\.$/],
      ['group="4" value="names"', /those measured are members, member_count/],
    ] as const) {
      const element = JSON.stringify(`<register-chart ${attributes}></register-chart>`);
      await page.evaluate(`document.querySelector('register-chart').outerHTML = ${element}`);
      await expect.poll(said).toMatch(words);
    }
  });
});

inChromium('ids of the platform, in a register without first measurements', () => {
  const openOwn = browsing(() =>
    served(
      `ALTER TABLE groups ADD COLUMN platform_id TEXT;
       UPDATE groups SET platform_id = 'old-mill', measured_at = '2026-11-20T08:00:00Z' WHERE id = 4;
       UPDATE groups SET platform_id = '81384788765712384' WHERE id = 5;
       INSERT INTO groups (id, name, platform_id, first_measured_at, measured_at, measurements) VALUES
         (8, 'Twin', 'eight', ${READ}), (9, 'The first twin', 'twin', ${READ});
       ALTER TABLE groups DROP COLUMN first_measured_at; ALTER TABLE groups DROP COLUMN measurements;`,
    ),
  );
  const openClub = async (url: string, wanted: string) => {
    const watched = await openOwn(url);
    await watched.page.locator(wanted).first().waitFor();
    return watched;
  };

  it('head their records, whose id is a fact, and nothing is said of a first measurement', async () => {
    const watched = await openClub('/group/4', '.another form');
    expect(await watched.page.locator('.kicker').innerText()).toBe('CLUB old-mill');
    expect(await watched.page.title()).toBe('Quiet Arcade · club old-mill – Golden');
    expect(await watched.page.locator('.facts dt').allInnerTexts()).toEqual([
      'Id in this register',
      'Last measured',
    ]);
    expect(await main(watched.page)).not.toMatch(/first measured|measurements/i);
    expect(await faultsOf(watched)).toEqual([]);
    const { page } = await openClub('/group/6', '#facts');
    expect(await page.locator('.kicker').innerText()).toBe('CLUB 6');
    expect(await main(page)).not.toMatch(/in this register/i);
  });

  it('are found by the field, of any length, also in an address', async () => {
    const { page } = await openClub('/', '.hint');
    expect(await page.locator('.hint').innerText()).toContain('the platform’s own id');
    // Ids are exact, names are not.
    await seek(page, 'group', 'Old-Mill', 'No published club, player or island has exactly this id or name.');
    await seek(page, 'group', 'twin', '2 clubs have this id or name.');
    expect(await page.locator('.matches li').allInnerTexts()).toEqual([
      'Twin club 8',
      'The first twin club 9',
    ]);
    for (const [kind, words, path] of [
      ['group', 'old-mill', '/group/4'],
      ['group', '81384788765712384', '/group/5'],
      ['user', 'https://chat.example/club/81384788765712384', '/group/5'],
      ['group', 'chess', '/group/5'],
    ] as const)
      await lead(page, kind, words, path);
  });
});
