/** The chart in pages of others, in Debian's Chromium: from another origin, whose policy allows the script and little else. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { temporary } from '../../support/folder.js';
import { ended, listening } from '../../support/ports.js';
import type { RunningProxy } from '../../support/proxy.js';
import {
  accessibilityOf,
  browsing,
  faultsOf,
  faultsOnScreens,
  inChromium,
  serving,
  sidewaysOf,
  type Opening,
  type Watched,
} from './browser.js';
import { HOSTILE, WORKSHOP } from './workshop.js';

const path = temporary();
const out = path('dist');
let register: RunningProxy;

/** What a page asks for in its address: an element, and the policy. */
const strict = (host: string): string => `default-src 'none'; script-src ${host}; connect-src ${host}`;

/** Somebody's site: each page has the element and the policy that its query says. */
const somebody = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? '/', 'http://somebody.example');
  response.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': searchParams.get('policy') ?? '',
  });
  const scripts = searchParams
    .getAll('host')
    .map((host) => `<script type="module" src="${host}/embed.js"></script>`);
  response.end(
    `<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">` +
      `<meta name="viewport" content="width=device-width, initial-scale=1"><title>Somebody</title>` +
      `<main><h1>Somebody’s page</h1>` +
      scripts.join('') +
      `${searchParams.get('element')}</main>`,
  );
});
let elsewhere = '';

beforeAll(async () => void (elsewhere = `http://127.0.0.1:${await listening(somebody)}`));
afterAll(() => ended(somebody));

const openPage = browsing(async () => (register = await serving(path('register.sqlite'), WORKSHOP, out)));

/** Opens a page of somebody's with an element: `group="1"`. */
function embedded(
  attributes: string,
  { policy = strict(register.base), ...opening }: Opening & { policy?: string } = {},
) {
  const element = `<register-chart ${attributes}></register-chart>`;
  const query = new URLSearchParams({ element, host: register.base, policy });
  return openPage(`/?${query.toString()}`, { base: elsewhere, ...opening });
}

/** Another register, whose record has the same id. */
let other: RunningProxy;
beforeAll(async () => {
  const groups = [{ id: 1, name: 'Of another register' }];
  other = await serving(path('other.sqlite'), { groups }, path('other'));
});
afterAll(() => other.stop());

const chart = (page: Page) => page.locator('register-chart');
const said = (page: Page): Promise<string> => chart(page).locator('figure').innerText();
const drawn = (page: Page) => chart(page).locator('.plot canvas').waitFor();
/** The paths that a page asked the register for. */
const asked = ({ outside }: Watched): string[] => outside.map((url) => url.replace(register.base, ''));
inChromium('the chart in a page of another origin, under a policy without styles', () => {
  it('shows the line, its source and its times', async () => {
    const watched = await embedded('group="1"');
    const { page } = watched;
    await drawn(page);
    expect(await said(page)).toMatch(
      /^Snowy River Workshop\s+group 1\s+14,811 members\s+21 November 2026, 06:00 UTC/,
    );
    expect(await said(page)).toContain('660 readings from 1 January 2025 to 21 November 2026.');
    expect(await said(page)).toContain('Where a gap is hatched, nothing was read');
    expect(await said(page)).toMatch(/Measured, never estimated\. Source: The Golden Register, CC0 1\.0\.$/);
    const links = chart(page).locator('a');
    expect(await Promise.all((await links.all()).map((each) => each.getAttribute('href')))).toEqual([
      `${register.base}/group/1`,
      `${register.base}/`,
      expect.stringMatching(/^https:/),
    ]);
    expect(await faultsOnScreens({ ...watched, outside: [] })).toEqual([]);
    expect(asked(watched)).toEqual(['/embed.js', '/group/1/history.json']);
    for (const width of [320, 768]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await sidewaysOf(page), String(width)).toBe(0);
    }
    // The policy is seen.
    await page.evaluate(`document.body.setAttribute('style', 'color: red')`);
    await expect.poll(() => watched.complaints.join()).toContain('style-src');
  });

  it('hatches what was not read, and draws no line there', async () => {
    const { page } = await embedded('group="1"', { viewport: { width: 1280, height: 800 } });
    await drawn(page);
    /** Of some columns of pixels, how many are as the accent, and how many are drawn at all. */
    const columnsAt = async (share: number): Promise<[accent: number, any: number]> =>
      z.tuple([z.number(), z.number()]).parse(
        await page.evaluate(`(() => {
          const root = document.querySelector('register-chart').shadowRoot;
          const [canvas, over] = [root.querySelector('canvas'), root.querySelector('.u-over')];
          const [outer, inner] = [canvas.getBoundingClientRect(), over.getBoundingClientRect()];
          const scale = canvas.width / outer.width;
          const x = Math.round((inner.left - outer.left + ${share} * inner.width) * scale);
          const y = Math.round((inner.top - outer.top) * scale);
          const { data } = canvas.getContext('2d').getImageData(x, y, 8, Math.round(inner.height * scale));
          const at = [...data.keys()].filter((at) => at % 4 === 0 && data[at + 3] > 60);
          // Teal: far more blue than red.
          return [at.filter((each) => data[each + 2] - data[each] > 50).length, at.length];
        })()`),
      );
    // Days 300 to 329 of 689 were not read.
    const [[line, before], [gap, hatched]] = [await columnsAt(0.2), await columnsAt(0.455)];
    expect(line).toBeGreaterThan(5);
    expect(gap).toBe(0);
    expect(hatched).toBeGreaterThan(50 + before);
  });

  it('takes the font and the colour of the text around it, and follows a page that becomes dark', async () => {
    const { page, complaints } = await embedded('group="1"');
    await drawn(page);
    const inChart = (what: string): Promise<unknown> =>
      page.evaluate(`(() => {
        const root = document.querySelector('register-chart').shadowRoot;
        const style = getComputedStyle(root.querySelector('figure'));
        return ${what};
      })()`);
    await page.evaluate(`document.body.style.fontFamily = 'monospace'`);
    expect(await inChart('style.fontFamily')).toBe('monospace');
    const shape = z.tuple([z.string(), z.string()]);
    const look = async () =>
      shape.parse(await inChart(`[style.backgroundColor, root.querySelector('canvas').toDataURL()]`));
    const before = await look();
    await page.evaluate(`document.body.style.color = '#eee'; document.body.style.background = '#111'`);
    for (const at of [0, 1]) await expect.poll(async () => (await look())[at]).not.toBe(before[at]);
    expect(complaints).toEqual([]);
  });

  it('shows names and usernames in time, and owners with links to the register', async () => {
    const { page } = await embedded('group="1" value="names"');
    await chart(page).locator('.spans').waitFor();
    expect(await chart(page).locator('.name').allInnerTexts()).toEqual(['Snowy River Workshop', HOSTILE]);
    expect(await chart(page).locator('.unsure').count()).toBeGreaterThan(0);
    expect(await said(page)).toContain('Last read 21 November 2026, 06:00 UTC.');
    const { page: owners } = await embedded('group="1" value="owners"');
    const link = chart(owners).locator('.spans .name a');
    expect(await link.getAttribute('href')).toBe(`${register.base}/user/10`);
    const user = await embedded('user="10"');
    await chart(user.page).locator('.spans').waitFor();
    expect(await chart(user.page).locator('.name').allInnerTexts()).toEqual(['quick_hill', 'slow_hill']);
    expect(asked(user)).toEqual(['/embed.js', '/user/10/usernames.json']);
  });

  it('says what there is', async () => {
    const { page, complaints } = await embedded('group="1"');
    for (const [attributes, words] of [
      [
        'game="7"',
        /^Lantern Harbour\s+game 7\s+Playing: 1,290 players\s+Visits: 70,214,993\s+Favourites: not measured\s+Read 20 Nov/,
      ],
      ['game="7" value="visits"', /^Lantern Harbour\s+game 7\s+Visits: 70,214,993\s+Read 20 November 2026/],
      ['item="8"', /^Copper Diving Helmet\s+item 8\s+Price: none: the catalogue has no price for it/],
      ['group="2"', /group 2\s+The member count has not been read yet\./],
      ['group="8"', /^Read once before\s+group 8\s+One reading so far: 9 members on 10 January 2025, 06:00/],
      [
        'group="999"',
        /^No group 999 in this register\.\s+It was not measured, or its record is no longer pub/,
      ],
      ['', /^register-chart needs one of the attributes group, user, game, item, with the id of a record\.$/],
      [
        'group="007"',
        /^register-chart has group="007", which is no id: ids are from 1 to .*without zeros in/,
      ],
      [
        'user="10" value="members"',
        /no value "members" of a user; those measured are usernames, username_co/,
      ],
    ] as const) {
      const element = JSON.stringify(`<register-chart ${attributes}></register-chart>`);
      await page.evaluate(`document.querySelector('register-chart').outerHTML = ${element}`);
      await expect.poll(() => said(page)).toMatch(words);
      expect(await accessibilityOf(page), attributes).toEqual([]);
    }
    // A 404 is on the console, whoever asked.
    expect(complaints.filter((each) => !each.includes('404'))).toEqual([]);
  });

  it('follows its attributes, and what it is moved into', async () => {
    const { page, complaints } = await embedded('group="1"');
    await drawn(page);
    await page.evaluate(`document.querySelector('register-chart').setAttribute('group', '8')`);
    await expect.poll(() => said(page)).toMatch(/^Read once before/);
    await page.evaluate(`(() => { const chart = document.querySelector('register-chart'); chart.remove();
      document.querySelector('main').append(chart); chart.setAttribute('group', '1'); })()`);
    await drawn(page);
    expect(await chart(page).locator('canvas').count()).toBe(1);
    await page.evaluate(`document.body.append(document.createElement('iframe'));
      document.querySelector('iframe').contentDocument.body.append(document.querySelector('register-chart'))`);
    await page.frameLocator('iframe').locator('register-chart .plot canvas').waitFor();
    // With its style sheet.
    const display = `(() => {
      const chart = document.querySelector('iframe').contentDocument.querySelector('register-chart');
      return getComputedStyle(chart.shadowRoot.querySelector('figcaption')).display;
    })()`;
    expect(await page.evaluate(display)).toBe('flex');
    expect(complaints).toEqual([]);
  });

  it('is of the register that it names, where a page has scripts of two', async () => {
    for (const hosts of [
      [register.base, other.base],
      [other.base, register.base],
    ]) {
      const charts = hosts.map((host) => `<register-chart register="${host}" group="1"></register-chart>`);
      const element = `<register-chart group="1"></register-chart>${charts.join('')}`;
      const query = new URLSearchParams({ element });
      for (const host of hosts) query.append('host', host);
      const { page, complaints } = await openPage(`/?${query.toString()}`, { base: elsewhere });
      const texts = () => page.locator('register-chart figure').allInnerTexts();
      await expect
        .poll(async () => (await texts()).map((text) => text.split('\n')[0]))
        .toEqual([
          `register-chart needs the attribute register, since this page has scripts of 2: ${hosts.join('/, ')}/.`,
          ...hosts.map((host) => (host === other.base ? 'Of another register' : 'Snowy River Workshop')),
        ]);
      expect(complaints).toEqual([]);
    }
  });

  it('shows nothing of a register whose script is not in the page', async () => {
    const { page } = await embedded(`register="${other.base}" group="1"`, { policy: '' });
    await expect
      .poll(() => said(page))
      .toBe(`register-chart of ${other.base}/ needs its script, ${other.base}/embed.js, in this page.`);
    await page.evaluate(`import('${other.base}/embed.js')`);
    await expect.poll(() => said(page)).toMatch(/^Of another register/);
  });

  it('says that it loads, then what failed, and asks again', async () => {
    const { page } = await embedded('group="1"', {
      prepare: (each) => each.route('**/history.json', (route) => route.abort(), { times: 1 }),
    });
    await expect
      .poll(() => said(page))
      .toMatch(/^No response: the service could not be reached\. Group 1 could not be loaded\./);
    let release: (() => void) | undefined;
    await page.route('**/history.json', async (route) => {
      await new Promise<void>((settle) => (release = settle));
      await route.continue();
    });
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => said(page)).toBe('Loading …');
    await expect.poll(() => release).toBeDefined();
    release?.();
    await drawn(page);
  });
});

inChromium('for the chart', () => {
  it('the page of a record has the two lines, which show that record, and a button that copies them', async () => {
    const watched = await openPage('/group/1', { permissions: ['clipboard-read', 'clipboard-write'] });
    const { page } = watched;
    await page.locator('#facts').waitFor();
    await page.getByText('Embed', { exact: true }).click();
    await page.getByRole('button', { name: 'Copy the two lines' }).waitFor();
    expect(await faultsOf(watched)).toEqual([]);
    await page.getByRole('button', { name: 'Copy the two lines' }).click();
    const copied = String(await page.evaluate('navigator.clipboard.readText()'));
    expect(copied).toMatch(
      /^<script type="module" src="https?:\/\/[^"]+\/embed\.js"><\/script>\n<register-chart group="1"><\/register-chart>$/,
    );
  });

  it('the script is one file of at most 40 kB compressed, kept as long as pages, with the licence of its library', async () => {
    const { headers } = await register.get('/embed.js');
    expect(headers.get('cache-control')).toBe('public, max-age=300, stale-if-error=86400');
    const text = readFileSync(join(out, 'embed.js'), 'utf8');
    expect(gzipSync(text, { level: 6 }).length).toBeLessThan(40_000);
    expect(text).not.toMatch(/\/assets\/|\bimport\s*[({'"]|url\(/);
    expect(text).toMatch(/Copyright \(c\) \d+ Leon Sorokin/);
  });
});
