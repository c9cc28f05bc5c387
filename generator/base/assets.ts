/** The assets of the pages: fonts, styles and scripts, as `bundle.ts` made them. */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as z from 'zod';
import { PROJECT_FOLDER } from './package.js';

interface Asset {
  /** URL path. */
  readonly path: string;
  readonly body: string | Buffer;
}

/** Where `bundle.ts` writes the assets. */
export const ASSETS_FOLDER = join(PROJECT_FOLDER, 'build/assets');
/** URL paths by route name. */
export const MANIFEST = join(ASSETS_FOLDER, 'manifest.json');

const read = (name: string): Buffer => readFileSync(join(ASSETS_FOLDER, name));

let known: ReadonlyMap<string, Asset> | undefined;

/**
 * All assets by route name. Their names contain a hash of the content, so they may be cached for
 * ever, and a cache never mixes versions.
 * @throws {Error} if the program is not compiled
 */
export const assets = (): ReadonlyMap<string, Asset> => (known ??= readAssets());

function readAssets(): ReadonlyMap<string, Asset> {
  try {
    const paths = z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(MANIFEST, 'utf8')));
    return new Map(
      Object.entries(paths).map(([route, path]) => [route, { path, body: read(basename(path)) }]),
    );
  } catch (error) {
    throw new Error('the assets of the pages are missing or incomplete: run "npm run compile"', {
      cause: error,
    });
  }
}

/** Assets with fixed names, by which browsers and other sites look for them. */
export const FIXED = ['favicon.svg', 'favicon.ico', 'preview.png'] as const;
export const favicon = (): Buffer => read('favicon.svg');
export const faviconForOldBrowsers = (): Buffer => read('favicon.ico');
/** The picture in previews of links to a page; 1200 by 630 pixels. */
export const preview = (): Buffer => read('preview.png');

/** By route: the typed client and the scripts that keep a copy, for those who know only the URL of the service. */
export const CLIENT_FILES = {
  client: 'client.ts',
  'client-changes': 'changes.ts',
  'client-follow': 'follow.py',
  'client-mirror': 'mirror.py',
} as const;
export const clientFiles = (): readonly { readonly route: string; readonly body: Buffer }[] =>
  Object.entries(CLIENT_FILES).map(([route, name]) => ({ route, body: read(name) }));

/** The chart for pages of other sites: the script, and the global object that it defines. */
export const EMBED = { file: 'embed.js', object: 'registerChart' } as const;
export const embedScript = (): Buffer => read(EMBED.file);
