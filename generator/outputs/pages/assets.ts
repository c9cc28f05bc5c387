/** The assets of the pages: styles, scripts and the chart library, all served from this origin. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { COMPILED_FOLDER, PAGES_FOLDER } from './folder.js';

export interface Asset {
  /** URL path. */
  readonly path: string;
  readonly body: string;
}

const own = (name: string): string => readFileSync(join(PAGES_FOLDER, 'assets', name), 'utf8');
/** A module that also runs in the generator, as compiled. */
const shared = (name: string): string => readFileSync(join(COMPILED_FOLDER, name), 'utf8');
const { resolve } = createRequire(import.meta.url);
const library = (file: string): string => readFileSync(resolve(file), 'utf8');

/** With the notice its licence requires, and as a module: minified, it is a plain script. */
const chartLibrary = (): string =>
  `/*!\n${library('uplot/LICENSE')}*/\n${library('uplot/dist/uPlot.iife.min.js')}\nexport default uPlot;\n`;

/** By route name; each script follows those it imports. */
const SOURCES: Readonly<Record<string, readonly [name: string, suffix: string, content: () => string]>> = {
  style: ['style', '.css', () => own('style.css')],
  'chart-style': ['uplot', '.css', () => library('uplot/dist/uPlot.min.css')],
  'chart-library': ['uplot', '.js', chartLibrary],
  'gaps-script': ['gaps', '.js', () => shared('gaps.js')],
  'highlight-script': ['highlight', '.js', () => own('highlight.js')],
  'chart-script': ['chart', '.js', () => own('chart.js')],
  'request-script': ['request', '.js', () => own('request.js')],
  'explorer-script': ['explorer', '.js', () => own('explorer.js')],
};

/** Digits of the content's SHA-256 in an asset's name. */
const HASH_DIGITS = 10;

let known: ReadonlyMap<string, Asset> | undefined;

/**
 * All assets by route name. Their names contain a hash of the content, so they may be cached for
 * ever, and a cache never mixes versions.
 */
export const assets = (): ReadonlyMap<string, Asset> => (known ??= readAssets());

function readAssets(): ReadonlyMap<string, Asset> {
  const scripts = new Map<string, string>();
  return new Map(
    Object.entries(SOURCES).map(([route, [name, suffix, content]]): [string, Asset] => {
      const body = suffix === '.js' ? withImports(content(), scripts) : content();
      const path = `/assets/${name}-${hash('sha256', body, 'hex').slice(0, HASH_DIGITS)}${suffix}`;
      if (suffix === '.js') scripts.set(name, path);
      return [route, { path, body }];
    }),
  );
}

/** `from './highlight.js'` and `from 'uplot'` -> the path of that script. */
const withImports = (script: string, paths: ReadonlyMap<string, string>): string =>
  script.replaceAll(
    /(\bfrom |\bimport\()'(?:\.{1,2}\/)?([\w-]+)(?:\.js)?'/g,
    (_, start: string, module: string) => {
      const path = paths.get(module);
      if (path === undefined)
        throw new TypeError(`a script imports "${module}", expected one named before it`);
      return `${start}'${path}'`;
    },
  );

/** The icon keeps a fixed name, where browsers look for it. */
export const favicon = (): string => own('favicon.svg');
