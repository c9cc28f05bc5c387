/**
 * What an attacker does to a published, signed tree, and what its clients notice. Attacks use none
 * of the generator's code but its commands: what is forged is computed by the documentation.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { inProcess, indexOf, manifestOf, mirrorOf, sha256 } from '../publish/support.js';
import { OPERATOR } from '../../support/build.js';
import { startProxy } from '../../support/proxy.js';
import { inState, removeTree } from '../../support/tree.js';
import { tilesOf } from './naive.js';
import type { Key } from './naive.js';
import { checkpointIn, entriesOf, logFolder, logOf } from './published.js';
import { checkpointOf, entryOf, filesOfLog, manifestHash } from './signed.js';
import { Site } from './site.js';

/** The record that attacks are about. */
export const RECORD = '/api/v1/group/5';
const RECORD_FILE = 'api/v1/group/5.json';

const object = z.looseObject({});
export const readObject = (file: string) => object.parse(JSON.parse(readFileSync(file, 'utf8')));

/** A publisher, and clients that keep what they have seen. */
export class Scene extends Site {
  constructor(folder: string) {
    super((name) => join(folder, name), folder, OPERATOR);
  }

  file(name: string): string {
    return join(this.folder, name);
  }

  get entries(): string[] {
    return entriesOf(this.log, checkpointIn(join(this.log, 'checkpoint')).size);
  }

  /** The same once more, with all that the clients keep. */
  copyTo(folder: string): Scene {
    cpSync(this.folder, folder, { recursive: true });
    const scene = new Scene(folder);
    for (const tree of ['dist', 'copy']) forgetPlace(scene.file(tree));
    return scene;
  }

  /** Replaces the tree and its state by another one's. */
  serve({ out }: Scene): void {
    removeTree(this.out);
    cpSync(out, this.out, { recursive: true });
    cpSync(inState(out), inState(this.out), { recursive: true });
    forgetPlace(this.out);
  }

  /** Builds with the publisher's key and its KEY.last. */
  build(sql: string): Promise<void> {
    this.change(sql);
    return this.built();
  }

  /** The clients look at the tree, and keep what they keep. */
  async look(): Promise<void> {
    const proxy = await startProxy(this.out, ['--page-tokens', '1000000']);
    try {
      const copied = ['mirror', proxy.base, '--out', this.file('copy'), '--key', this.vkey];
      for (const args of [copied, ['verify', '--out', this.out]]) {
        const { code, stderr } = await inProcess(...args);
        if (code !== 0 || stderr !== '') throw new Error(stderr);
      }
    } finally {
      await proxy.stop();
    }
    cpSync(inState(this.out, 'checkpoint'), this.file('verified'));
  }
}

/** The state says which tree it is of. */
const forgetPlace = (out: string): void => rmSync(inState(out, 'tree'), { force: true });

function put(out: string, name: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(out, name)), { recursive: true });
  writeFileSync(join(out, name), content);
}

/** Writes members of snapshot.json. */
function alter({ out }: Pick<Scene, 'out'>, members: object): void {
  const file = join(out, 'snapshot.json');
  writeFileSync(file, JSON.stringify({ ...readObject(file), ...members }));
}

/** Changes the record's file, to another content of the same size. */
export function edit({ out }: Scene): void {
  const file = join(out, RECORD_FILE);
  writeFileSync(file, readFileSync(file, 'utf8').replace(...EDIT));
}
const EDIT = ['"group 5"', '"group X"'] as const;

const PACKAGE = 'downloads/datapackage.json';
const SUMS = 'downloads/SHA256SUMS';
const packageSchema = z.looseObject({ resources: z.array(z.looseObject({ path: z.string() })) });

/** Changes the record's file and the download from which copies take it. */
export function editAll(scene: Scene): void {
  edit(scene);
  const { out } = scene;
  const name = 'documents/group.ndjson.gz';
  const download = readFileSync(join(out, 'downloads', name));
  const edited = gzipSync(
    gunzipSync(download)
      .toString()
      .replace(...EDIT),
  );
  const described = packageSchema.parse(readObject(join(out, PACKAGE)));
  const content = { bytes: edited.length, hash: `sha256:${sha256(edited)}` };
  const resources = described.resources.map((each) => (each.path === name ? { ...each, ...content } : each));
  const json = JSON.stringify({ ...described, resources });
  const before = readFileSync(join(out, PACKAGE), 'utf8');
  const sums = readFileSync(join(out, SUMS), 'utf8')
    .replace(sha256(download), sha256(edited))
    .replace(sha256(before), sha256(json));
  put(out, `downloads/${name}`, edited);
  for (const [file, text] of [
    [PACKAGE, json],
    [SUMS, sums],
  ] as const) {
    put(out, file, text);
    if (existsSync(join(out, `${file}.gz`))) put(out, `${file}.gz`, gzipSync(text));
    if (existsSync(join(out, `${file}.br`))) put(out, `${file}.br`, brotliCompressSync(text));
  }
}

/**
 * Changes the record everywhere, and makes chunks, lists, routes.txt, the digest, snapshot.json and
 * the state fit, as anybody can who has access to the disk.
 */
export function forge(scene: Scene, sequence = manifestOf(scene.out).sequence): void {
  const { out } = scene;
  const before = mirrorOf(out);
  editAll(scene);
  const documents = mirrorOf(out);
  const { files } = filesOfLog({ ...manifestOf(out), documents });
  for (const [name, content] of files)
    if (name.startsWith('index/')) put(out, `${logFolder(out)}/${name}`, content);
  const routes = String(files.get('index/routes.txt'));
  nameDigest(out, sha256(routes), sequence);
  const changes = [...documents].flatMap(([url, after]): Change[] => {
    const old = before.get(url);
    if (old === undefined || old === after) return [];
    const file = url === RECORD ? RECORD_FILE : url.slice(1);
    return [{ before: old, after, bytes: statSync(join(out, file)).size }];
  });
  forgeState(inState(out, 'index'), changes, routes);
}

interface Change {
  readonly before: string;
  readonly after: string;
  readonly bytes: number;
}

/** The index in the state: 8 bytes of size and 32 of hash for each file, sums of all, and roots. */
function forgeState(folder: string, changes: readonly Change[], routes: string): void {
  const json = readObject(join(folder, 'index.json'));
  const index = object.parse(json['index']);
  const sums = { ...object.parse(index['sums']) };
  for (const route of Object.keys(sums)) {
    const entries = readFileSync(join(folder, route));
    for (const { before, after, bytes } of changes) {
      const at = entries.indexOf(Buffer.from(before, 'hex'));
      if (at < 0) continue;
      entries.writeBigUInt64BE(BigInt(bytes), at - 8);
      entries.set(Buffer.from(after, 'hex'), at);
    }
    writeFileSync(join(folder, route), entries);
    sums[route] = sha256(entries);
  }
  const known = object.parse(index['routes']);
  const roots = Object.fromEntries(
    [...routes.matchAll(/^(\S+) \d+ (\S+)$/gm)].flatMap(([, name = '', root]) =>
      known[name] === undefined ? [] : [[name, { ...object.parse(known[name]), root }]],
    ),
  );
  const forged = { ...index, digest: sha256(routes), sums, routes: { ...known, ...roots } };
  const text = JSON.stringify({ sha256: sha256(JSON.stringify(forged)), index: forged });
  writeFileSync(join(folder, 'index.json'), text);
}

/** Writes a digest into snapshot.json and the index of changes. */
function nameDigest(out: string, digest: string, sequence: number): void {
  const { tree: _, ...index } = indexOf(out);
  const { id } = manifestOf(out).tree;
  const [newest, ...older] = index.changes;
  const none = { file: null, bytes: null, sha256: null, bundle: null };
  const isNext = newest !== undefined && sequence > newest.sequence;
  const change = { ...newest, ...none, from: null, from_digest: null, sequence, digest };
  const changes = isNext ? [change, ...index.changes] : [change, ...older];
  const named = new Set(changes.flatMap(({ file, bundle }) => [file, bundle?.file]));
  for (const name of readdirSync(join(out, 'changes')))
    if (name !== 'index.json' && !named.has(`/changes/${name}`)) rmSync(join(out, 'changes', name));
  const downloads = { sequence, digest };
  const next = { ...index, tree: id, sequence, digest, oldest: sequence, downloads, changes };
  put(out, 'changes/index.json', JSON.stringify(next));
  const before = object.parse(readObject(join(out, 'snapshot.json'))['downloads']);
  alter({ out }, { sequence, digest, downloads: { ...before, ...downloads } });
}

/** Replaces the log, with the tiles of all its sizes. snapshot.json names the key. */
export function sign({ out }: Scene, key: Key, entries: readonly string[]): void {
  const folder = logFolder(out);
  rmSync(join(out, folder, 'tile'), { recursive: true });
  for (let size = 1; size <= entries.length; size += 1)
    for (const [name, tile] of tilesOf(entries.slice(0, size))) put(out, `${folder}/${name}`, tile);
  put(out, `${folder}/checkpoint`, key.note(checkpointOf(key.name, entries)));
  nameKey({ out }, key);
}

/** Names a key in snapshot.json, which entries cover. */
export function nameKey({ out }: Pick<Scene, 'out'>, key: Key): void {
  const { log } = readObject(join(out, 'snapshot.json'));
  alter({ out }, { log: { ...object.parse(log), keys: [key.vkey] } });
}

/** The entry of the newest snapshot, as the tree has it now. */
export function entryNow({ out }: Scene): string {
  const { tree, sequence, as_of: asOf, digest } = manifestOf(out);
  const routes = readFileSync(join(logOf(out), 'index/routes.txt'), 'utf8');
  const documents = [...routes.matchAll(/^\S+ (\d+) /gm)].reduce((sum, [, count]) => sum + Number(count), 0);
  const hash = manifestHash(readFileSync(join(out, 'snapshot.json'), 'utf8'));
  return entryOf(tree.id, sequence, asOf, documents, digest, hash);
}

/** What a client had kept when it noticed an attack; `warned` if it took the tree all the same. */
export type When = 'at once' | 'kept key' | 'kept checkpoint' | 'warned' | 'no';
/** And what it says. */
export type Noticed = readonly [when: When, why: string];
export type Client = 'verify' | 'new copy' | 'copy' | 'prove' | 'next build';

/** What a client kept, and the reason why it refuses. */
type Attempt = readonly [When, string | undefined];
/** The first that has a reason. Those that keep more notice no less. */
function first(...attempts: readonly Attempt[]): Noticed {
  const at = attempts.findIndex(([, why]) => why !== undefined);
  if (attempts.slice(at + 1).some(([, why]) => at >= 0 && why === undefined))
    throw new Error('a client that keeps more notices less');
  const [when, why = ''] = attempts[at] ?? ['no'];
  return [why.startsWith('warning: ') ? 'warned' : when, why];
}

/** The reason of a command that fails, or its warning. */
const reasonOf = async (...args: string[]): Promise<string | undefined> => reasonIn(await inProcess(...args));

function reasonIn({ code, stdout, stderr }: Awaited<ReturnType<typeof inProcess>>): string | undefined {
  if (code === 1) return stderr + stdout;
  if (code === 0) return stderr === '' ? undefined : stderr;
  throw new Error(stderr);
}

/** What each client notices of the tree as it is now. */
export async function noticedBy(scene: Scene): Promise<Readonly<Record<Client, Noticed>>> {
  const { out, vkey } = scene;
  const proxy = await startProxy(out, ['--page-tokens', '1000000']);
  const mirror = (to: string, ...options: string[]) =>
    reasonOf('mirror', proxy.base, '--out', scene.file(to), ...options);
  const proof = scene.file('new.tlog-proof');

  try {
    const [copied, copiedByKey, followed, proven] = await Promise.all([
      mirror('new'),
      mirror('new-by-key', '--key', vkey),
      mirror('copy'),
      reasonOf('prove', proxy.base, RECORD, '--write', proof, '--quiet'),
    ]);
    const verified = proven ?? (await reasonOf('verify-proof', proof, '--key', vkey));
    rmSync(inState(out, 'checkpoint'), { force: true });
    const unknowing = await reasonOf('verify', '--out', out);
    cpSync(scene.file('verified'), inState(out, 'checkpoint'));
    const knowing = await reasonOf('verify', '--out', out);
    return {
      verify: first(['at once', unknowing], ['kept checkpoint', knowing]),
      'new copy': first(['at once', copied], ['kept key', copiedByKey]),
      copy: first(['kept checkpoint', followed]),
      prove: first(['at once', proven], ['kept key', verified]),
      'next build': first(['kept checkpoint', reasonIn(await scene.run('build', '--key', scene.key))]),
    };
  } finally {
    await proxy.stop();
  }
}

/** Alters what snapshot.json says of limits, and no document. */
export function alterLimits(scene: Scene): void {
  const limit = { tokens: 1_000_000, refill_seconds: 0.001 };
  alter(scene, { limits: { api: limit, download: limit, page: limit } });
}
