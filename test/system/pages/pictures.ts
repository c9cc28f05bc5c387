/**
 * Makes the picture of README.md, the front page of a published sample:
 *   node build/test/system/pages/pictures.js
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { CHROMIUM } from '../../support/programs.js';
import { startProxy } from '../../support/proxy.js';
import { PROJECT } from '../../support/project.js';

const folder = mkdtempSync(join(tmpdir(), 'register-pictures-'));
const snapshot = (...args: readonly string[]): Buffer =>
  execFileSync(process.execPath, [join(PROJECT, 'build/generator/cli.js'), ...args], { cwd: folder });

try {
  snapshot('sample', '--out', 'register.sqlite');
  snapshot('build', '--register', 'register.sqlite', '--out', 'dist');
  const { base, stop } = await startProxy(join(folder, 'dist'));
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1.5 });
    await page.goto(base, { waitUntil: 'networkidle' });
    await page.screenshot({ path: join(PROJECT, 'docs/front-page.png') });
  } finally {
    await browser.close();
    await stop();
  }
} finally {
  rmSync(folder, { recursive: true });
}
