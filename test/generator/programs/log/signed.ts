/**
 * Signs a published tree and verifies proofs, as the specifications and docs/log.md say it and with
 * no code of the generator's.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { OUTSIDE, endsChunk, keyIn, manifestOf, mirrorOf, sha256 } from '../../publish/support.js';
import { base64, isSignedBy, leafOf, nodeOf, rootOf, tilesOf, type Key, type PublicKey } from './naive.js';

export const ORIGIN = 'register.example/log';

/** The text of an entry. */
export const entryOf = (
  tree: string,
  sequence: number,
  asOf: string | null,
  documents: number,
  digest: string,
  manifest: string,
): string =>
  `register-api/snapshot@v2\ntree ${tree}\nsequence ${sequence}\nas_of ${asOf ?? 'none'}\n` +
  `documents ${documents}\ndigest ${digest}\nmanifest ${manifest}\n`;

/** The text of a checkpoint. */
export const checkpointOf = (origin: string, entries: readonly string[]): string =>
  `${origin}\n${entries.length}\n${base64(rootOf(entries))}\n`;

/** The hash of a snapshot.json without its time, as entries have it. */
export const manifestHash = (json: string): string =>
  sha256(json.replace(/"built_at":"[^"]*"/, '"built_at":""'));

/** Adds the log of a tree's snapshot to the tree. @returns the entries so far */
export function signTree(out: string, key: Key, before: readonly string[] = []): readonly string[] {
  const manifest = manifestOf(out);
  const folder = `log/${manifest.tree.id}`;
  rmSync(join(out, folder), { recursive: true, force: true });
  const { entries, files } = filesOfLog({ ...manifest, documents: mirrorOf(out) }, before);
  files.set('checkpoint', key.note(checkpointOf(key.name, entries)));
  for (const [name, content] of files) {
    mkdirSync(dirname(join(out, folder, name)), { recursive: true });
    writeFileSync(join(out, folder, name), content);
  }
  const path = join(out, 'snapshot.json');
  const json = z.looseObject({}).parse(JSON.parse(readFileSync(path, 'utf8')));
  const log = { path: `/${folder}`, origin: key.name, keys: [key.vkey] };
  writeFileSync(path, JSON.stringify({ ...json, log }));
  return entries;
}

type Manifest = Pick<ReturnType<typeof manifestOf>, 'tree' | 'sequence' | 'as_of' | 'routes'>;

/**
 * The log whose newest entry is a snapshot, and all its files but the checkpoint.
 * @param before the texts of earlier entries
 * @param hash of snapshot.json
 */
export function filesOfLog(
  { documents: mirror, ...manifest }: Manifest & { readonly documents: ReadonlyMap<string, string> },
  before: readonly string[] = [],
  hash = '0'.repeat(64),
): { readonly entries: readonly string[]; readonly files: Map<string, string | Buffer> } {
  const files = new Map<string, string | Buffer>();
  let [routes, documents] = ['', 0];
  for (const route of manifest.routes) {
    if (OUTSIDE.has(route.name) || route.name.startsWith('former-') || route.requires !== undefined) continue;
    const listed = [...mirror].flatMap(([url, hash]) => {
      const number = keyIn(url, route);
      return number === undefined ? [] : [{ number, url, line: `${hash}  ${url}\n` }];
    });
    const chunks: { url: string; text: string }[] = [];
    for (const { number, url, line } of listed.toSorted((a, b) => Number(a.number - b.number))) {
      const last = chunks.at(-1);
      if (last === undefined || endsChunk(number)) chunks.push({ url, text: line });
      else last.text += line;
    }
    documents += listed.length;
    routes += `${route.name} ${listed.length} ${base64(rootOf(chunks.map(({ text }) => text)))}\n`;
    if (route.parameters === undefined) continue;
    const query = route.path.includes('{') ? route.path : `${route.path}?limit={limit}`;
    const [start = '', end = ''] = query.split(/\{\w+\}/);
    const write = (name: string, text: string) => files.set(`index/${route.name}/${name}.txt`, text);
    const firstOf = ({ url = '' } = {}): string => url.slice(start.length, url.length - end.length);
    let pages = '';
    for (let page = 0; page * 256 < chunks.length; page += 1) {
      const some = chunks.slice(page * 256, (page + 1) * 256);
      for (const chunk of some) write(firstOf(chunk), chunk.text);
      const lines = some.map((chunk) => `${firstOf(chunk)} ${base64(leafOf(chunk.text))}\n`);
      write(`chunks-${page}`, lines.join(''));
      pages += `${firstOf(some[0])} ${some.length} ${base64(rootOf(some.map(({ text }) => text)))}\n`;
    }
    write('chunks', pages);
  }
  files.set('index/routes.txt', routes);
  const { tree, sequence, as_of: asOf } = manifest;
  const entries = [...before, entryOf(tree.id, sequence, asOf, documents, sha256(routes), hash)];
  for (const [name, tile] of tilesOf(entries)) files.set(name, tile);
  return { entries, files };
}

/** RFC 9162, section 2.1.3.2. */
function rootBy(leaf: Buffer, index: number, size: number, path: readonly Buffer[]): Buffer {
  let [first, last, root] = [index, size - 1, leaf];
  for (const hash of path) {
    if (last === 0) throw new Error('the path is too long');
    if (first % 2 === 1 || first === last) {
      root = nodeOf(hash, root);
      while (first % 2 === 0 && first !== 0) [first, last] = [Math.floor(first / 2), Math.floor(last / 2)];
    } else root = nodeOf(root, hash);
    [first, last] = [Math.floor(first / 2), Math.floor(last / 2)];
  }
  if (last !== 0) throw new Error('the path is too short');
  return root;
}

const extraSchema = z.strictObject({
  type: z.literal('register-api/document@v1'),
  path: z.string(),
  body: z.string().nullable(),
  chunk: z.string(),
  leaf: z.int(),
  leaves: z.int(),
  hashes: z.array(z.string()),
  route: z.string(),
  routes: z.string(),
  entry: z.string(),
});

const bytes = (text: string): Buffer => Buffer.from(text, 'base64');

/** @throws if a hash is not the expected one, in base64 */
const same = (one: Buffer, other: string, what: string): void => {
  if (base64(one) !== other) throw new Error(`another ${what}`);
};

/** What a proof says. @throws if it proves nothing */
export function naivelyVerified(proof: string, key: PublicKey) {
  const end = proof.indexOf('\n\n');
  const [magic, extraLine = '', indexLine = '', ...hashes] = proof.slice(0, end).split('\n');
  if (magic !== 'c2sp.org/tlog-proof@v1') throw new Error('no proof');
  const extra = extraSchema.parse(JSON.parse(bytes(extraLine.replace(/^extra /, '')).toString()));
  const index = Number(indexLine.replace(/^index /, ''));
  const [text = '', signatures = ''] = proof.slice(end + 2).split('\n\n');
  if (!isSignedBy(key, `${text}\n`, signatures)) throw new Error('the signature is wrong');
  const [origin, size, root = ''] = text.split('\n');
  if (origin !== key.name) throw new Error('another log');
  same(rootBy(leafOf(extra.entry), index, Number(size), hashes.map(bytes)), root, 'root');
  const [, tree, sequence, , documents, digest] = extra.entry.split('\n').map((line) => line.split(' ')[1]);
  if (digest !== sha256(extra.routes)) throw new Error('other routes');
  const route = extra.routes.split('\n').find((line) => line.startsWith(`${extra.route} `));
  const head = rootBy(leafOf(extra.chunk), extra.leaf, extra.leaves, extra.hashes.map(bytes));
  same(head, route?.split(' ')[2] ?? '', 'head of the route');
  const line = extra.chunk.split('\n').find((each) => each.endsWith(`  ${extra.path}`)) ?? '';
  const hash = line.slice(0, 64);
  if (extra.body !== null && sha256(extra.body) !== hash) throw new Error('another body');
  return {
    path: extra.path,
    body: extra.body,
    sha256: hash,
    leaf: extra.leaf,
    leaves: extra.leaves,
    index,
    size: Number(size),
    tree,
    sequence: Number(sequence),
    documents: Number(documents),
  };
}
