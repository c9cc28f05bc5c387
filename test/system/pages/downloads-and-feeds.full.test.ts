/** Downloads and feeds in Debian's Chromium: copy buttons, tabs, sizes, and what is there without script. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { SCREENS, browsing, inChromium, sidewaysOf, type Opening } from './browser.js';
import { publishSite, type Site } from '../../generator/outputs/pages/site.js';

let site: Site;

const openPage = browsing(async () => (site = await publishSite()).proxy);

const open = async (url: string, opening?: Opening): Promise<Page> => (await openPage(url, opening)).page;

const clipboard = async (page: Page): Promise<string> =>
  z.string().parse(await page.evaluate('navigator.clipboard.readText()'));

/** Names of the tabs whose sections are shown. */
const shownTabs = async (page: Page): Promise<string[]> =>
  z.array(z.string()).parse(
    await page.evaluate(
      `[...document.querySelectorAll('[role=tabpanel]:not([hidden])')].map((panel) =>
          document.getElementById(panel.getAttribute('aria-labelledby')).textContent)`,
    ),
  );

const COPYING = { permissions: ['clipboard-read', 'clipboard-write'] };

inChromium('a copy button', () => {
  it('copies a command, says so to screen readers, and copies checksums that sha256sum reads', async () => {
    const page = await open('/downloads', COPYING);
    const button = page.getByRole('button', { name: 'Copy the command for the database' });
    await button.click();
    await expect.poll(() => page.getByRole('status').innerText()).toBe('Copied');
    expect(await clipboard(page)).toBe(`curl -f -O "${site.base}/downloads/register.sqlite.gz"`);
    expect(await button.innerText()).toBe('Copied');
    await expect.poll(() => button.innerText()).toBe('Copy');
    await page.locator('#checksums summary').click();
    await page.getByRole('button', { name: 'Copy the checksums' }).click();
    await expect.poll(async () => (await clipboard(page)).split('\n').length).toBe(34);
    for (const line of (await clipboard(page)).split('\n')) expect(line).toMatch(/^[0-9a-f]{64} {2}\S+$/);
  });

  it('selects the text where the browser lets no page copy', async () => {
    const page = await open('/feeds');
    await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
    await page.getByRole('button', { name: 'Copy the command' }).click();
    await expect.poll(() => page.getByRole('status').innerText()).toBe('Selected');
    expect(await page.evaluate('getSelection().toString()')).toContain(`${site.base}/feeds/all.atom`);
  });

  it('is next to a block that the keyboard scrolls if it is wider than its place', async () => {
    const page = await open('/downloads', { viewport: { width: 375, height: 800 } });
    const block = page.locator('.database pre');
    await expect.poll(() => block.getAttribute('tabindex')).toBe('0');
    await page.setViewportSize({ width: 1280, height: 800 });
    await expect.poll(() => block.getAttribute('tabindex')).toBeNull();
  });

  it('leaves the code all of its width on a phone and a desktop', async () => {
    for (const url of ['/downloads', '/feeds', '/developers', '/developers/guides/limits']) {
      const page = await open(url);
      for (const { viewport } of SCREENS) {
        await page.setViewportSize(viewport);
        const covered =
          await page.evaluate(`[...document.querySelectorAll('.copyable > pre')].flatMap((pre) => {
          const [code, button] = [pre, pre.nextElementSibling].map((each) => each.getBoundingClientRect());
          const isBeside = button.left >= code.right - 1 && pre.scrollWidth <= pre.clientWidth;
          const isAbove = button.bottom <= code.top + 1;
          return !pre.checkVisibility() || isBeside || isAbove ? [] : [pre.textContent];
        })`);
        expect(covered, url).toEqual([]);
      }
    }
  });
});

inChromium('tabs', () => {
  it('show one section at a time, by mouse and by keyboard, remember the choice, and are all printed', async () => {
    const page = await open('/downloads');
    expect(await shownTabs(page)).toEqual(['sqlite3']);
    await page.getByRole('tab', { name: 'R', exact: true }).click();
    expect(await shownTabs(page)).toEqual(['R']);
    for (const [key, shown] of [
      ['ArrowRight', 'PostgreSQL'],
      ['ArrowRight', 'sqlite3'],
      ['End', 'PostgreSQL'],
      ['ArrowLeft', 'R'],
      ['Home', 'sqlite3'],
    ] as const) {
      await page.keyboard.press(key);
      expect(await shownTabs(page)).toEqual([shown]);
    }
    expect(await page.getByRole('tab', { selected: true }).count()).toBe(1);
    expect(await page.locator('[role=tab][tabindex="0"]').count()).toBe(1);
    await page.getByRole('tab', { name: 'DuckDB' }).click();
    await page.reload();
    await expect.poll(() => shownTabs(page)).toEqual(['DuckDB']);
    await page.emulateMedia({ media: 'print' });
    for (const name of ['sqlite3', 'Datasette', 'DuckDB', 'pandas', 'R', 'PostgreSQL'])
      expect(await page.locator('[role=tabpanel] h3', { hasText: new RegExp(`^${name}$`) }).isVisible()).toBe(
        true,
      );
  });

  it('choose together where several are about the same', async () => {
    const page = await open('/developers/reference/users');
    const shown = async () => new Set(await shownTabs(page));
    await page.getByRole('tab', { name: 'Python' }).last().click();
    expect(await shown()).toEqual(new Set(['Python']));
    expect((await shownTabs(page)).length).toBeGreaterThan(1);
  });

  it('are all shown with their headings without scripts, and there are no buttons', async () => {
    for (const url of ['/downloads', '/feeds']) {
      const page = await open(url, { javaScriptEnabled: false });
      expect(await page.locator('button').count(), url).toBe(0);
      const headings = page.locator('[data-tabs] h3');
      expect(await headings.count()).toBe(url === '/feeds' ? 0 : 6);
      for (const heading of await headings.all()) expect(await heading.isVisible()).toBe(true);
    }
  });
});

inChromium('the downloads page', () => {
  it('fits 320 pixels, whatever the sizes, and leaves no word alone under a table’s name', async () => {
    const page = await open('/downloads', { viewport: { width: 320, height: 800 } });
    await page.evaluate(`for (const cell of document.querySelectorAll('.files td')) {
      cell.querySelector('a')?.replaceChildren('999 MB');
      if (cell.querySelector('a') === null) cell.textContent = '66,060,000';
    }`);
    expect(await sidewaysOf(page)).toBe(0);
    const lines = await page.evaluate(`[...document.querySelectorAll('.tables .about')]
      .map((about) => [...about.getClientRects()].at(-1).width).filter((width) => width < 40)`);
    expect(lines).toEqual([]);
  });

  it('names the format of each size on a phone, where the head of the table is not shown', async () => {
    const page = await open('/downloads', SCREENS[0]);
    const cells = await page.locator('#groups td').allInnerTexts();
    const names = cells.map((text) => /^(\S.*)\s+[\d,.]+/.exec(text)?.[1]?.trim());
    expect(names).toEqual(['Rows', 'CSV', 'CSV (gzip)', 'Parquet']);
  });
});
