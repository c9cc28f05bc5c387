/**
 * Makes the pictures of README.md: a published front page, and a run in a terminal.
 *   node build/test/system/pages/pictures.js
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { CHROMIUM } from '../../support/programs.js';
import { startProxy, type RunningProxy } from '../../support/proxy.js';
import { PROJECT } from '../../support/project.js';

const folder = mkdtempSync(join(tmpdir(), 'register-pictures-'));
const SHOWN = { width: 1280, height: 800 };

/** A command as a reader types it, and what it printed. */
interface Shown {
  readonly command: string;
  readonly lines: readonly string[];
}

const CLI = join(PROJECT, 'build/generator/cli.js');

/** Runs a command of the generator in the folder. Its progress goes to standard error and is left out. */
function snapshot(command: string): Shown {
  const stdio = ['ignore', 'pipe', 'ignore'] as const;
  const operator = join(PROJECT, 'data/operator.json');
  const [name = '', ...options] = command.split(' ');
  const more = name === 'build' ? ['--operator', operator] : [];
  const args = [CLI, name, ...options, ...more];
  const printed = execFileSync(process.execPath, args, { cwd: folder, stdio: [...stdio], encoding: 'utf8' });
  return { command: `npm run snapshot -- ${command}`, lines: printed.trimEnd().split('\n') };
}

/** Asks for a URL, and shows the response indented. */
async function curl({ get }: RunningProxy, path: string): Promise<Shown> {
  const response = await get(path);
  const lines = JSON.stringify(await response.json(), null, 2).split('\n');
  return { command: `curl 'http://127.0.0.1:8080${path}'`, lines };
}

const CHARACTER = { width: 8.43, height: 20 };
const COLUMNS = 96;
const PADDING = 20;
/** Text of an SVG, which would collapse spaces. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll(' ', '\u00a0');

/** A terminal as an SVG, in the colours of the pages at night. */
function terminal(all: readonly Shown[]): string {
  const rows = all.flatMap(({ command, lines }) => [
    `<tspan fill="#4cc2b4">$</tspan> <tspan fill="#ffffff">${escaped(command)}</tspan>`,
    ...lines.map((line) => escaped(line.length > COLUMNS ? `${line.slice(0, COLUMNS - 1)}…` : line)),
    '',
  ]);
  const height = rows.length * CHARACTER.height + 2 * PADDING - CHARACTER.height;
  const width = Math.ceil(COLUMNS * CHARACTER.width) + 2 * PADDING;
  const texts = rows.map(
    (row, index) => `<text x="${PADDING}" y="${PADDING + 14 + index * CHARACTER.height}">${row}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<rect width="100%" height="100%" rx="8" fill="#14181b"/>`,
    `<g font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="#c9d1d0">`,
    ...texts,
    '</g></svg>',
    '',
  ].join('\n');
}

try {
  const commands = [
    'sample --out register.sqlite --records 5000',
    'check --register register.sqlite',
    'build --register register.sqlite --out dist',
  ].map(snapshot);
  const proxy = await startProxy(join(folder, 'dist'));
  try {
    const response = await curl(proxy, '/api/v1/largest?limit=1');
    writeFileSync(join(PROJECT, 'docs/terminal.svg'), terminal([...commands, response]));
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
    const page = await browser.newPage({ viewport: SHOWN, deviceScaleFactor: 1.5 });
    await page.goto(proxy.base, { waitUntil: 'networkidle' });
    await page.screenshot({ path: join(PROJECT, 'docs/front-page.png') });
    await browser.close();
  } finally {
    await proxy.stop();
  }
} finally {
  rmSync(folder, { recursive: true });
}
