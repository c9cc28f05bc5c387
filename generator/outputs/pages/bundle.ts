/**
 * Makes the assets of the pages.
 * Each script and style sheet is one minified file with all that it imports. What it imports only
 * when needed (`import()`), and fonts, are files of their own.
 */
import { hash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, extname, join, relative } from 'node:path';
import { build, type BuildOptions, type Plugin } from 'esbuild';
import { ASSETS_FOLDER, CLIENT_FILES, EMBED, FIXED, MANIFEST } from '../../base/assets.js';
import { PROJECT_FOLDER } from '../../base/package.js';

const SOURCES = join(PROJECT_FOLDER, 'generator/outputs/pages/assets');

/** Source by route name; each follows those it names. */
const ENTRIES: Readonly<Record<string, string>> = {
  serif: 'fonts/serif.woff2',
  'serif-latin-1': 'fonts/serif-latin-1.woff2',
  'serif-latin-a': 'fonts/serif-latin-a.woff2',
  style: 'style.css',
  'front-style': 'front.css',
  'data-style': 'data.css',
  'docs-style': 'docs.css',
  'record-style': 'record.css',
  'chart-style': 'chart.css',
  'copy-script': 'copy.ts',
  'tabs-script': 'tabs.ts',
  'chart-script': 'chart.ts',
  'lookup-script': 'lookup.ts',
  'cite-script': 'cite.ts',
  'record-script': 'record.ts',
  'docs-script': 'docs.ts',
  'explorer-script': 'explorer.ts',
};

/** Libraries in a script, whose licences require their notice in it. */
const LIBRARIES: Readonly<Record<string, string>> = { 'chart.ts': 'uplot', 'embed.ts': 'uplot' };

/** Digits of the content's SHA-256 in an asset's name, as its route expects them. */
const HASH_DIGITS = 10;

/**
 * All assets by route name. The same sources and lock file give the same bytes.
 * @throws {Error} if a source can't be parsed, or names something that is not there
 */
export async function bundled(): Promise<ReadonlyMap<string, { path: string; body: Uint8Array }>> {
  /** URL paths by source. */
  const paths = new Map<string, string>();
  const made = new Map<string, { path: string; body: Uint8Array }>();
  for (const [route, source] of Object.entries(ENTRIES)) {
    const suffix = extname(source);
    const body = suffix === '.woff2' ? readFileSync(join(SOURCES, source)) : await one(source, paths);
    const digits = hash('sha256', body, 'hex').slice(0, HASH_DIGITS);
    const name = basename(imported(source));
    const path = `/assets/${name.replace('.', `-${digits}.`)}`;
    paths.set(join(SOURCES, imported(source)), path);
    made.set(route, { path, body });
  }
  return made;
}

/** The name under which other assets import one. */
const imported = (source: string): string => source.replace(/\.ts$/, '.js');

/** A script or style sheet, with what it imports. The paths are those of the assets before it. */
async function one(
  source: string,
  paths: ReadonlyMap<string, string>,
  format: Pick<BuildOptions, 'format' | 'globalName'> = { format: 'esm' },
): Promise<Uint8Array> {
  const library = LIBRARIES[source];
  const { outputFiles } = await build({
    entryPoints: [join(SOURCES, source)],
    absWorkingDir: PROJECT_FOLDER,
    bundle: true,
    write: false,
    minify: true,
    ...format,
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'inline',
    banner: library === undefined ? {} : { js: noticeOf(library) },
    plugins: [withPaths(paths), sheetsAsText(paths)],
    logLevel: 'silent',
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error(`nothing was made of "${source}"`);
  return file.contents;
}

const noticeOf = (library: string): string =>
  `/*!\n${readFileSync(createRequire(import.meta.url).resolve(`${library}/LICENSE`), 'utf8')}*/`;

/** Leads `import('./chart.js')` and `url('./fonts/serif.woff2')` to the paths of those assets. */
const withPaths = (paths: ReadonlyMap<string, string>): Plugin => ({
  name: 'paths of assets',
  setup: (builder) => {
    builder.onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) => {
      if (kind !== 'dynamic-import' && kind !== 'url-token') return undefined;
      const asset = paths.get(join(resolveDir, path));
      return asset === undefined
        ? { errors: [{ text: `"${path}" is no asset, or none before this one` }] }
        : { path: asset, external: true };
    });
  },
});

/** A style sheet that a script imports is a text in it. */
const sheetsAsText = (paths: ReadonlyMap<string, string>): Plugin => ({
  name: 'style sheets as text',
  setup: (builder) => {
    builder.onResolve({ filter: /^\.\/.*\.css$/ }, ({ kind, path, resolveDir }) =>
      kind === 'import-statement' ? { path: join(resolveDir, path), namespace: 'text' } : undefined,
    );
    builder.onLoad({ filter: /./, namespace: 'text' }, async ({ path }) => ({
      contents: await one(relative(SOURCES, path), paths),
      loader: 'text',
    }));
  },
});

/** The chart in pages of others, with nothing left to import: there are no paths of assets that it could name. */
const embedded = (): Promise<Uint8Array> =>
  one('embed.ts', new Map(), { format: 'iife', globalName: EMBED.object });

const sourceOf = (path: string): string => readFileSync(join(PROJECT_FOLDER, path), 'utf8');

function withOther(text: string, words: string, others: string): string {
  if (text.split(words).length !== 2) throw new Error(`expected "${words}" once in the client`);
  return text.replace(words, () => others);
}

/**
 * The clients as they are served, with the licence that whoever copies them must keep: `client.ts` has the types
 * in it, and `changes.ts` imports no more than types of `client.ts`.
 * @throws {Error} if the sources import each other in other words than these
 */
function clientTexts(): Readonly<Record<(typeof CLIENT_FILES)[keyof typeof CLIENT_FILES], string>> {
  const client = sourceOf('clients/typescript/client.ts');
  const changes = sourceOf('clients/typescript/changes.ts');
  const licence = sourceOf('LICENSE');
  const notice = `/*\n${licence}*/\n`;
  const script = (name: string): string =>
    sourceOf(`clients/python/${name}`).replace('\n', () => `\n${licence.replaceAll(/^(?!$)/gm, '# ')}`);
  return {
    'client.ts':
      notice +
      withOther(client, "import type { components, paths } from './api.js';\n", '') +
      `\n${sourceOf('clients/typescript/api.ts')}`,
    // With its own suffix: Deno, and Node without a build, look for no other one.
    'changes.ts': notice + withOther(changes, "from './client.js';", "from './client.ts';"),
    'follow.py': script('follow.py'),
    'mirror.py': script('mirror.py'),
  };
}

/** Writes them to where the generator reads them, along with those that have fixed names. */
export async function writeAssets(): Promise<void> {
  const made = await bundled();
  rmSync(ASSETS_FOLDER, { recursive: true, force: true });
  mkdirSync(ASSETS_FOLDER, { recursive: true });
  for (const { path, body } of made.values()) writeFileSync(join(ASSETS_FOLDER, basename(path)), body);
  for (const name of FIXED) copyFileSync(join(SOURCES, name), join(ASSETS_FOLDER, name));
  writeFileSync(join(ASSETS_FOLDER, EMBED.file), await embedded());
  for (const [name, text] of Object.entries(clientTexts())) writeFileSync(join(ASSETS_FOLDER, name), text);
  const paths = Object.fromEntries([...made].map(([route, { path }]) => [route, path]));
  writeFileSync(MANIFEST, `${JSON.stringify(paths, null, 2)}\n`);
}
