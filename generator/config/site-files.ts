/** The operator's own files (imprint, site verification): each has a route of the class `page`. */
import { existsSync, lstatSync, readFileSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { Failure, reading } from '../base/errors.js';
import { ROUTES } from '../routes/routes.js';
import { SIBLING_SUFFIXES, type Route } from '../routes/route.js';
import { redirectsIn } from '../routes/redirects.js';
import { templatePattern } from '../routes/keys.js';
import { notUtf8 } from '../base/utf8.js';

export interface SiteFile {
  readonly route: Route;
  /** The file's path on this machine, or its content if it is generated. */
  readonly source: string | Buffer;
}

/** A route each: snapshot.json lists them, and a build compares each. */
const MOST_FILES = 200;
/** 10 MiB. */
const MOST_BYTES = 10 * 1024 * 1024;
/** In the stage and in the state, escaped paths are file names, of at most 255 bytes. */
const LONGEST_PATH = 80;
const SHOWN_PROBLEMS = 20;

/** What websites have, by media type (iana.org/assignments/media-types): the ends of the names of its files. */
const TYPES = Object.entries({
  'application/gzip': 'gz',
  'application/json; charset=utf-8': 'json map',
  'application/manifest+json; charset=utf-8': 'webmanifest',
  'application/pdf': 'pdf',
  'application/pgp-keys': 'asc',
  'application/wasm': 'wasm',
  'application/xml': 'xml xsl',
  'application/zip': 'zip',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg opus',
  'font/otf': 'otf',
  'font/ttf': 'ttf',
  'font/woff': 'woff',
  'font/woff2': 'woff2',
  'image/avif': 'avif',
  'image/gif': 'gif',
  'image/jpeg': 'jpg jpeg',
  'image/png': 'png',
  'image/svg+xml': 'svg',
  'image/vnd.microsoft.icon': 'ico',
  'image/webp': 'webp',
  'text/calendar; charset=utf-8': 'ics',
  'text/css; charset=utf-8': 'css',
  'text/csv; charset=utf-8': 'csv',
  'text/html; charset=utf-8': 'html htm',
  'text/javascript; charset=utf-8': 'js mjs',
  'text/markdown; charset=utf-8': 'md',
  'text/plain; charset=utf-8': 'txt',
  'text/vtt; charset=utf-8': 'vtt',
  'text/x-vcard; charset=utf-8': 'vcf',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
});

/** Browsers save a file of any other type instead of displaying it. */
const UNKNOWN_TYPE = 'application/octet-stream';

function typeOf(path: string): string {
  const end = extname(path).slice(1).toLowerCase();
  return TYPES.find(([, ends]) => ends.split(' ').includes(end))?.[0] ?? UNKNOWN_TYPE;
}

/** The only hidden folder, whose name is fixed (RFC 8615). */
const WELL_KNOWN = '.well-known';

const PREFIX = 'file-';

/** `privacy.html` -> `file-privacy_2ehtml`: route names are file names in the state. */
const nameOf = (path: string): string =>
  PREFIX + path.replaceAll(/[^A-Za-z0-9-]/g, (character) => `_${character.charCodeAt(0).toString(16)}`);

/** Whether a route is that of an operator's file, or was in the previous snapshot. */
export const isSiteFile = ({ name }: Pick<Route, 'name'>): boolean =>
  name.startsWith(PREFIX) || name.startsWith(`former-${PREFIX}`);

const routeOf = (path: string, description = 'File of the operator'): Route => ({
  name: nameOf(path),
  path: `/${path}`,
  file: path,
  class: 'page',
  bucket: 'page',
  type: typeOf(path),
  description,
});

/** A file that follows from the operator file. */
export const generatedFile = (path: string, description: string, content: string): SiteFile => ({
  route: routeOf(path, description),
  source: Buffer.from(content),
});

/** The routes of a snapshot: the route table, and those of the operator's own files. */
export const routesOf = (files: readonly SiteFile[]): readonly Route[] => [
  ...ROUTES,
  ...files.flatMap(({ route }) => (ROUTES.includes(route) ? [] : route)),
];

/** Routes that a file of the operator may replace. They keep their name, URL and headers. */
const REPLACEABLE: ReadonlySet<string> = new Set(['front-page', 'robots']);

/** The names of the routes that files of the operator replace. */
export const replacedBy = (files: readonly SiteFile[]): ReadonlySet<string> =>
  new Set(files.flatMap(({ route: { name } }) => (REPLACEABLE.has(name) ? name : [])));

/**
 * The files below a folder, sorted by path, with their routes.
 * @param others files that are published as well
 * @throws Failure usage: some can't be published (all are named); environment: the folder is
 * unreadable
 */
export function siteFiles(folder: string, others: readonly SiteFile[] = []): readonly SiteFile[] {
  if (!existsSync(folder)) {
    throw Failure.environment(`folder "${folder}" (files of the operator file) does not exist`);
  }
  const found: string[] = [];
  const problems: string[] = [];
  for (const [path, problem] of entriesBelow(folder, '')) {
    if (problem !== undefined) problems.push(`"${join(folder, path)}" ${problem}`);
    else found.push(path);
    if (found.length + problems.length > MOST_FILES) {
      problems.push(`there are more than ${MOST_FILES} files`);
      break;
    }
  }
  const paths = new Set(found);
  const table = routesOf(others);
  const replaceable = new Map(
    table.flatMap((route) => (REPLACEABLE.has(route.name) ? [[route.file, route]] : [])),
  );
  for (const path of found) {
    if (replaceable.has(path)) continue;
    const other = collisionOf(path, paths, table);
    if (other !== undefined) problems.push(`"${join(folder, path)}" collides with ${other}`);
  }
  if (problems.length > 0) throw Failure.usage(refusal(folder, problems));
  return found
    .toSorted()
    .map((path) => ({ route: replaceable.get(path) ?? routeOf(path), source: join(folder, path) }));
}

function refusal(folder: string, problems: readonly string[]): string {
  const rest = problems.length - SHOWN_PROBLEMS;
  return [
    `folder "${folder}" (files of the operator file) can't be published:`,
    ...problems.slice(0, SHOWN_PROBLEMS),
    ...(rest > 0 ? [`and ${rest} more problems`] : []),
  ].join('\n  ');
}

/** Paths below the root, with `/`, each with what is wrong with it. */
function* entriesBelow(
  root: string,
  folder: string,
): Generator<readonly [path: string, problem: string | undefined], void, undefined> {
  for (const name of readable(join(root, folder), (path) => readdirSync(path))) {
    const path = folder === '' ? name : `${folder}/${name}`;
    const stats = readable(join(root, path), (file) => lstatSync(file));
    if (name.startsWith('.') && path !== WELL_KNOWN)
      yield [path, `is hidden, expected a name without a leading dot, or the folder "${WELL_KNOWN}"`];
    else if (stats.isSymbolicLink()) yield [path, 'is a symbolic link, expected a file'];
    else if (!/^[\w.~-]+$/.test(name))
      yield [path, 'has characters other than A-Z, a-z, 0-9, ".", "_", "~", "-" in its name'];
    else if (stats.isDirectory()) yield* entriesBelow(root, path);
    else if (!stats.isFile()) yield [path, 'is no regular file'];
    else if (path.length > LONGEST_PATH)
      yield [path, `has a path of ${path.length} characters, expected at most ${LONGEST_PATH}`];
    else if (stats.size > MOST_BYTES) yield [path, `has ${stats.size} bytes, expected at most ${MOST_BYTES}`];
    else yield [path, problemOfText(path, join(root, path))];
  }
}

/** What is wrong with a file that is served or read as UTF-8. */
const problemOfText = (path: string, file: string): string | undefined =>
  /charset=utf-8|^image\/svg/.test(routeOf(path).type)
    ? notUtf8(readable(file, (name) => readFileSync(name)))
    : undefined;

/** How files are made that operators may expect to write themselves. */
const ORIGINS: ReadonlyMap<string, string> = new Map([
  ['security-contact', 'made from "contact" of the operator file'],
  ['api-catalog', 'made from "base_url" and "licence" of the operator file'],
]);

/** What a file collides with; undefined if nothing. */
function collisionOf(path: string, others: ReadonlySet<string>, table: readonly Route[]): string | undefined {
  const suffix = SIBLING_SUFFIXES.find((each) => path.endsWith(each));
  const document = suffix && path.slice(0, -suffix.length);
  const taken = table.find(
    (route) =>
      isSameUrl(route.path, `/${path}`) ||
      [path, document].some((name) => name !== undefined && overlaps(route.file, name)),
  );
  if (taken !== undefined) return `${taken.path} (${ORIGINS.get(taken.name) ?? taken.description})`;
  const redirect = redirectsIn(table).find((each) => each.path === `/${path}`);
  if (redirect !== undefined) return `${redirect.path}, which leads to ${redirect.to}`;
  return document !== undefined && others.has(document) ? `the compressed form of "${document}"` : undefined;
}

const segmentPattern = (segment: string): RegExp => new RegExp(`^${templatePattern(segment, () => '.+')}$`);

/** Whether a template may yield a path, or one of the two yields a folder of the other. */
function overlaps(template: string, path: string): boolean {
  const names = path.split('/');
  return template
    .split('/')
    .slice(0, names.length)
    .every((segment, index) => segmentPattern(segment).test(names[index] ?? ''));
}

const isSameUrl = (template: string, path: string): boolean =>
  template.split('/').length === path.split('/').length && overlaps(template, path);

/** The content of a file. @throws Failure environment: it can't be read */
export const contentOf = ({ source }: SiteFile): Buffer =>
  typeof source === 'string' ? readable(source, (path) => readFileSync(path)) : source;

const readable = <T>(path: string, read: (path: string) => T): T => reading(`"${path}"`, () => read(path));
