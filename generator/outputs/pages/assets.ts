/** What the pages load: style, scripts and the library that draws charts, all served by us. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { routeNamed } from '../../routes.js';
import type { Route } from '../../routes.js';
import type { Output } from '../output.js';
import { COMPILED_FOLDER, PAGES_FOLDER } from './folder.js';

const own = (name: string): string => readFileSync(join(PAGES_FOLDER, 'assets', name), 'utf8');
/** A module that the generator runs as well, as the compiler wrote it. */
const shared = (name: string): string => readFileSync(join(COMPILED_FOLDER, name), 'utf8');
const { resolve } = createRequire(import.meta.url);
const library = (file: string): string => readFileSync(resolve(file), 'utf8');

/** Published with the notice its licence asks for, and as a module: the library itself comes minified as a script only. */
const chartLibrary = (): string =>
  `/*!\n${library('uplot/LICENSE')}*/\n${library('uplot/dist/uPlot.iife.min.js')}\nexport default uPlot;\n`;

/** By route name, whatever is imported before its importer. */
const CONTENTS: Readonly<Record<string, () => string>> = {
  style: () => own('style.css'),
  'chart-style': () => library('uplot/dist/uPlot.min.css'),
  'chart-library': chartLibrary,
  'gaps-script': () => shared('gaps.js'),
  'highlight-script': () => own('highlight.js'),
  'chart-script': () => own('chart.js'),
  'request-script': () => own('request.js'),
  'explorer-script': () => own('explorer.js'),
  favicon: () => own('favicon.svg'),
};

/** Digits of a content's hash that tell its versions apart. */
const VERSION_DIGITS = 10;

export interface Assets {
  readonly outputs: readonly Output[];
  /** The URL of an asset, by route name. */
  readonly urls: Readonly<Record<string, string>>;
}

/**
 * All assets. Their URLs carry a hash of the content, so that a page never meets the style or script of another
 * version in a cache. In the query, not in the path: a page kept for an hour still finds a style then.
 */
export function assets(table: readonly Route[]): Assets {
  const outputs: Output[] = [];
  const urls: Record<string, string> = {};
  for (const [route, content] of Object.entries(CONTENTS)) {
    const { path } = routeNamed(table, route);
    const body = versionedImports(content(), Object.values(urls));
    urls[route] = `${path}?v=${hash('sha256', body, 'hex').slice(0, VERSION_DIGITS)}`;
    outputs.push({ route, key: 0, body });
  }
  return { outputs, urls };
}

/** `from './highlight.js'` and `from 'uplot'` -> the URL of that script, with its version. */
const versionedImports = (script: string, urls: readonly string[]): string =>
  script.replaceAll(
    /(\bfrom |\bimport\()'(?:\.{1,2}\/)?([\w-]+)(?:\.js)?'/g,
    (_, start: string, module: string) => {
      const url = urls.find((candidate) => candidate.startsWith(`/assets/${module}.js?`));
      if (url === undefined)
        throw new TypeError(`a script imports "${module}", expected one named before it`);
      return `${start}'${url}'`;
    },
  );
