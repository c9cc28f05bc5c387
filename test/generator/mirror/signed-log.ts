/**
 * The signed log of a made-up origin, after C2SP tlog-tiles and docs/log.md, by definitions and not
 * by the code of the generator.
 */
import { newKey, rootOf } from '../log/witness-server.js';
import type { Key } from '../log/witness-server.js';
import { sha256 } from '../publish/support.js';
import type { MadeUpOrigin } from './made-up.js';

const parameter = (name: 'tree' | 'path') => ({ name, in: 'path', type: name, description: '' });
const route = (name: string, path: string, cacheClass: string, names: readonly ('tree' | 'path')[]) => ({
  name,
  path,
  file: path.slice(1),
  class: cacheClass,
  bucket: 'page',
  type: cacheClass === 'tile' ? 'application/octet-stream' : 'text/plain; charset=utf-8',
  parameters: names.map(parameter),
});
export const LOG_ROUTES = [
  route('log-checkpoint', '/log/{tree}/checkpoint', 'checkpoint', ['tree']),
  route('log-tile', '/log/{tree}/tile/{path}', 'tile', ['tree', 'path']),
  route('log-index', '/log/{tree}/index/{path}', 'checkpoint', ['tree', 'path']),
];

/** `tile/0/000.p/7`, for numbers below 1000. */
const tilePath = (level: number | string, n: number, width: number): string =>
  `tile/${level}/${`00${n}`.slice(-3)}${width === 256 ? '' : `.p/${width}`}`;

const lengthOf = (entry: string): Buffer => Buffer.from([entry.length >> 8, entry.length & 0xff]);

/** All tiles of so many entries, and the bundles, by path below the log. */
export function tilesOf(entries: readonly string[]): Map<string, Buffer> {
  const tiles = new Map<string, Buffer>();
  for (let [level, width] = [0, 1]; width <= entries.length; [level, width] = [level + 1, width * 256]) {
    const hashes = Array.from({ length: Math.floor(entries.length / width) }, (_, at) =>
      rootOf(entries.slice(at * width, (at + 1) * width)),
    );
    for (let at = 0; at < hashes.length; at += 256) {
      const part = hashes.slice(at, at + 256);
      tiles.set(tilePath(level, at / 256, part.length), Buffer.concat(part));
    }
  }
  for (let at = 0; at < entries.length; at += 256) {
    const part = entries.slice(at, at + 256);
    const bundle = part.flatMap((entry) => [lengthOf(entry), Buffer.from(entry)]);
    tiles.set(tilePath('entries', at / 256, part.length), Buffer.concat(bundle));
  }
  return tiles;
}

export class SignedLog {
  readonly origin: MadeUpOrigin;
  keys: readonly Key[];
  entries: string[] = [];

  constructor(origin: MadeUpOrigin, keys: readonly Key[] = [newKey('register.example', 1)]) {
    this.origin = origin;
    this.keys = keys;
    origin.routes = [...origin.routes, ...LOG_ROUTES];
    this.name(keys);
  }

  get folder(): string {
    return `/log/${this.origin.tree}`;
  }

  /** Names keys in snapshot.json from its next announcement on. */
  name(keys: readonly Key[]): void {
    const log = { path: this.folder, origin: keys[0]?.name, keys: keys.map(({ vkey }) => vkey) };
    this.origin.members = { ...this.origin.members, log };
  }

  /** The entry of the origin's newest snapshot, and with its snapshot.json. */
  entryOfAll(): string {
    const text = String(this.origin.files.get('/snapshot.json'));
    const hash = sha256(Buffer.from(text.replace(/"built_at":"[^"]*"/, '"built_at":""')));
    return `${this.entry().replace('@v1', '@v2')}manifest ${hash}\n`;
  }

  /** The entry of the origin's newest snapshot, of the first version. */
  entry({ sequence, digest } = this.origin.history.at(-1) ?? { sequence: 0, digest: '' }): string {
    const documents = Object.keys(this.origin.history.at(-1)?.all ?? {}).length;
    return (
      `register-api/snapshot@v1\ntree ${this.origin.tree}\nsequence ${sequence}\nas_of none\n` +
      `documents ${documents}\ndigest ${digest}\n`
    );
  }

  /** Adds entries of earlier snapshots of which nothing else is known. */
  fill(count: number): void {
    for (let number = 1; number <= count; number += 1)
      this.entries.push(this.entry({ sequence: 1, digest: String(number).padStart(64, '0') }));
  }

  /** Lists the newest snapshot, and publishes the log. */
  sign(entry = this.entryOfAll()): void {
    this.entries.push(entry);
    this.publish();
  }

  get body(): string {
    return `${this.keys[0]?.name ?? ''}\n${this.entries.length}\n${rootOf(this.entries).toString('base64')}\n`;
  }

  get note(): string {
    return `${this.body}\n${this.keys.map((key) => key.signature(this.body)).join('')}`;
  }

  /** Publishes the checkpoint, bundles and tiles of the entries. */
  publish(): void {
    const { files } = this.origin;
    for (const path of files.keys()) if (path.startsWith('/log/')) files.delete(path);
    files.set(`${this.folder}/checkpoint`, Buffer.from(this.note));
    for (const [path, tile] of tilesOf(this.entries)) files.set(`${this.folder}/${path}`, tile);
  }
}
