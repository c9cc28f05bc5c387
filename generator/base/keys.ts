/**
 * Keys of signed notes (C2SP signed-note), in the form in which Go's sumdb/note writes them, and the
 * files of private ones.
 */
import {
  createPrivateKey,
  createPublicKey,
  hash,
  randomBytes,
  sign,
  verify,
  type KeyObject,
} from 'node:crypto';
import { dirname } from 'node:path';
import { Failure, messageOf, reading, unlessFailure } from './errors.js';
import { isOpen, keepsModes } from './modes.js';
import { readInput } from './utf8.js';

/** The first byte of a key that signs notes. */
const NOTE = 1;

const KEY_BYTES = 32;

/** The name of a key, as part of a regular expression with the flag `u`. */
export const KEY_NAME = String.raw`[^+\p{White_Space}\p{Cc}\p{Cs}]+`;
/** Name, id, and base64 of 33 bytes: that of the type, and the key. */
const KEY = String.raw`(${KEY_NAME})\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$`;
const VERIFIER_KEY = new RegExp(`^${KEY}`, 'u');
const SIGNER_KEY = new RegExp(String.raw`^PRIVATE\+KEY\+${KEY}`, 'u');

/** The DER of an Ed25519 private key is this and its 32 bytes (RFC 8410). */
const PRIVATE_DER = Buffer.from('302e020100300506032b657004220420', 'hex');

/** A private key. */
export interface Signer {
  readonly name: string;
  readonly vkey: string;
  /** @param text ends with an end of line. @returns the line of the signature, with its end */
  sign(text: string): string;
}

/** A public key, by which signatures are checked. */
export interface Verifier {
  readonly name: string;
  readonly vkey: string;
  /** 8 hex digits. */
  readonly id: string;
  verify(text: string, signature: Uint8Array): boolean;
}

/** A private key on the disk. */
export interface KeyFile {
  readonly path: string;
  readonly signer: Signer;
  /** Whether others may read it, since its file system keeps no modes. */
  readonly isOpen: boolean;
}

/** The first 4 bytes, in hex. @param key the byte of the type, then the public key */
const keyId = (name: string, key: Uint8Array): string =>
  hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), key])).slice(0, 8);

/** Creates a key. @returns the text of the private key, which `parseSigner` reads */
export function generateSigner(name: string): string {
  if (!new RegExp(`^${KEY_NAME}$`, 'u').test(name)) {
    throw Failure.usage('the name of a key is invalid: expected a text without spaces and +');
  }
  const seed = randomBytes(KEY_BYTES);
  const id = keyId(name, publicKeyOf(privateKey(seed)));
  return `PRIVATE+KEY+${name}+${id}+${Buffer.of(NOTE, ...seed).toString('base64')}`;
}

const privateKey = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PRIVATE_DER, seed]), format: 'der', type: 'pkcs8' });

/** The byte of the type, then the public key of a private one. */
const publicKeyOf = (key: KeyObject): Buffer =>
  Buffer.of(NOTE, ...Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url'));

/**
 * @param skey `PRIVATE+KEY+NAME+ID+BASE64`
 * @throws Failure invalid; the message doesn't contain the key
 */
export function parseSigner(skey: string): Signer {
  const [all, name = '', id = '', encoded = ''] = SIGNER_KEY.exec(skey) ?? [];
  if (all === undefined)
    throw Failure.invalid('the private key is invalid: expected PRIVATE+KEY+NAME+ID+BASE64');
  const [type, ...seed] = Buffer.from(encoded, 'base64');
  if (type !== NOTE) throw Failure.invalid('the private key is invalid: expected one of Ed25519');
  const key = privateKey(Buffer.from(seed));
  const own = publicKeyOf(key);
  if (keyId(name, own) !== id)
    throw Failure.invalid('the private key is invalid: its id is of another key or name');
  return {
    name,
    vkey: `${name}+${id}+${own.toString('base64')}`,
    sign: (text) => {
      const signature = Buffer.concat([Buffer.from(id, 'hex'), sign(null, Buffer.from(text), key)]);
      return `— ${name} ${signature.toString('base64')}\n`;
    },
  };
}

/** @param vkey `NAME+ID+BASE64`. @throws Failure invalid */
export function parseVerifier(vkey: string): Verifier {
  const [all, name = '', id = '', encoded = ''] = VERIFIER_KEY.exec(vkey) ?? [];
  if (all === undefined) throw Failure.invalid('the public key is invalid: expected NAME+ID+BASE64');
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes[0] !== NOTE) throw Failure.invalid('the public key is invalid: expected one of Ed25519');
  if (keyId(name, bytes) !== id)
    throw Failure.invalid('the public key is invalid: its id is of another key or name');
  const x = bytes.toString('base64url', 1);
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return { name, vkey, id, verify: (text, signature) => verify(null, Buffer.from(text), key, signature) };
}

/** The known ones among verifier keys; others may be of a kind that a later version knows. */
export const logKeys = (vkeys: readonly string[]): readonly Verifier[] =>
  vkeys.flatMap((vkey) => unlessFailure(() => parseVerifier(vkey)) ?? []);

/**
 * @throws Failure usage: it is no key, or others may read it although its file system keeps modes;
 * environment: it can't be read
 */
export function readKey(path: string): KeyFile {
  const what = `key "${path}"`;
  const content = readInput(what, path);
  const open = reading(what, () => isOpen(path));
  let signer: Signer;
  try {
    signer = parseSigner(content.replace(/\n$/, ''));
  } catch (error) {
    throw Failure.usage(`${what}: ${messageOf(error)}`);
  }
  if (open && keepsModes(dirname(path)))
    throw Failure.usage(`${what} can be read by others, expected mode 0600 (chmod 600)`);
  return { path, signer, isOpen: open };
}

/** What to say of keys that others may read. */
export const keyWarnings = (keys: readonly KeyFile[]): readonly string[] =>
  keys
    .filter((key) => key.isOpen)
    .map(({ path }) => `warning: key "${path}" can be read by others: its file system keeps no modes`);
