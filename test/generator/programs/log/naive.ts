/**
 * The signed log by its specifications, with no code of the generator's: RFC 6962, C2SP signed-note,
 * tlog-tiles.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
  type KeyObject,
} from 'node:crypto';
import { readFileSync } from 'node:fs';

const hashOf = (...parts: readonly (string | Uint8Array)[]): Buffer => {
  const sum = createHash('sha256');
  for (const part of parts) sum.update(part);
  return sum.digest();
};
export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

export const leafOf = (content: string | Uint8Array): Buffer => hashOf(Buffer.of(0), content);
export const nodeOf = (left: Uint8Array, right: Uint8Array): Buffer => hashOf(Buffer.of(1), left, right);

/** The largest power of two below a size. */
function splitOf(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

/** RFC 6962, section 2.1, over hashes of leaves. */
function headOver(hashes: readonly Buffer[]): Buffer {
  const [only] = hashes;
  if (only === undefined) return hashOf('');
  if (hashes.length === 1) return only;
  const split = splitOf(hashes.length);
  return nodeOf(headOver(hashes.slice(0, split)), headOver(hashes.slice(split)));
}
export const rootOf = (entries: readonly (string | Uint8Array)[]): Buffer => headOver(entries.map(leafOf));

/** What verifies by a key. */
export interface PublicKey {
  readonly name: string;
  readonly vkey: string;
  readonly id: Buffer;
  readonly publicKey: KeyObject;
}

/** @param vkey NAME+ID+BASE64, of the byte of the type and the key */
export function publicKeyOf(vkey: string): PublicKey {
  const [, name = '', id = '', material = ''] = /^([^+]+)\+(\w{8})\+(.*)$/.exec(vkey) ?? [];
  const x = Buffer.from(material, 'base64').subarray(1).toString('base64url');
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return { name, vkey, id: Buffer.from(id, 'hex'), publicKey };
}

/** An Ed25519 key pair under a name, of a log (type 1) or of cosignatures (type 4). */
export function newKey(name: string, type: 1 | 4, secret = generateKeyPairSync('ed25519').privateKey) {
  const publicKey = createPublicKey(secret);
  const raw = Buffer.from(String(publicKey.export({ format: 'jwk' }).x), 'base64url');
  const material = Buffer.concat([Buffer.of(type), raw]);
  const id = hashOf(`${name}\n`, material).subarray(0, 4);
  const lineOf = (...bytes: readonly Uint8Array[]): string =>
    `\u2014 ${name} ${base64(Buffer.concat([id, ...bytes]))}\n`;
  const signature = (text: string): string => lineOf(sign(null, Buffer.from(text), secret));
  return {
    name,
    vkey: `${name}+${id.toString('hex')}+${base64(material)}`,
    id,
    publicKey,
    /** The line of a signature over a text. */
    signature,
    note: (text: string): string => `${text}\n${signature(text)}`,
  };
}
export type Key = ReturnType<typeof newKey>;

/** The first bytes of an Ed25519 key in PKCS #8; its seed follows. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The key in a file: `PRIVATE+KEY+NAME+ID+BASE64`, of the byte of the type and the seed. */
export function readKey(file: string): Key {
  const [, name = '', encoded = ''] =
    /^PRIVATE\+KEY\+([^+]+)\+[0-9a-f]{8}\+(.*)\n$/.exec(readFileSync(file, 'utf8')) ?? [];
  const seed = Buffer.from(encoded, 'base64').subarray(1);
  return newKey(
    name,
    1,
    createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' }),
  );
}

/** Whether a note's text has the signature of a log's key. */
export function isSignedBy({ name, id, publicKey }: PublicKey, text: string, signatures: string): boolean {
  return signatures.split('\n').some((line) => {
    const [, signer = '', value = ''] = /^\u2014 (\S+) (\S+)$/.exec(line) ?? [];
    const bytes = Buffer.from(value, 'base64');
    if (signer !== name || !bytes.subarray(0, 4).equals(id)) return false;
    return verify(null, Buffer.from(text), publicKey, bytes.subarray(4));
  });
}

/** The path of a tile, or of a bundle of entries. */
export function tilePath(level: number | 'entries', n: number, width: number): string {
  const digits = String(n).padStart(Math.ceil(String(n).length / 3) * 3, '0');
  return `tile/${level}/${digits.replaceAll(/\d{3}(?=\d)/g, 'x$&/')}${width < 256 ? `.p/${width}` : ''}`;
}

const lengthOf = (entry: Uint8Array): Buffer => Buffer.of(entry.length >> 8, entry.length & 255);

/** All tiles and bundles of a log of these entries, by path below the log, and of no other size. */
export function tilesOf(entries: readonly string[]): Map<string, Buffer> {
  const tiles = new Map<string, Buffer>();
  for (let n = 0; n * 256 < entries.length; n += 1) {
    const some = entries.slice(n * 256, (n + 1) * 256).map((entry) => Buffer.from(entry));
    const bundle = Buffer.concat(some.flatMap((entry) => [lengthOf(entry), entry]));
    tiles.set(tilePath('entries', n, some.length), bundle);
  }
  let hashes = entries.map(leafOf);
  for (let level = 0; hashes.length > 0; level += 1) {
    const above: Buffer[] = [];
    for (let n = 0; n * 256 < hashes.length; n += 1) {
      const some = hashes.slice(n * 256, (n + 1) * 256);
      tiles.set(tilePath(level, n, some.length), Buffer.concat(some));
      if (some.length === 256) above.push(headOver(some));
    }
    hashes = above;
  }
  return tiles;
}

/** The entries in a bundle. */
export function entriesIn(bundle: Buffer): string[] {
  const entries: string[] = [];
  for (let at = 0; at < bundle.length;) {
    const end = at + 2 + bundle.readUInt16BE(at);
    entries.push(bundle.subarray(at + 2, end).toString());
    at = end;
  }
  return entries;
}
