/**
 * Signs a published tree and verifies proofs, as the specifications say it and with no code of the
 * generator's: RFC 6962, C2SP signed-note, tlog-checkpoint, tlog-tiles, tlog-proof.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
} from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { OUTSIDE, endsChunk, keyIn, manifestOf, mirrorOf, sha256, treeHead } from '../publish/support.js';

export const ORIGIN = 'register.example/log';

const hashOf = (...parts: readonly Uint8Array[]): Buffer =>
  createHash('sha256').update(Buffer.concat(parts)).digest();
const leafOf = (content: string): Buffer => hashOf(Buffer.of(0), Buffer.from(content));
const nodeOf = (left: Uint8Array, right: Uint8Array): Buffer => hashOf(Buffer.of(1), left, right);
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** The public half of an Ed25519 key under a name. */
export class NaiveVerifier {
  readonly name: string;
  readonly #public: KeyObject;
  /** The byte of the type, then the key. */
  protected readonly bytes: Buffer;
  protected readonly id: Buffer;

  constructor(name: string, key: KeyObject) {
    const x = key.export({ format: 'jwk' }).x ?? '';
    this.name = name;
    this.#public = key;
    this.bytes = Buffer.concat([Buffer.of(1), Buffer.from(x, 'base64url')]);
    this.id = hashOf(Buffer.from(`${name}\n`), this.bytes).subarray(0, 4);
  }

  /** @param vkey NAME+ID+BASE64 */
  static of(vkey: string): NaiveVerifier {
    const [, name = '', encoded = ''] = /^([^+]+)\+[0-9a-f]{8}\+(.*)$/.exec(vkey) ?? [];
    const x = Buffer.from(encoded, 'base64').subarray(1).toString('base64url');
    return new NaiveVerifier(
      name,
      createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }),
    );
  }

  get vkey(): string {
    return `${this.name}+${this.id.toString('hex')}+${base64(this.bytes)}`;
  }

  /** The text of a note with one signature. @throws if it is not of this key */
  open(note: string): string {
    const [text = '', line = ''] = note.split('\n\n');
    const [, name, encoded = ''] = /^— (\S+) (\S+)\n$/.exec(line) ?? [];
    const bytes = Buffer.from(encoded, 'base64');
    const isSigned = verify(null, Buffer.from(`${text}\n`), this.#public, bytes.subarray(4));
    if (name !== this.name || !bytes.subarray(0, 4).equals(this.id) || !isSigned)
      throw new Error('the signature is wrong');
    return `${text}\n`;
  }
}

/** The first bytes of an Ed25519 key in PKCS #8; its seed follows. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** A key that is made for the test. */
export class NaiveKey extends NaiveVerifier {
  readonly #secret: KeyObject;

  constructor(name = ORIGIN, secret = generateKeyPairSync('ed25519').privateKey) {
    super(name, createPublicKey(secret));
    this.#secret = secret;
  }

  /** The key in a file: `PRIVATE+KEY+NAME+ID+BASE64`, of a byte for the type and the seed. */
  static read(file: string): NaiveKey {
    const [, name, encoded = ''] =
      /^PRIVATE\+KEY\+([^+]+)\+[0-9a-f]{8}\+(.*)\n$/.exec(readFileSync(file, 'utf8')) ?? [];
    const seed = Buffer.from(encoded, 'base64').subarray(1);
    const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
    return new NaiveKey(name, key);
  }

  /** A signed note. */
  note(text: string): string {
    const signature = sign(null, Buffer.from(text), this.#secret);
    return `${text}\n— ${this.name} ${base64(Buffer.concat([this.id, signature]))}\n`;
  }
}

/** Texts of files below the folder of the log, by their names. */
type Files = Record<string, string | Buffer>;

interface Signing {
  readonly key: NaiveKey;
  /** The texts of earlier entries. */
  readonly before?: readonly string[];
  /** The hash of snapshot.json; without it, the entry is of the first version. */
  readonly manifest?: string;
}

/** The text of an entry: of the first version, unless there is a hash of snapshot.json. */
export const entryOf = (
  tree: string,
  sequence: number,
  asOf: string,
  documents: number,
  digest: string,
  manifest?: string,
) =>
  `register-api/snapshot@v${manifest === undefined ? 1 : 2}\ntree ${tree}\nsequence ${sequence}\nas_of ${asOf}\n` +
  `documents ${documents}\ndigest ${digest}\n${manifest === undefined ? '' : `manifest ${manifest}\n`}`;

/** Adds the log of a tree's snapshot to the tree. @returns the entries so far */
export function signTree(out: string, signing: Signing): readonly string[] {
  const manifest = manifestOf(out);
  const folder = `log/${manifest.tree.id}`;
  rmSync(join(out, folder), { recursive: true, force: true });
  const { entries, files } = logOf({ ...manifest, documents: mirrorOf(out) }, signing);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(out, folder, name)), { recursive: true });
    writeFileSync(join(out, folder, name), content);
  }
  const path = join(out, 'snapshot.json');
  const json = z.looseObject({}).parse(JSON.parse(readFileSync(path, 'utf8')));
  const log = { path: `/${folder}`, origin: signing.key.name, keys: [signing.key.vkey] };
  writeFileSync(path, JSON.stringify({ ...json, log }));
  return entries;
}

type Manifest = Pick<ReturnType<typeof manifestOf>, 'tree' | 'sequence' | 'as_of' | 'routes'>;

/** All files of the log whose newest entry is a snapshot. */
export function logOf(
  { documents: mirror, ...manifest }: Manifest & { readonly documents: ReadonlyMap<string, string> },
  { key, before = [], manifest: hashOfManifest }: Signing,
): { readonly entries: readonly string[]; readonly files: Files } {
  const files: Files = {};
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
    routes += `${route.name} ${listed.length} ${base64(treeHead(chunks.map(({ text }) => text)))}\n`;
    if (route.parameters !== undefined) {
      const query = route.path.includes('{') ? route.path : `${route.path}?limit={limit}`;
      const [start = '', end = ''] = query.split(/\{\w+\}/);
      const named = chunks.map(({ url, text }) => ({
        first: url.slice(start.length, url.length - end.length),
        text,
      }));
      for (const { first, text } of named) files[`index/${route.name}/${first}.txt`] = text;
      let pages = '';
      for (let page = 0; page * 256 < named.length; page += 1) {
        const some = named.slice(page * 256, (page + 1) * 256);
        files[`index/${route.name}/chunks-${page}.txt`] = some
          .map(({ first, text }) => `${first} ${base64(leafOf(text))}\n`)
          .join('');
        pages += `${some[0]?.first} ${some.length} ${base64(treeHead(some.map(({ text }) => text)))}\n`;
      }
      files[`index/${route.name}/chunks.txt`] = pages;
    }
  }
  files['index/routes.txt'] = routes;
  const entries = [
    ...before,
    entryOf(
      manifest.tree.id,
      manifest.sequence,
      manifest.as_of ?? 'none',
      documents,
      sha256(routes),
      hashOfManifest,
    ),
  ];
  Object.assign(files, tilesOf(entries));
  files['checkpoint'] = key.note(`${key.name}\n${entries.length}\n${base64(treeHead(entries))}\n`);
  return { entries, files };
}

/** The path of a tile or bundle. */
const tileName = (level: string, n: number, width: number): string => {
  const digits = String(n).padStart(Math.ceil(String(n).length / 3) * 3, '0');
  const groups = digits.match(/\d{3}/g) ?? [];
  const path = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/');
  return `tile/${level}/${path}${width < 256 ? `.p/${width}` : ''}`;
};

/** All tiles of a log of this size, and of no other. */
function tilesOf(entries: readonly string[]): Files {
  const files: Files = {};
  for (let n = 0; n * 256 < entries.length; n += 1) {
    const some = entries.slice(n * 256, (n + 1) * 256).map((entry) => Buffer.from(entry));
    files[tileName('entries', n, some.length)] = Buffer.concat(
      some.flatMap((entry) => [Buffer.of(entry.length >> 8, entry.length & 255), entry]),
    );
  }
  let hashes = entries.map(leafOf);
  for (let level = 0; hashes.length > 0; level += 1) {
    const above: Buffer[] = [];
    for (let n = 0; n * 256 < hashes.length; n += 1) {
      const some = hashes.slice(n * 256, (n + 1) * 256);
      files[tileName(String(level), n, some.length)] = Buffer.concat(some);
      if (some.length === 256) above.push(headOver(some));
    }
    hashes = above;
  }
  return files;
}

/** RFC 6962, section 2.1, over hashes of leaves. */
function headOver(hashes: readonly Buffer[]): Buffer {
  const [only] = hashes;
  if (only !== undefined && hashes.length === 1) return only;
  let half = 1;
  while (half * 2 < hashes.length) half *= 2;
  return nodeOf(headOver(hashes.slice(0, half)), headOver(hashes.slice(half)));
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
export function naivelyVerified(proof: string, key: NaiveVerifier) {
  const end = proof.indexOf('\n\n');
  const [magic, extraLine = '', indexLine = '', ...hashes] = proof.slice(0, end).split('\n');
  if (magic !== 'c2sp.org/tlog-proof@v1') throw new Error('no proof');
  const extra = extraSchema.parse(JSON.parse(bytes(extraLine.replace(/^extra /, '')).toString()));
  const index = Number(indexLine.replace(/^index /, ''));
  const [origin, size, root = ''] = key.open(proof.slice(end + 2)).split('\n');
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
