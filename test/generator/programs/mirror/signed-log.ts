/**
 * The signed log of a made-up origin, after C2SP tlog-tiles and docs/log.md, by definitions and not
 * by the code of the generator, but for its routes.
 */
import { newKey, tilesOf, type Key } from '../log/naive.js';
import { LOG_ROUTES } from '../../../../generator/routes/routes.js';
import { checkpointOf, entryOf, manifestHash } from '../log/signed.js';
import type { MadeUpOrigin } from './made-up.js';

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
    return this.entry(undefined, manifestHash(String(this.origin.files.get('/snapshot.json'))));
  }

  /** The entry of the origin's newest snapshot. @param hash of its snapshot.json */
  entry(
    { sequence, digest } = this.origin.history.at(-1) ?? { sequence: 0, digest: '' },
    hash = '0'.repeat(64),
  ): string {
    const documents = Object.keys(this.origin.history.at(-1)?.all ?? {}).length;
    return entryOf(this.origin.tree, sequence, null, documents, digest, hash);
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
    return checkpointOf(this.keys[0]?.name ?? '', this.entries);
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
