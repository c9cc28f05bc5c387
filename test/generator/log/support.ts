/** What tests of the log share. Hashes are computed here as RFC 6962 writes them, and nowhere else. */
import { createHash, createPrivateKey, hash, sign } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Failure } from '../../../generator/errors.js';
import { append } from '../../../generator/log/log-files.js';
import type { Appended } from '../../../generator/log/log-files.js';
import { generateSigner, parseSigner } from '../../../generator/keys.js';
import { base64Of } from '../../../generator/log/chunk-text.js';

const sha256 = (...parts: readonly (string | Uint8Array)[]): Buffer => {
  const sum = createHash('sha256');
  for (const part of parts) sum.update(part);
  return sum.digest();
};

/** MTH of section 2.1, word by word. */
export function naiveHead(entries: readonly (string | Uint8Array)[]): Buffer {
  const [first, ...others] = entries;
  if (first === undefined) return sha256('');
  if (others.length === 0) return sha256('\0', first);
  let k = 1;
  while (k * 2 < entries.length) k *= 2;
  return sha256('\u0001', naiveHead(entries.slice(0, k)), naiveHead(entries.slice(k)));
}

/** A witness, and its cosignatures. */
export function cosigner(name: string) {
  const skey = generateSigner(name);
  const seed = Buffer.from(skey.split('+').slice(4).join('+'), 'base64').subarray(1);
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const signer = parseSigner(skey);
  const bytes = Buffer.from(signer.vkey.split('+').slice(2).join('+'), 'base64');
  bytes[0] = 4;
  const id = hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), bytes])).slice(0, 8);
  return {
    /** The same key, for notes. */
    signer,
    vkey: `${name}+${id}+${bytes.toString('base64')}`,
    cosign: (text: string, time: bigint, signedTime = time): string => {
      const field = Buffer.alloc(12, id, 'hex');
      field.writeBigUInt64BE(time, 4);
      const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${signedTime}\n${text}`), key);
      return `— ${name} ${base64Of(Buffer.concat([field, signature]))}\n`;
    },
  };
}

/** Appends an entry to a log on the disk. */
export function grow(folder: string, size: number, entry: string | Uint8Array): Appended {
  const appended = append(folder, size, Buffer.from(entry));
  for (const [file, bytes] of appended.files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), bytes);
  }
  for (const file of appended.removed) rmSync(join(folder, file));
  return appended;
}

/** A log of these entries on the disk. @returns the roots of all sizes from 0 on */
export function makeLog(folder: string, entries: readonly string[]): Buffer[] {
  mkdirSync(folder, { recursive: true });
  return [sha256(''), ...entries.map((entry, size) => grow(folder, size, entry).root)];
}

/** All files of a folder, sorted. */
export const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => relative(folder, join(file.parentPath, file.name)))
    .toSorted();

/** Copies with one bit flipped, for each bit. */
export function* flips(bytes: Uint8Array, bitsOf: (at: number) => readonly number[] = () => ALL_BITS) {
  for (let at = 0; at < bytes.length; at += 1) {
    for (const bit of bitsOf(at)) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
      yield { at, bit, flipped };
    }
  }
}

const ALL_BITS = [0, 1, 2, 3, 4, 5, 6, 7];

/** Collects what is wrong. An `expect` for each of a million comparisons takes longer than they do. */
export class Comparisons {
  readonly wrong: string[] = [];

  add(isRight: boolean, what: string): void {
    if (!isRight) this.wrong.push(what);
  }
}

/** The message of the Failure invalid that a call throws, or undefined. */
export function refusal(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (error instanceof Failure && error.exitCode === 1 && !error.message.includes('\n'))
      return error.message;
    throw error;
  }
}

/** The hash of a snapshot.json without its time. */
export const naiveManifest = (file: string): string =>
  createHash('sha256')
    .update(readFileSync(file, 'utf8').replace(/"built_at":"[^"]*"/, '"built_at":""'))
    .digest('hex');
