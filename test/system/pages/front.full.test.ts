/** The front page in Debian's Chromium: what is on the first screen, and names of any length. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { published } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { startProxy, type RunningProxy } from '../../support/proxy.js';
import { writeRegister } from '../../support/register.js';
import { accessibilityOf, browsing, inChromium, type Opening } from './browser.js';
import { publishSite } from '../../generator/outputs/pages/site.js';

const PHONE = { width: 375, height: 812 };
const DESKTOP = { width: 1280, height: 800 };

const path = temporary();

/** As many members as six groups can have together. */
const most = (index: number): number => 1_400_000_000_000_000 - index;

/** Names without end, from right to left, of nothing but marks; a reading of no members. */
async function publishHard(): Promise<RunningProxy> {
  const out = path('hard');
  const long = ['W'.repeat(300), 'قاعة المصابيح '.repeat(9), '𝒜'.repeat(60)];
  const names = [...long, '\u202E\u2067reversed', '', null];
  const register = writeRegister(path('hard.sqlite'), {
    groups: names.map((name, index) => ({ id: index + 1, name, member_count: most(index) })),
    group_member_readings: names.flatMap((_, index) =>
      [
        ['10-18', most(index) + (index % 2 === 0 ? 5 : -5)],
        ['11-05', 0],
        ['11-12', 1],
        ['11-19', most(index)],
      ].map(([day, member_count = 0]) => ({
        group_id: index + 1,
        measured_at: `2026-${day}T08:00:00Z`,
        member_count,
      })),
    ),
    users: [{ id: 1, username: 'W'.repeat(300) }],
    usernames: ['V'.repeat(300), 'W'.repeat(300)].map((username, index) => ({
      user_id: 1,
      position: index + 1,
      username,
      first_measured_at: `2026-11-0${index + 1}T08:00:00Z`,
      last_measured_at: `2026-11-0${index + 1}T08:00:00Z`,
    })),
  });
  await published({ register, out });
  return startProxy(out);
}

const openPage = browsing(async () => (await publishSite(path)).proxy);

async function open(opening: Opening): Promise<Page> {
  const { page } = await openPage('/', opening);
  await page.waitForLoadState('networkidle');
  return page;
}

const bottomOf = async (page: Page, selector: string): Promise<number> => {
  const box = await page.locator(selector).first().boundingBox();
  return box === null ? Number.POSITIVE_INFINITY : box.y + box.height;
};

/** What is wider than the page, apart from what scrolls on its own. */
const STICKING_OUT = `[...document.querySelectorAll('main *')]
  .filter((element) => element.closest('pre') === null && element.getBoundingClientRect().right > innerWidth)
  .map((element) => element.outerHTML.slice(0, 120))`;

inChromium('the first screen of the front page', () => {
  it.each([
    ['a phone', PHONE],
    ['a desktop', DESKTOP],
  ])('has the name, the number, its time and the line on %s', async (_, viewport) => {
    const page = await open({ viewport });
    for (const part of ['h1', '.picture h2', '.picture .count', '.picture time', '.picture .plot'])
      expect(await bottomOf(page, part), part).toBeLessThanOrEqual(viewport.height);
  });
});

inChromium('the front page', () => {
  it.each([
    ['a phone', PHONE],
    ['a desktop', DESKTOP],
  ])('has the values of its levels next to the line, not over it, on %s', async (_, viewport) => {
    const page = await open({ viewport });
    const [values = 0, line = 0] = z.array(z.number()).parse(
      await page.evaluate(`[
        Math.max(...[...document.querySelectorAll('.picture text.value')].map((text) => text.getBoundingClientRect().right)),
        document.querySelector('.picture .plot .line').getBoundingClientRect().left,
      ]`),
    );
    expect(values).toBeLessThan(line);
  });

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

inChromium('the axis of the front page', () => {
  it('has room between its days on a phone', async () => {
    const out = path('days');
    const days = Array.from({ length: 46 }, (_, day) => new Date(Date.UTC(2024, 0, 1 + day)).toISOString());
    const register = writeRegister(path('days.sqlite'), {
      groups: [{ id: 1, name: 'Daily', member_count: 45 }],
      group_member_readings: days.map((day, index) => ({
        group_id: 1,
        measured_at: `${day.slice(0, 19)}Z`,
        member_count: index,
      })),
    });
    await published({ register, out });
    const site = await startProxy(out);
    onTestFinished(async () => void (await site.stop()));
    const page = await open({ viewport: PHONE, base: site.base });
    const boxes = z.array(z.tuple([z.number(), z.number()])).parse(
      await page.evaluate(`[...document.querySelectorAll('.picture .axis text')].map((text) => {
        const { left, right } = text.getBoundingClientRect();
        return [left, right];
      })`),
    );
    expect(boxes.length).toBeGreaterThan(1);
    const apart = boxes.slice(1).map(([left], index) => left - (boxes[index]?.[1] ?? 0));
    expect(Math.min(...apart)).toBeGreaterThan(4);
  });
});

inChromium('the front page of names of any length and direction', () => {
  let hard: RunningProxy;
  beforeAll(async () => (hard = await publishHard()));
  afterAll(() => hard.stop());

  it.each([
    [375, 'light'],
    [768, 'dark'],
    [1280, 'light'],
    [1920, 'dark'],
  ] as const)('keeps in order at %s pixels', async (width, colorScheme) => {
    const page = await open({ viewport: { width, height: 800 }, colorScheme, base: hard.base });
    expect(await page.evaluate(STICKING_OUT)).toEqual([]);
    expect(await accessibilityOf(page)).toEqual([]);
  });
});
