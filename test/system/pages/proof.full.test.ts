/** Proofs on the pages of records, made in Debian's Chromium, and the guide to the signed log. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { publicKeyOf, type PublicKey } from '../../generator/programs/log/naive.js';
import { ORIGIN, naivelyVerified } from '../../generator/programs/log/signed.js';
import { inProcess, temporary } from '../../generator/publish/support.js';
import { published } from '../../support/build.js';
import { startProxy, type RunningProxy } from '../../support/proxy.js';
import { writeRegister } from '../../support/register.js';
import {
  NO_HASHES,
  SCREENS,
  accessibilityOf,
  browsing,
  faultsOf,
  inChromium,
  type Opening,
  type Watched,
} from './browser.js';

const path = temporary();
let key: PublicKey;
const out = path('dist');
const GUIDE = '/developers/guides/log';
let proxy: RunningProxy;

const at = '2026-11-20T08:00:00Z';
const ROWS = {
  groups: [
    { id: 45, name: 'Snowy River Workshop', member_count: 280_114_906 },
    { id: 46, name: 'Another 群 </script>' },
  ],
  group_member_readings: [{ group_id: 45, measured_at: at, member_count: 280_114_906 }],
  users: [{ id: 10, username: 'quick_hill' }],
  games: [{ id: 7, name: 'Lantern Harbour', visits: 5 }],
  items: [{ id: 8, name: 'Copper Diving Helmet', price: 5 }],
};

const open = browsing(async () => {
  const register = writeRegister(path('register.sqlite'), ROWS);
  const file = path('key');
  await inProcess('keygen', '--name', ORIGIN, '--write', file);
  key = publicKeyOf(readFileSync(`${file}.pub`, 'utf8').trimEnd());
  await published({ register, out, key: [file] });
  return (proxy = await startProxy(out));
});

const [[, PHONE], [, DESKTOP]] = SCREENS;
const proofButton = (page: Page) => page.getByRole('button', { name: 'Proof' });

/** Opens the proofs of a record, and waits until each is made. */
async function openProofs(url: string, documents: number, opening?: Opening): Promise<Watched> {
  const watched = await open(url, opening);
  await watched.page.locator('#facts').waitFor();
  await proofButton(watched.page).click();
  await expect.poll(() => watched.page.locator('#proof a[download]').count()).toBe(documents);
  return watched;
}

/** Opens a record of which the service sends another document than it lists, some times. */
async function openAltered(url: string, from: string, to: string, times = 100): Promise<Page> {
  const prepare = async (each: Page): Promise<void> => {
    await each.clock.install();
    await each.route(
      `**/api/v1${url}`,
      async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: (await response.text()).replace(from, to) });
      },
      { times },
    );
  };
  const { page } = await open(url, { prepare });
  await proofButton(page).click();
  return page;
}

const textOf = (page: Page, selector: string): Promise<string> => page.locator(selector).first().innerText();

inChromium('the page of a record in a signed tree', () => {
  it.each([
    ['/group/46', PHONE, ['/api/v1/group/46', '/group/46/history.json'], ['group-46', 'group-46-history']],
    ['/user/10', DESKTOP, ['/api/v1/user/10', '/user/10/usernames.json'], ['user-10', 'user-10-usernames']],
    ['/game/7', {}, ['/api/v1/game/7'], ['game-7']],
  ])('%s has proofs of what it shows, and is in order', async (url, screen, documents, names) => {
    const watched = await openProofs(url, documents.length, screen);
    const { page } = watched;
    expect(await textOf(page, '#proof')).toContain('This record is listed in signed snapshot 1.');
    for (const [index, document] of documents.entries()) {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.locator('#proof a[download]').nth(index).click(),
      ]);
      expect(download.suggestedFilename()).toBe(`${names[index]}.tlog-proof`);
      const proof = readFileSync(await download.path(), 'utf8');
      const body = await (await proxy.get(document)).text();
      expect(naivelyVerified(proof, key)).toMatchObject({ path: document, sequence: 1, body });
    }
    expect(await faultsOf(watched)).toEqual([]);
  });

  it('asks for nothing of the log before somebody asks, and then for few files', async () => {
    const { page } = await open('/group/45');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.locator('.lookup').waitFor();
    expect(asked.filter((each) => /log|proof/.test(each))).toEqual([]);
    asked.length = 0;
    await proofButton(page).click();
    await expect.poll(() => page.locator('#proof a[download]').count()).toBe(2);
    expect(asked.length).toBeLessThan(22);
  });

  it('that shows an older copy says so', async () => {
    const page = await openAltered('/group/45', '280114906', '270000000', 1);
    await expect
      .poll(() => textOf(page, '#proof [role=status]'))
      .toBe('This page shows an older copy of the record than signed snapshot 1 lists. Reload');
    await page.getByRole('button', { name: 'Reload' }).click();
    await proofButton(page).click();
    await expect.poll(() => page.locator('#proof a[download]').count()).toBe(2);
  });

  it('says what is amiss if the service sends another document than it lists', async () => {
    const page = await openAltered('/game/7', 'Harbour', 'Harbor');
    await expect.poll(() => textOf(page, '#proof')).toContain('Trying again');
    const later = async (): Promise<string> => {
      await page.clock.runFor(10_000);
      return textOf(page, '#proof');
    };
    await expect
      .poll(later, { timeout: 30_000 })
      .toContain('/api/v1/game/7 is not as signed snapshot 1 lists it');
    expect(await page.locator('#proof a[download]').count()).toBe(0);
    expect(await accessibilityOf(page)).toEqual([]);
  });

  it('says when the limit is reached, and tries again', async () => {
    const { page } = await open('/item/8');
    await page.route(
      '**/log/**/checkpoint',
      (route) => route.fulfill({ status: 429, headers: { 'Retry-After': '7' } }),
      { times: 1 },
    );
    await proofButton(page).click();
    await expect.poll(() => textOf(page, '#proof')).toContain('try again in 7 seconds');
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => page.locator('#proof a[download]').count()).toBe(1);
  });

  it('has the command where browsers hash nothing', async () => {
    const { page } = await open('/group/45', { prepare: (each) => each.addInitScript(NO_HASHES) });
    await proofButton(page).click();
    await page.locator('#proof code').first().waitFor();
    expect(await page.locator('#proof code').allInnerTexts()).toEqual([
      expect.stringMatching(/^register-api prove http\S+ \/api\/v1\/group\/45 --write group-45\.tlog-proof$/),
      expect.stringMatching(
        /^register-api prove .* \/group\/45\/history\.json --write group-45-history\.tlog-proof$/,
      ),
    ]);
    expect(await accessibilityOf(page)).toEqual([]);
  });
});

inChromium('the guide to the signed log', () => {
  it.each(SCREENS)('is in order on %s', async (_, screen) => {
    const watched = await open(GUIDE, screen);
    expect(await faultsOf(watched)).toEqual([]);
    const code = await watched.page.locator('main code').allInnerTexts();
    expect(code).toEqual(expect.arrayContaining([key.vkey, key.name]));
    expect(code.join('\n')).toContain('/api/v1/group/45 --write');
  });
});
