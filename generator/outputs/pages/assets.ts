/** The assets of the pages: fonts, styles, scripts and the chart library, all served from this origin. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { COMPILED_FOLDER, PAGES_FOLDER } from './folder.js';

export interface Asset {
  /** URL path. */
  readonly path: string;
  readonly body: string | Buffer;
}

const own = (name: string): string => readFileSync(join(PAGES_FOLDER, 'assets', name), 'utf8');
const binary = (name: string): Buffer => readFileSync(join(PAGES_FOLDER, 'assets', name));
/** A module that also runs in the generator, as compiled. */
const shared = (name: string): string => readFileSync(join(COMPILED_FOLDER, name), 'utf8');
const { resolve } = createRequire(import.meta.url);
const library = (file: string): string => readFileSync(resolve(file), 'utf8');

/** With the notice its licence requires, and as a module: minified, it is a plain script. */
const chartLibrary = (): string =>
  `/*!\n${library('uplot/LICENSE')}*/\n${library('uplot/dist/uPlot.iife.min.js')}\nexport default uPlot;\n`;

/** `import { a, b } from './c.js';`, as the formatter writes it. */
const IMPORT = /^import \{([^}]*)\} from '\.{1,2}\/([\w-]+)\.js';\n/gm;

interface Joined {
  (): string;
  /** The modules in it. */
  readonly modules: readonly string[];
}

/**
 * Modules as one file, which compresses better than each of them, and takes one request. Their
 * top-level names must differ. What is in TypeScript also runs in the generator.
 */
function joined(...files: readonly string[]): Joined {
  const modules = files.map((file) => file.replace(/\.[jt]s$/, ''));
  const content = (): string => {
    const imports = new Map<string, Set<string>>();
    const bodies = files.map((file) =>
      (file.endsWith('.ts') ? shared(file.replace('.ts', '.js')) : own(file)).replaceAll(
        IMPORT,
        (_, names: string, from: string) => {
          const known = imports.get(from) ?? new Set();
          for (const name of names.split(',')) if (name.trim() !== '') known.add(name.trim());
          if (!modules.includes(from)) imports.set(from, known);
          return '';
        },
      ),
    );
    const head = [...imports].map(
      ([from, names]) => `import { ${[...names].join(', ')} } from './${from}.js';\n`,
    );
    return [...head, ...bodies].join('');
  };
  return Object.assign(content, { modules });
}

/** By route name; each file follows those it names. */
const SOURCES: Readonly<
  Record<string, readonly [name: string, suffix: string, content: (() => string | Buffer) | Joined]>
> = {
  serif: ['serif', '.woff2', () => binary('fonts/serif.woff2')],
  'serif-latin-1': ['serif-latin-1', '.woff2', () => binary('fonts/serif-latin-1.woff2')],
  'serif-latin-a': ['serif-latin-a', '.woff2', () => binary('fonts/serif-latin-a.woff2')],
  style: ['style', '.css', () => own('style.css')],
  'front-style': ['front', '.css', () => own('front.css')],
  'data-style': ['data', '.css', () => own('data.css')],
  'docs-style': ['docs', '.css', () => own('docs.css')],
  'record-style': ['record', '.css', () => own('record.css') + library('uplot/dist/uPlot.min.css')],
  'lookup-style': ['lookup', '.css', () => own('lookup.css')],
  'chart-style': ['uplot', '.css', () => library('uplot/dist/uPlot.min.css')],
  'chart-library': ['uplot', '.js', chartLibrary],
  'base-script': [
    'base',
    '.js',
    joined('gaps.ts', 'words.ts', 'series.ts', 'spans.ts', 'dom.js', 'request.js', 'facts.js'),
  ],
  'copy-script': ['copy', '.js', () => own('copy.js')],
  'tabs-script': ['tabs', '.js', () => own('tabs.js')],
  'highlight-script': ['highlight', '.js', () => own('highlight.js')],
  'chart-script': ['chart', '.js', () => own('chart.js')],
  'lookup-script': ['lookup', '.js', joined('address.ts', 'lookup.js')],
  'cite-script': ['cite', '.js', () => own('cite.js')],
  'record-script': [
    'record',
    '.js',
    joined('page.js', 'summary.js', 'timeline.js', 'readings.js', 'record.js'),
  ],
  'docs-script': ['docs', '.js', () => own('docs.js')],
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
  const paths = new Map<string, string>();
  return new Map(
    Object.entries(SOURCES).map(([route, [name, suffix, content]]): [string, Asset] => {
      const source = content();
      const body = typeof source === 'string' ? withPaths(compact(source), paths) : source;
      const path = `/assets/${name}-${hash('sha256', body, 'hex').slice(0, HASH_DIGITS)}${suffix}`;
      paths.set(suffix === '.js' ? name : name + suffix, path);
      if ('modules' in content) for (const module of content.modules) paths.set(module, path);
      return [route, { path, body }];
    }),
  );
}

/**
 * Without indentation, and without comments that have lines of their own: they are for readers of
 * the sources, in which no text spans lines. Notices that a licence requires (`/*!`) stay.
 */
const compact = (source: string): string =>
  source
    .replaceAll(/^[ \t]*(?:\/\*(?!!)[^]*?\*\/|\/\/.*)\n/gm, '')
    .replaceAll(/^[ \t]+/gm, '')
    .replaceAll(/\n{2,}/g, '\n');

/** `from './highlight.js'`, `from 'uplot'` and `url('./serif.woff2')` -> the path of that asset. */
const withPaths = (source: string, paths: ReadonlyMap<string, string>): string =>
  source.replaceAll(
    /(\bfrom |\bimport\(|\burl\()'(?:\.{1,2}\/)?([\w-]+(?:\.woff2)?)(?:\.js)?'/g,
    (_, start: string, name: string) => {
      const path = paths.get(name);
      if (path === undefined) throw new TypeError(`an asset names "${name}", expected one before it`);
      return `${start}'${path}'`;
    },
  );

/** These keep fixed names, where browsers and other sites look for them. */
export const favicon = (): string => own('favicon.svg');
export const faviconForOldBrowsers = (): Buffer => binary('favicon.ico');
/** Shown where somebody links to a page; 1200 by 630 pixels. */
export const preview = (): Buffer => binary('preview.png');
