/** The suggestions of the field that finds records, where names with a beginning are in many pages. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { beginsChunk } from '../../../generator/base/chunks.js';
import { temporary } from '../../support/folder.js';
import { browsing, inChromium, serving } from './browser.js';

const path = temporary();
const out = path('dist');

/** Some ids, of which each begins a page of names, or none does. */
const ids = (count: number, from: number, begins: boolean): number[] => {
  const found: number[] = [];
  for (let id = from; found.length < count; id += 1) if (beginsChunk(id, 1024) === begins) found.push(id);
  return found;
};
const two = (number: number): string => String(number).padStart(2, '0');

/** `zeb 00` to `zeb 11` are in a page each; then comes one with many. Twelve of `many` are in one page. */
const USERS = [
  ...ids(12, 1, true).map((id, index) => ({ id, username: `zeb ${two(index)}` })),
  ...ids(30, 1, false).map((id, index) => ({ id, username: `zeb ${two(index + 12)}` })),
  ...ids(12, 1000, false).map((id, index) => ({ id, username: `many ${two(index)}` })),
  { id: 5001, username: '5002' },
  { id: 5002, username: 'five' },
  { id: 5003, username: '27151306' },
  { id: 5004, username: '5004' },
];
/** They come before the users in the order of kinds, and in that of names. */
const GROUPS = [
  ...ids(20, 1, false).map((id, index) => ({ id, name: `many ${two(index)}` })),
  { id: ids(1, 1, true)[0] ?? 0, name: 'many 99' },
];

const openPage = browsing(() => serving(path('register.sqlite'), { users: USERS, groups: GROUPS }, out));

/** Opens the field for users; `asked` is what it has asked for since. */
async function opened() {
  const asked: string[] = [];
  const { page } = await openPage('/user', {
    prepare: (each) => {
      each.on('request', (request) => asked.push(new URL(request.url()).pathname));
      return Promise.resolve();
    },
  });
  const input = page.getByRole('combobox', { name: 'Id, address or name' });
  await input.waitFor();
  asked.length = 0;
  return { input, asked, options: page.locator('[role=option] bdi') };
}

const zebs = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `zeb ${two(from + index)}`);

inChromium('the suggestions', () => {
  it('are the first names, without one left out, of at most three requests a time', async () => {
    const { pages } = z
      .object({ pages: z.array(z.object({ first: z.string() })) })
      .parse(JSON.parse(readFileSync(join(out, 'api/v1/lookup/names.json'), 'utf8')));
    expect(pages.filter(({ first }) => first.startsWith('zeb')).length).toBeGreaterThan(10);
    const { input, asked, options } = await opened();
    await input.pressSequentially('zeb');
    // The index, the page before those with the names, and the first of these.
    await expect.poll(() => options.allInnerTexts()).toEqual(zebs(0, 0));
    expect(asked).toHaveLength(3);
    await input.press('Space');
    await expect.poll(() => options.allInnerTexts()).toEqual(zebs(0, 3));
    expect(asked).toHaveLength(6);
    await input.press('0');
    await expect.poll(() => options.allInnerTexts()).toEqual(zebs(0, 6));
    expect(asked).toHaveLength(9);
    await input.press('Backspace');
    await expect.poll(() => options.allInnerTexts()).toEqual(zebs(0, 7));
    // All that was asked for is kept.
    expect(new Set(asked).size).toBe(asked.length);
  });

  it('are of the chosen kind first, and left alone by keys that belong to an input method', async () => {
    const { input, asked, options } = await opened();
    await input.pressSequentially('many');
    const first = Array.from({ length: 8 }, (_, index) => `many ${two(index)}`);
    await expect.poll(() => options.allInnerTexts()).toEqual(first);
    // No further than there are enough.
    expect(asked).toHaveLength(2);
    const page = input.page();
    /** Sends a key to the field that has the focus. @returns whether that was left to the browser */
    const press = (key: string, how: object = {}): Promise<unknown> =>
      page.evaluate(`document.activeElement.dispatchEvent(new KeyboardEvent('keydown',
        ${JSON.stringify({ key, bubbles: true, cancelable: true, ...how })}))`);
    for (const how of [{ isComposing: true }, { keyCode: 229 }]) {
      for (const key of ['ArrowDown', 'ArrowUp', 'Escape']) expect(await press(key, how), key).toBe(true);
      expect(await input.getAttribute('aria-activedescendant')).toBeNull();
      expect(await options.count()).toBeGreaterThan(0);
      await input.press('ArrowDown');
      expect(await press('Enter', how)).toBe(true);
      await input.press('ArrowUp');
    }
    expect(page.url()).toMatch(/\/user$/);
    expect(await press('Escape')).toBe(false);
    // The search of the documentation, too.
    await page.goto(new URL('/developers', page.url()).href);
    const search = page.getByRole('searchbox');
    await search.fill('limits');
    await page.locator('#results a').first().waitFor();
    await press('Enter', { isComposing: true });
    expect(page.url()).toMatch(/\/developers$/);
    await search.press('Enter');
    await page.waitForURL(/\/developers.*(limits|#)/);
  });
});

async function entered(text: string): Promise<Page> {
  const { input } = await opened();
  await input.fill(text);
  await input.press('Enter');
  return input.page();
}

inChromium('Enter', () => {
  it.each([
    ['many 0', /^No published group or user has .* exactly this name\. These names begin with it:$/, 8],
    ['5002', /^2 records have( or had)? this id or name\.$/, 2],
  ])('lists those that there are to choose from: %s', async (text, words, count) => {
    const page = await entered(text);
    await expect.poll(() => page.locator('.lookup .status').innerText()).toMatch(words);
    const found = await page.locator('.matches li').allInnerTexts();
    expect(found).toHaveLength(count);
    expect(found[0]).toMatch(/^(many 00 user \d+|five\b.*)$/);
  });

  it('takes the only record that has the id or the name, or whose name begins with the text', async () => {
    for (const [text, id] of [
      ['fiv', '5002'],
      ['5003', '5003'],
      ['5004', '5004'],
      ['27151306', '5003'],
    ] as const)
      await (await entered(text)).waitForURL(`**/user/${id}`);
    // Digits are suggested as names, and asked for as an id.
    const { input, options } = await opened();
    await input.pressSequentially('271');
    await expect.poll(() => options.allInnerTexts()).toEqual(['27151306']);
    await input.press('Enter');
    await input.page().waitForURL('**/user/271');
  });
});
