/** A published site and a proxy in front of it, and pages taken apart. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeSample } from '../../../../data/sample.js';
import { DOCUMENTATION } from '../../../../generator/routes/documentation.js';
import { snapshot } from '../../../support/cli.js';
import { startProxy, type RunningProxy } from '../../../support/proxy.js';
import { snapshotOf } from '../../../support/published.js';

export const DOCUMENTATION_PAGES = DOCUMENTATION.map(({ path }) => path);
export const DOCUMENTATION_FILES = DOCUMENTATION.map(({ path }) => `${path.slice(1)}.html`);
export const PAGES = ['/', ...DOCUMENTATION_PAGES, '/downloads', '/feeds'];

export interface Site {
  readonly out: string;
  readonly proxy: RunningProxy;
  readonly base: string;
}

/** The tree of a fictional register, published by the real command line once for all test files of a process. */
let tree: Promise<string> | undefined;

export const publishedSample = (): Promise<string> => (tree ??= publishSample());

async function publishSample(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'register-site-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const [register, out] = [join(folder, 'register.sqlite'), join(folder, 'dist')];
  await writeSample({ file: register, records: 400, seed: 3 });
  const { code, stderr } = await snapshot(['build', '--register', register, '--out', out, '--quiet']);
  if (code !== 0) throw new Error(`the build ended with ${code}: ${stderr}`);
  return out;
}

/** That tree, with a proxy of the test file's own, which that stops. */
export async function publishSite(): Promise<Site> {
  const out = await publishedSample();
  return { out, proxy: await startProxy(out), base: snapshotOf(out).service.base_url };
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

export const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);

export const between = (html: string, begin: string, end: string): string[] =>
  html
    .split(begin)
    .slice(1)
    .map((rest) => rest.slice(0, rest.indexOf(end)));

export const codeOf = (html: string): string[] =>
  [...html.matchAll(/<pre class="code[^"]*"[^>]*><code(?:[^>]*)>([^]*?)<\/code><\/pre>/g)].map(([, code]) =>
    textOf(code ?? ''),
  );
