/** The front page in Debian's Chromium: what is on the first screen, and names of any length. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { temporary } from '../../support/folder.js';
import type { RunningProxy } from '../../support/proxy.js';
import { browsing, faultsOnScreens, inChromium, serving, type Opening } from './browser.js';
import { publishSite } from '../../generator/outputs/pages/site.js';

const PHONE = { width: 375, height: 812 };
const DESKTOP = { width: 1280, height: 800 };

const path = temporary();

/** As many members as six groups can have together. */
const most = (index: number): number => 1_400_000_000_000_000 - index;

/** Names without end, from right to left, of nothing but marks; a reading of no members. */
function publishHard(): Promise<RunningProxy> {
  const long = ['W'.repeat(300), 'قاعة المصابيح '.repeat(9), '𝒜'.repeat(60)];
  const names = [...long, '\u202E\u2067reversed', '', null];
  const readings = (group_id: number, days: readonly string[], counts: readonly number[]) =>
    days.map((day, at) => ({ group_id, measured_at: `${day}T08:00:00Z`, member_count: counts[at] ?? at }));
  // A reading a day, which crowds the axis of the largest group.
  const days = Array.from({ length: 46 }, (_, at) =>
    new Date(Date.UTC(2024, 0, 1 + at)).toJSON().slice(0, 10),
  );
  return serving(
    path('hard.sqlite'),
    {
      groups: names.map((name, index) => ({ id: index + 1, name, member_count: most(index) })),
      group_member_readings: [
        ...readings(1, days, []),
        ...readings(1, ['2026-11-19'], [most(0)]),
        ...[1, 2, 3, 4, 5].flatMap((at) =>
          readings(
            at + 1,
            ['2026-10-18', '2026-11-05', '2026-11-12', '2026-11-19'],
            [most(at) + (at % 2 === 0 ? 5 : -5), 0, 1, most(at)],
          ),
        ),
      ],
      users: [{ id: 1, username: 'W'.repeat(300) }],
      usernames: ['V'.repeat(300), 'W'.repeat(300)].map((username, index) => ({
        user_id: 1,
        position: index + 1,
        username,
        first_measured_at: `2026-11-0${index + 1}T08:00:00Z`,
        last_measured_at: `2026-11-0${index + 1}T08:00:00Z`,
      })),
    },
    path('hard'),
  );
}

const openPage = browsing(async () => (await publishSite()).proxy);

async function open(opening: Opening): Promise<Page> {
  const { page } = await openPage('/', opening);
  await page.waitForLoadState('networkidle');
  return page;
}

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
  it.each([PHONE, DESKTOP])(
    'has on the first screen of $width pixels the name, the number, its time and the line',
    async (viewport) => {
      const page = await open({ viewport });
      for (const part of ['h1', '.picture h2', '.picture .count', '.picture time', '.picture .plot'])
        expect(await bottomOf(page, part), part).toBeLessThanOrEqual(viewport.height);
      // What people come for is above what they look at.
      const [field, picture] = [await bottomOf(page, '#lookup'), await bottomOf(page, '.picture .plot')];
      expect(field).toBeLessThan(picture);
      // The values of its levels are next to the line, not over it.
      const values = await boxesOf(page, '.picture text.value');
      const [line] = await boxesOf(page, '.picture .plot .line');
      expect(Math.max(...values.map(({ right }) => right))).toBeLessThan(line?.left ?? 0);
    },
  );

  it('is whole without scripts', async () => {
    const page = await open({ viewport: DESKTOP, javaScriptEnabled: false });
    expect(await page.locator('.picture .plot .line').isVisible()).toBe(true);
    expect(await page.locator('#lookup').isVisible()).toBe(true);
    expect(await page.locator('[data-lookup] .note').innerText()).toContain('Without scripts');
    expect(await page.locator('.largest tbody tr').count()).toBe(10);
  });

  it('draws its lines in forced colours', async () => {
    const page = await open({ viewport: DESKTOP, forcedColors: 'active' });
    const strokes = await page.evaluate(`[...document.querySelectorAll('.plot .line, .spark path')]
      .map((path) => getComputedStyle(path).stroke === getComputedStyle(document.body).color)`);
    expect(new Set(z.array(z.boolean()).parse(strokes))).toEqual(new Set([true]));
  });
});

inChromium('the front page of names of any length and direction', () => {
  let hard: RunningProxy;
  beforeAll(async () => (hard = await publishHard()));
  afterAll(() => hard.stop());

  it('has room between the days of its axis on a phone', async () => {
    const boxes = await boxesOf(await open({ viewport: PHONE, base: hard.base }), '.picture .axis text');
    expect(boxes.length).toBeGreaterThan(1);
    for (const [index, { left }] of boxes.slice(1).entries())
      expect(left - (boxes[index]?.right ?? 0)).toBeGreaterThan(4);
  });

  it('keeps in order at any width', async () => {
    const watched = await openPage('/', { base: hard.base });
    const { page } = watched;
    await page.waitForLoadState('networkidle');
    for (const width of [375, 768, 1280, 1920]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate(STICKING_OUT)).toEqual([]);
    }
    expect(await faultsOnScreens(watched)).toEqual([]);
  });
});
