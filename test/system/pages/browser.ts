/** Debian's Chromium, and pages in it with all that should not happen on them. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { z } from 'zod';
import { has } from '../../support/programs.js';

const CHROMIUM = '/usr/bin/chromium';
export const HAS_CHROMIUM = has('pages in a browser', 'chromium');
/** No sandbox, since tests may run as root; and nothing that the browser would ask for by itself. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const launch = (): Promise<Browser> => chromium.launch({ executablePath: CHROMIUM, args: FLAGS });

/** A page, and all that should not happen on it. */
export interface Watched {
  readonly page: Page;
  /** Errors and warnings on the console, uncaught errors, breaches of the policy. */
  readonly complaints: string[];
  readonly outside: string[];
}

/** Opens a page in a context of its own. */
export async function openIn(
  browser: Browser,
  base: string,
  url: string,
  options: BrowserContextOptions = {},
  prepare: (page: Page) => Promise<unknown> = () => Promise.resolve(),
): Promise<Watched> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints: string[] = [];
  const outside: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${base}/`)) outside.push(request.url());
  });
  await prepare(page);
  await page.goto(base + url, { waitUntil: 'load' });
  return { page, complaints, outside };
}

const violations = z.array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) }));

export async function accessibilityOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate('axe.run({ resultTypes: ["violations"] }).then((r) => r.violations)');
  return violations.parse(found).map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}

/** By how many pixels a page is wider than the window. */
export const sidewaysOf = (page: Page): Promise<unknown> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
