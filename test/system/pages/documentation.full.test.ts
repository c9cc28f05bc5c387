/** The pages in Debian's Chromium: what people see and use, with nothing loaded from elsewhere. */
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { startProxy } from '../../support/proxy.js';
import {
  COUNT_SHIFTS,
  SCREENS,
  accessibilityOf,
  browsing,
  faultsOnScreens,
  inChromium,
  sidewaysOf,
} from './browser.js';
import { PAGES, publishSite, type Site } from '../../generator/outputs/pages/site.js';

let site: Site;

const open = browsing(async () => (site = await publishSite()).proxy);

/** Counts the shifts of a page whose scripts come last, after all has been drawn. */
async function drawnFirst(page: Page): Promise<void> {
  await page.addInitScript(COUNT_SHIFTS);
  await page.route('**/*.js', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 500));
    await route.continue();
  });
}

inChromium('the pages', () => {
  it.each(PAGES.map((url, at) => [url, SCREENS[at % 2]!] as const))(
    'are in order on a phone and a desktop, move nothing while they load, and are no wider than any window: %s',
    async (url, { viewport: { width }, colorScheme }) => {
      const watched = await open(url, {
        viewport: { width, height: 5000 },
        colorScheme,
        prepare: drawnFirst,
      });
      const { page } = watched;
      await page.waitForLoadState('networkidle');
      expect(await page.evaluate('window.shifts')).toBeLessThan(0.002);
      expect(await faultsOnScreens(watched)).toEqual([]);
      for (const width of [320, 640, 768, 1920]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await sidewaysOf(page), String(width)).toBe(0);
      }
    },
  );

  const options = { javaScriptEnabled: false };

  it('without scripts: the reference is there with every language, and without a field that does nothing', async () => {
    const { page } = await open('/developers/reference/register', options);
    expect(await page.locator('.endpoint').count()).toBe(2);
    expect(await page.locator('code.json').first().innerText()).toContain('"version": 1');
    for (const text of ['curl "', 'await fetch(', 'urllib.request.urlopen('])
      expect(await page.getByText(text).first().isVisible(), text).toBe(true);
    expect(await page.locator('#search').isVisible()).toBe(false);
  });

  it('without scripts: the contents open on a phone', async () => {
    const { page } = await open('/developers/guides/limits', { ...options, ...SCREENS[0] });
    const link = page.locator('.contents a[aria-current=page]');
    expect(await link.isVisible()).toBe(false);
    await page.locator('.toggle summary').click();
    expect(await link.isVisible()).toBe(true);
  });
});

inChromium('the documentation', () => {
  it('is searched by pages, headings, fields, errors and words, and remembers the language', async () => {
    const { page, complaints } = await open('/developers');
    await page.locator('#search').fill('usernames is_current');
    const results = page.locator('#results a');
    await expect.poll(() => results.count()).toBe(1);
    expect(await results.first().innerText()).toMatch(/^usernames\[\]\.is_current\s+Users: /);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/developers/reference/users#field-user-usernames-usernames-is_current');
    // It is inside something folded.
    expect(await page.locator('#field-user-usernames-usernames-is_current').isVisible()).toBe(true);
    await page.locator('#search').fill('rate_limited');
    await expect.poll(() => results.first().getAttribute('href')).toBe('/developers#error-rate_limited');
    // Words that stand below a heading lead to it, too.
    await page.locator('#search').fill('cors');
    await expect.poll(() => page.locator('#found').innerText()).toMatch(/^\d+ found$/);
    await page.locator('#search').fill('nothing like it');
    await expect.poll(() => page.locator('#found').innerText()).toBe('No results.');
    await page.keyboard.press('Escape');
    expect(await page.locator('#pages').isVisible()).toBe(true);
    expect(complaints).toEqual([]);
    await page.goto(`${site.proxy.base}/developers`);
    await page.getByRole('tab', { name: 'Python' }).click();
    await page.goto(`${site.proxy.base}/developers/reference/users`);
    expect(await page.getByText('urllib.request.urlopen(').first().isVisible()).toBe(true);
    expect(await page.getByText('await fetch(').first().isVisible()).toBe(false);
  });

  it('leads from an old address to where its part is now', async () => {
    for (const [old, now] of [
      ['limits', '/developers/guides/limits#limits'],
      ['endpoint-group-history', '/developers/reference/groups#endpoint-group-history'],
    ] as const) {
      const { page } = await open(`/developers#${old}`);
      await expect.poll(() => page.url()).toBe(site.proxy.base + now);
    }
  });

  it('opens at an address whose escapes are broken, and asks again for an index that could not be loaded', async () => {
    const { page, complaints } = await open('/developers#%E0%A4%A', {
      prepare: (each) => each.route('**/developers.json', (route) => route.abort(), { times: 1 }),
    });
    await page.locator('#search').fill('usernames is_current');
    await expect.poll(() => complaints.length).toBeGreaterThan(0);
    // The browser's own words about the request, and no error of the script.
    expect(complaints.filter((each) => !each.includes('net::ERR_FAILED'))).toEqual([]);
    await page.locator('#search').fill('usernames is_curren');
    await expect.poll(() => page.locator('#results a').count()).toBe(1);
  });

  it('marks in its contents what is being read', async () => {
    const { page } = await open('/developers', { viewport: { width: 1280, height: 800 } });
    const marked = page.locator('.headings [aria-current=location]');
    for (const id of ['types', 'errors']) {
      await page.evaluate(`document.getElementById('${id}').scrollIntoView()`);
      await expect.poll(() => marked.getAttribute('href')).toBe(`#${id}`);
    }
  });
});

const status = (page: Page): Promise<string> => page.locator('#explorer-status').innerText();

const endpointsOf = async (page: Page): Promise<string[]> =>
  (await page.locator('#explorer-endpoint option').allInnerTexts()).map((text) => text.split(/\s/)[0] ?? '');

async function send(page: Page, endpoint: string, value?: string): Promise<string> {
  const index = (await endpointsOf(page)).indexOf(endpoint);
  await page.locator('#explorer-endpoint').selectOption({ index });
  if (value !== undefined) await page.locator('#explorer-value').fill(value);
  await page.locator('#explorer button[type=submit]').click();
  await expect.poll(() => status(page)).toMatch(/^(\d{3} |No response)/);
  return status(page);
}

const asked = async (page: Page): Promise<string> =>
  /curl "([^"]*)"/.exec(await page.locator('#explorer-curl').innerText())?.[1] ?? '';

inChromium('the explorer', () => {
  it('shows what each endpoint answers, as the line of curl gets it', async () => {
    const { page, complaints, outside } = await open('/developers/explorer');
    const listed = z
      .object({ endpoints: z.array(z.object({ path: z.string() })) })
      .parse(await (await site.proxy.get('/api/v1')).json());
    // The sample has no ids of a platform, and downloads have a page of their own.
    const shown = listed.endpoints
      .map((endpoint) => endpoint.path)
      .filter((each) => !/platform[-/]|downloads/.test(each));
    expect(await endpointsOf(page)).toEqual(expect.arrayContaining(shown));
    for (const endpoint of shown) {
      expect(await send(page, endpoint), endpoint).toMatch(/^200 OK/);
      const whole = page.locator('#explorer-more');
      if (await whole.isVisible()) await whole.click();
      const body: unknown = JSON.parse(await page.locator('#explorer-body').innerText());
      expect(body, endpoint).toEqual(await (await fetch(await asked(page))).json());
      expect(await page.locator('#explorer-headers').innerText()).toContain('etag');
      const chart = page.locator('#explorer-chart');
      await expect
        .poll(() => chart.isVisible(), { message: endpoint })
        .toBe(/^(\/api\/v1)?\/group\//.test(endpoint));
    }
    expect([...complaints, ...outside]).toEqual([]);
  });

  it('draws the group it names, with its gaps, also after a response without a line and another width', async () => {
    const { page } = await open('/developers/explorer', { viewport: { width: 1280, height: 800 } });
    const { groups } = z
      .object({ groups: z.array(z.object({ id: z.int() })) })
      .parse(await (await site.proxy.get('/api/v1/largest?limit=2')).json());
    const [one, other] = groups.map(({ id }) => String(id));
    const text = () => page.locator('#explorer-chart-text').innerText();
    await send(page, '/api/v1/group/{id}', one);
    await page.locator('#explorer-plot canvas').waitFor();
    expect(await text()).toMatch(/Member history: \d+ readings.*(no gaps|1 gap|\d+ gaps)/s);
    expect(await accessibilityOf(page)).toEqual([]);
    await send(page, '/api/v1/group/{id}', '999999999');
    await page.setViewportSize({ width: 900, height: 800 });
    await send(page, '/api/v1/group/{id}', other);
    await page.locator('#explorer-plot canvas').waitFor();
    // Whatever follows a change of the width has done so.
    await page.waitForTimeout(300);
    expect(await page.locator('#explorer-plot .uplot').count()).toBe(1);
    await page.locator('#explorer-plot .u-over').hover({ position: { x: 1, y: 50 } });
    const [, first] = / readings, ([\d,]+) members on /.exec(await text()) ?? [];
    expect(await page.locator('.u-legend .u-value').last().innerText()).toBe(first);
  });

  it('shows a 404 and a 400 as what they are', async () => {
    const { page } = await open('/developers/explorer', { viewport: { width: 375, height: 800 } });
    expect(await send(page, '/api/v1/group/{id}', '999999999')).toMatch(/^404 Not found/);
    expect(await page.locator('#explorer-body').innerText()).toContain('"error": "not_found"');
    expect(await page.locator('#explorer-chart').isVisible()).toBe(false);
    expect(await send(page, '/api/v1/user/{id}', '<b>"1/../&')).toMatch(/^400 Invalid path/);
    expect(await send(page, '/api/v1/largest', '201')).toMatch(/^400 Invalid limit/);
    expect(await asked(page)).toBe(`${site.proxy.base}/api/v1/largest?limit=201`);
    expect(await accessibilityOf(page)).toEqual([]);
    expect(await sidewaysOf(page)).toBe(0);
  });

  it('at a 429 says when the next request passes, and then it does', async () => {
    const proxy = await startProxy(site.out, [], { limits: { api: { tokens: 20, refill_seconds: 3 } } });
    onTestFinished(async () => void (await proxy.stop()));
    const { page } = await open('/developers/explorer', { base: proxy.base });
    while ((await proxy.get('/api/v1/stats')).status !== 429);
    expect(await send(page, '/api/v1/stats')).toMatch(/^429 Too many requests/);
    expect(await page.locator('#explorer-wait').innerText()).toMatch(/allowed in [123] s/);
    const button = page.locator('#explorer button[type=submit]');
    expect(await button.isDisabled()).toBe(true);
    await expect.poll(() => button.isDisabled()).toBe(false);
    expect(await send(page, '/api/v1/stats')).toMatch(/^200 OK/);
  });

  it('begins with the request that its address names, keeps it up to date, and says so if there is no answer', async () => {
    const { page } = await open('/developers/explorer?endpoint=largest&value=7');
    expect(await asked(page)).toBe(`${site.proxy.base}/api/v1/largest?limit=7`);
    expect(await send(page, '/api/v1/stats')).toMatch(/^200 OK/);
    expect(new URL(page.url()).search).toBe('?endpoint=stats');
    await page.context().setOffline(true);
    expect(await send(page, '/api/v1/group/{id}', '1')).toBe('No response: this device is offline.');
  });
});
