/** What a tree publishes, read back by its documentation, with no code of the generator's. */
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import * as z from 'zod';
import { isOfTheBuild, isOfTheMonth, isSibling, pathsBelow } from './tree.js';

/** Path -> SHA-256 of all published files, the compressed siblings too. */
export const hashesOf = (out: string): Record<string, string> =>
  Object.fromEntries(
    pathsBelow(out, (entry) => entry.isFile()).map((file) => [file, sha256(readFileSync(join(out, file)))]),
  );

/** Path -> SHA-256 of all documents, which the digest covers, and their compressed siblings. */
const digestedOf = (out: string): Record<string, string> =>
  Object.fromEntries(Object.entries(hashesOf(out)).filter(([file]) => !isOfTheBuild(file)));

/** Path -> SHA-256 of everything that follows from the register, and not from the time of the build. */
export const contentOf = (out: string): Record<string, string> =>
  Object.fromEntries(Object.entries(digestedOf(out)).filter(([file]) => !isOfTheMonth(file)));

/** All that is published with inodes and times: the same only if nobody touched anything. */
export const stateOf = (out: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(hashesOf(out)).map(([file, hash]) => {
      const { ino, mtimeNs } = statSync(join(out, file), { bigint: true });
      return [file, `${ino} ${mtimeNs} ${hash}`];
    }),
  );

const count = z.strictObject({ added: z.int(), changed: z.int(), removed: z.int() });
const indexSchema = z.strictObject({
  tree: z.string().regex(/^[0-9a-f]{16}$/),
  sequence: z.int(),
  digest: z.string(),
  oldest: z.int(),
  downloads: z.strictObject({ sequence: z.int(), digest: z.string() }).optional(),
  changes: z.array(
    z.strictObject({
      sequence: z.int(),
      from: z.int().nullable(),
      from_digest: z.string().nullable(),
      digest: z.string(),
      as_of: z.string().nullable(),
      built_at: z.string(),
      counts: z.strictObject({ groups: count, users: count, games: count, items: count }),
      bundle: z.strictObject({ file: z.string(), bytes: z.int(), sha256: z.string() }).nullable(),
    }),
  ),
});

const digests = { from_digest: z.string(), to_digest: z.string() };
const step = { tree: z.string(), from: z.int(), to: z.int(), ...digests };
const document = { path: z.string(), file: z.string(), sha256: z.string(), bytes: z.int() };

const bundleSchema = z.tuple(
  [z.strictObject(step)],
  z.union([
    z.strictObject({ ...document, body: z.string().optional(), same_as: z.string().optional() }),
    z.strictObject({ path: z.string(), file: z.string(), deleted: z.literal(true) }),
  ]),
);

const snapshotSchema = z.looseObject({
  sequence: z.int(),
  as_of: z.string().nullable(),
  built_at: z.string(),
  digest: z.string(),
  tree: z.looseObject({ id: z.string() }),
  downloads: z
    .looseObject({ files: z.array(z.strictObject({ file: z.string(), bytes: z.int(), sha256: z.string() })) })
    .default({ files: [] }),
  service: z.looseObject({ base_url: z.string() }).default({ base_url: '' }),
  counts: z.unknown(),
  routes: z.array(
    z.looseObject({
      name: z.string(),
      path: z.string(),
      file: z.string(),
      parameters: z.array(z.looseObject({ name: z.string(), in: z.enum(['path', 'query']) })).optional(),
      requires: z.string().optional(),
      aliases: z.string().optional(),
    }),
  ),
});

const read = (out: string, file: string): unknown => JSON.parse(readFileSync(join(out, file), 'utf8'));
export const indexOf = (out: string) => indexSchema.parse(read(out, 'changes/index.json'));
/** The lines of a bundle: the first is about itself. */
export const bundleOf = (out: string, sequence: number) =>
  bundleSchema.parse(
    gunzipSync(readFileSync(join(out, `changes/${sequence}.ndjson.gz`)))
      .toString()
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line)),
  );
/** What a bundle puts, and the paths that it deletes. */
export function changedBy(out: string, sequence: number) {
  const [, ...lines] = bundleOf(out, sequence);
  return {
    put: lines.flatMap((line) => ('deleted' in line ? [] : [line])),
    delete: lines.flatMap((line) => ('deleted' in line ? [line.path] : [])),
  };
}
export const snapshotOf = (out: string) => snapshotSchema.parse(read(out, 'snapshot.json'));

/** The URL path of a file of a tree, by the route table that the tree publishes; undefined if nothing leads to it. */
export function urlsOf(out: string): (file: string) => string | undefined {
  const patterns = snapshotOf(out)
    .routes.toSorted((a, b) => (a.parameters?.length ?? 0) - (b.parameters?.length ?? 0))
    .map(({ path, file, parameters: [parameter] = [] }) => {
      const escaped = file.replaceAll(/[.*+?^$()[\]\\|]/g, String.raw`\$&`);
      const pattern = escaped.replaceAll(/\{\w+\}/g, '(?<value>[^/]+)');
      const query = parameter?.in === 'query' ? `?${parameter.name}={${parameter.name}}` : '';
      return { pattern: new RegExp(`^${pattern}$`), url: path + query };
    });
  return (file) => {
    for (const { pattern, url } of patterns) {
      const match = pattern.exec(file);
      if (match !== null) return url.replace(/\{\w+\}/, match.groups?.['value'] ?? '');
    }
    return undefined;
  };
}

export const documentsOf = (content: Readonly<Record<string, string>>): string[] =>
  Object.keys(content).filter((file) => !isSibling(file));

/** URL -> file, of everything published; the list of the largest has two URLs at its default. */
export function filesByUrl(out: string): [url: string, file: string][] {
  const urlOf = urlsOf(out);
  const urls = documentsOf(hashesOf(out)).map((file): [string, string] => [urlOf(file) ?? '', `/${file}`]);
  const pages = urls.flatMap(([url]): [string, string][] => {
    const [, kind, id] = /^\/api\/v1\/(group|user|game|item)\/(\d+)$/.exec(url) ?? [];
    return kind === undefined ? [] : [[`/${kind}/${id}`, `/${kind}.html`]];
  });
  return [...urls, ...pages, ['/api/v1/largest', '/api/v1/largest/100.json']];
}

/** URL path -> SHA-256 of all that bundles speak of. */
export function mirrorOf(out: string): Map<string, string> {
  const urlOf = urlsOf(out);
  const content = digestedOf(out);
  return new Map(
    documentsOf(content).map((file) => {
      const url = urlOf(file);
      if (url === undefined) throw new Error(`no route leads to "${file}"`);
      return [url, content[file] ?? ''];
    }),
  );
}

export const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

/** Routes of which the digest says nothing. */
const OUTSIDE = /^(snapshot|changes|change-bundle|feed-snapshots(-json)?|former-.*)$/;

type DigestRoute = ReturnType<typeof snapshotOf>['routes'][number];

/** The list of documents of a copy, as its documentation says, with no code of the generator's. */
function listOf(copy: ReadonlyMap<string, string>, routes: readonly DigestRoute[]): string {
  const lines = routes
    .filter(
      ({ name, path, requires, aliases }) =>
        !OUTSIDE.test(name) &&
        requires === undefined &&
        aliases === undefined &&
        !/^\/downloads(\/|$)/.test(path),
    )
    .flatMap((route) => {
      const lineOf = (url: string, hash: string, of = route): string =>
        `${hash}  ${of.file.replace(/\{\w+\}/, valueIn(url, of) ?? '')}\n`;
      // No two records have the same bytes.
      const further = new Map(
        routes
          .filter(({ aliases }) => aliases === route.name)
          .flatMap((of) =>
            [...copy].flatMap(([url, hash]) =>
              valueIn(url, of) === undefined ? [] : [[hash, lineOf(url, hash, of)] as const],
            ),
          ),
      );
      return [...copy]
        .flatMap(([url, hash]) => {
          const key = keyIn(url, route);
          return key === undefined ? [] : [{ key, line: lineOf(url, hash) + (further.get(hash) ?? '') }];
        })
        .toSorted((a, b) => (a.key < b.key ? -1 : 1))
        .map(({ line }) => line);
    });
  return lines.join('');
}

export const digestOf = (copy: ReadonlyMap<string, string>, routes: readonly DigestRoute[]): string =>
  sha256(listOf(copy, routes));

/** The text of a parameter in a URL of a route: empty where it has none; undefined if it is no URL of the route. */
function valueIn(url: string, { path, parameters: [parameter] = [] }: DigestRoute): string | undefined {
  const query = parameter?.in === 'query' ? `?${parameter.name}={${parameter.name}}` : '';
  const [before = '', after] = (path + query).split(/\{\w+\}/);
  if (after === undefined) return url === before ? '' : undefined;
  if (!url.startsWith(before) || !url.endsWith(after)) return undefined;
  return url.slice(before.length, url.length - after.length);
}

/** The number in a URL of a route: 0 where it has none; undefined if it is no URL of the route. */
function keyIn(url: string, route: DigestRoute): bigint | undefined {
  const value = valueIn(url, route);
  if (value === undefined || value === '') return value === '' ? 0n : undefined;
  if (route.parameters?.[0]?.name === 'prefix')
    return /^[0-9a-f]+$/.test(value) ? BigInt(`0x1${value}`) : undefined;
  return /^\d+$/.test(value) ? BigInt(value) : undefined;
}
