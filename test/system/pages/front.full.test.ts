/** The front page in Debian's Chromium: what is on the first screen, and names of any length and direction. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { temporary } from '../../support/folder.js';
import { browsing, faultsOnScreens, inChromium, serving } from './browser.js';
import { WORKSHOP } from './workshop.js';

const PHONE = { width: 375, height: 812 };
const DESKTOP = { width: 1280, height: 800 };

const path = temporary();
const open = browsing(() => serving(path('register.sqlite'), WORKSHOP, path('dist')));

const bottomOf = async (page: Page, selector: string): Promise<number> => {
  const box = await page.locator(selector).first().boundingBox();
  return box === null ? Number.POSITIVE_INFINITY : box.y + box.height;
};

/** Where elements of the page begin and end, from left to right. */
const boxesOf = async (page: Page, selector: string) =>
  z.array(z.object({ left: z.number(), right: z.number() })).parse(
    await page.evaluate(`[...document.querySelectorAll('${selector}')].map((element) => {
      const { left, right } = element.getBoundingClientRect();
      return { left, right };
    })`),
  );

/** What is wider than the page, apart from what scrolls on its own. */
const STICKING_OUT = `[...document.querySelectorAll('main *')]
  .filter((element) => element.closest('pre') === null && element.getBoundingClientRect().right > innerWidth)
  .map((element) => element.outerHTML.slice(0, 120))`;

inChromium('the front page', () => {
  it.each([PHONE, DESKTOP])('has its number and the line on the first $width pixels', async (viewport) => {
    const { page } = await open('/', { viewport });
    for (const part of ['h1', '.picture h2', '.picture .count', '.picture time', '.picture .plot'])
      expect(await bottomOf(page, part), part).toBeLessThanOrEqual(viewport.height);
    // What people come for is above what they look at.
    const [field, picture] = [await bottomOf(page, '#lookup'), await bottomOf(page, '.picture .plot')];
    expect(field).toBeLessThan(picture);
    // The values of its levels are next to the line, not over it, and the days of its axis have room.
    const values = await boxesOf(page, '.picture text.value');
    const [line] = await boxesOf(page, '.picture .plot .line');
    expect(Math.max(...values.map(({ right }) => right))).toBeLessThan(line?.left ?? 0);
    const days = await boxesOf(page, '.picture .axis text');
    expect(days.length).toBeGreaterThan(1);
    for (const [index, { left }] of days.slice(1).entries())
      expect(left - (days[index]?.right ?? 0)).toBeGreaterThan(4);
  });

  it('is whole without scripts', async () => {
    const { page } = await open('/', { javaScriptEnabled: false });
    expect(await page.locator('.picture .plot .line').isVisible()).toBe(true);
    expect(await page.locator('#lookup').isVisible()).toBe(true);
    expect(await page.locator('[data-lookup] .note').innerText()).toContain('Without scripts');
    expect(await page.locator('.largest tbody tr').count()).toBe(6);
  });

  it('keeps in order at any width, and draws its lines in forced colours', async () => {
    const watched = await open('/');
    const { page } = watched;
    await page.waitForLoadState('networkidle');
    for (const width of [375, 768, 1280, 1920]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate(STICKING_OUT)).toEqual([]);
    }
    expect(await faultsOnScreens(watched)).toEqual([]);
    await page.emulateMedia({ forcedColors: 'active' });
    const isOther = `getComputedStyle(path).stroke !== getComputedStyle(document.body).color`;
    const lines = `[...document.querySelectorAll('.plot .line, .spark path')]`;
    expect(await page.evaluate(`${lines}.length`)).toBeGreaterThan(1);
    expect(await page.evaluate(`${lines}.filter((path) => ${isOther}).length`)).toBe(0);
  });
});
