/** Debian's Chromium, and pages in it with all that should not happen on them. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import * as z from 'zod';
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import { CHROMIUM, has } from '../../support/programs.js';
import { published } from '../../support/build.js';
import { startProxy, type RunningProxy } from '../../support/proxy.js';
import { writeRegister, type Rows } from '../../support/register.js';

const HAS_CHROMIUM = has('pages in a browser', 'chromium');
/** `describe`, left out without a browser. */
// oxlint-disable-next-line vitest/valid-title, vitest/valid-describe-callback -- not a suite yet
export const inChromium = describe.skipIf(!HAS_CHROMIUM);
/** No sandbox, since tests may run as root; and nothing that the browser would ask for by itself. */
const FLAGS =
  '--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking ' +
  '--disable-component-update --disable-sync';
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A phone by day and a desktop by night. */
export const SCREENS = [
  { viewport: { width: 375, height: 800 }, colorScheme: 'light' },
  { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
] as const;

/** Counts the shifts of the layout from the start, in `window.shifts`. */
export const COUNT_SHIFTS = `window.shifts = 0;
  new PerformanceObserver((list) => { for (const each of list.getEntries()) window.shifts += each.value; })
    .observe({ type: 'layout-shift', buffered: true });`;

/** A page, and all that should not happen on it. */
export interface Watched {
  readonly page: Page;
  /** Errors and warnings on the console, uncaught errors, breaches of the policy. */
  readonly complaints: string[];
  readonly outside: string[];
}

export async function serving(file: string, rows: Rows, out: string): Promise<RunningProxy> {
  await published({ register: writeRegister(file, rows), out });
  return startProxy(out);
}

export interface Opening extends BrowserContextOptions {
  /** Of another site than that of the file. */
  readonly base?: string;
  /** What is done with the page before it loads. */
  readonly prepare?: (page: Page) => Promise<unknown>;
}

/**
 * Call it at the top of a test file: one browser and one site for the file, whose pages are closed after each test.
 * @returns opens a page in a context of its own
 */
export function browsing(serve: () => Promise<RunningProxy>) {
  let browser: Browser | undefined;
  let site: RunningProxy | undefined;
  beforeAll(async () => {
    if (!HAS_CHROMIUM) return;
    const launched = chromium.launch({ executablePath: CHROMIUM, args: FLAGS.split(' ') });
    [site, browser] = await Promise.all([serve(), launched]);
  });
  afterEach(async () => {
    for (const context of browser?.contexts() ?? []) await context.close();
  });
  afterAll(async () => {
    await browser?.close();
    await site?.stop();
  });
  return async (url: string, { base = site?.base, prepare, ...options }: Opening = {}): Promise<Watched> => {
    if (browser === undefined) throw new Error('the browser has not been started');
    const page = await (await browser.newContext(options)).newPage();
    const complaints: string[] = [];
    const outside: string[] = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', ({ message }) => complaints.push(message));
    page.on('request', (request) => {
      if (!request.url().startsWith(`${base}/`)) outside.push(request.url());
    });
    await prepare?.(page);
    await page.goto(base + url, { waitUntil: 'load' });
    return { page, complaints, outside };
  };
}

const violations = z.array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) }));

export async function accessibilityOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate('axe.run({ resultTypes: ["violations"] }).then((r) => r.violations)');
  return violations.parse(found).map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}

/** All that is wrong with a page that is open, what is folded away included. */
export async function faultsOf({ page, complaints, outside }: Watched): Promise<string[]> {
  await page.evaluate('for (const part of document.querySelectorAll("details")) part.open = true');
  const wider = Number(await sidewaysOf(page));
  const found = [...(await accessibilityOf(page)), ...complaints, ...outside];
  return wider === 0 ? found : [...found, `${wider} pixels wider than the window`];
}

export async function faultsOnScreens(watched: Watched): Promise<string[]> {
  const found: string[] = [];
  for (const { viewport, colorScheme } of SCREENS) {
    await watched.page.setViewportSize(viewport);
    await watched.page.emulateMedia({ colorScheme });
    found.push(...(await faultsOf(watched)));
  }
  return found;
}

/** As a browser at an address of http: it hashes nothing. */
export const NO_HASHES = 'Object.defineProperty(crypto, "subtle", { value: undefined });';

export const sidewaysOf = (page: Page): Promise<unknown> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
