/** Signed notes and their keys (C2SP signed-note; tlog-cosignature for those of witnesses). */
import { createPrivateKey, createPublicKey, hash, randomBytes, sign, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { Failure } from '../errors.js';
import { base64Of, bytesOfBase64 } from '../tree/chunk-text.js';

/** What a key signs: notes, or checkpoints along with the time (cosignature/v1). */
const TYPES = { 1: 'note', 4: 'cosignature' } as const;
const NOTE = 1;

const KEY_BYTES = 32;
const ID_BYTES = 4;
const TIME_BYTES = 8;
/** Notes with more are refused; every reader must accept 16. */
const MAX_SIGNATURES = 100;

const NAME = String.raw`[^+\p{White_Space}\p{Cc}\p{Cs}]+`;
const VERIFIER_KEY = new RegExp(String.raw`^(${NAME})\+([0-9a-f]{8})\+(\S+)$`, 'u');
const SIGNER_KEY = new RegExp(String.raw`^PRIVATE\+KEY\+(${NAME})\+([0-9a-f]{8})\+(\S+)$`, 'u');
const SIGNATURE_LINE = new RegExp(String.raw`^— (${NAME}) (\S+)$`, 'u');

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
  readonly type: (typeof TYPES)[keyof typeof TYPES];
  /** 8 hex digits. */
  readonly id: string;
  verify(text: string, signature: Uint8Array): boolean;
}

export interface OpenedNote {
  /** The text that is signed, with its last end of line. */
  readonly text: string;
  /** Those of the given verifiers whose signature holds: one at least. */
  readonly verified: readonly Verifier[];
  /** All lines of signatures, of unknown keys too, without their ends. */
  readonly lines: readonly string[];
}

/** The first 4 bytes, in hex. @param key the byte of the type, then the public key */
const keyId = (name: string, key: Uint8Array): string =>
  hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), key])).slice(0, ID_BYTES * 2);

/** Creates a key. @returns the text of the private key, which `parseSigner` reads */
export function generateSigner(name: string): string {
  if (!new RegExp(`^${NAME}$`, 'u').test(name)) {
    throw Failure.usage('the name of a key is invalid: expected a text without spaces and +');
  }
  const seed = randomBytes(KEY_BYTES);
  const id = keyId(name, publicKeyOf(privateKey(seed)));
  return `PRIVATE+KEY+${name}+${id}+${base64Of(Buffer.concat([Buffer.of(NOTE), seed]))}`;
}

const privateKey = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PRIVATE_DER, seed]), format: 'der', type: 'pkcs8' });

/** The byte of the type, then the public key of a private one. */
const publicKeyOf = (key: KeyObject): Buffer =>
  Buffer.concat([
    Buffer.of(NOTE),
    Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url'),
  ]);

/**
 * @param skey `PRIVATE+KEY+NAME+ID+BASE64`, as Go's sumdb/note writes it
 * @throws Failure invalid; the message doesn't contain the key
 */
export function parseSigner(skey: string): Signer {
  const [, name = '', id = '', encoded = ''] = SIGNER_KEY.exec(skey) ?? [];
  const [type, ...seed] = keyBytes(encoded, 'the private key', 'PRIVATE+KEY+NAME+ID+BASE64');
  if (type !== NOTE) throw Failure.invalid('the private key is invalid: expected one of Ed25519');
  const key = privateKey(Buffer.from(seed));
  const own = publicKeyOf(key);
  if (keyId(name, own) !== id)
    throw Failure.invalid('the private key is invalid: its id is of another key or name');
  return {
    name,
    vkey: `${name}+${id}+${base64Of(own)}`,
    sign: (text) => {
      const signature = sign(null, Buffer.from(text), key);
      return `— ${name} ${base64Of(Buffer.concat([Buffer.from(id, 'hex'), signature]))}\n`;
    },
  };
}

/** @param vkey `NAME+ID+BASE64`, of a log or of a witness */
export function parseVerifier(vkey: string): Verifier {
  const [, name = '', id = '', encoded = ''] = VERIFIER_KEY.exec(vkey) ?? [];
  const bytes = keyBytes(encoded, 'the public key', 'NAME+ID+BASE64');
  const type = bytes[0] === 1 || bytes[0] === 4 ? TYPES[bytes[0]] : undefined;
  if (type === undefined) {
    throw Failure.invalid('the public key is invalid: expected one of Ed25519, or of an Ed25519 cosignature');
  }
  if (keyId(name, bytes) !== id)
    throw Failure.invalid('the public key is invalid: its id is of another key or name');
  const x = Buffer.from(bytes.subarray(1)).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const isOf = (text: string, signature: Uint8Array): boolean =>
    verify(null, Buffer.from(text), key, signature);
  return {
    name,
    vkey,
    type,
    id,
    verify: type === 'note' ? isOf : (text, signature) => isCosignature(text, Buffer.from(signature), isOf),
  };
}

/** The type and key in base64. */
function keyBytes(encoded: string, what: string, expected: string): Uint8Array {
  const bytes = attempt(() => bytesOfBase64(encoded));
  if (bytes?.length === 1 + KEY_BYTES) return bytes;
  throw Failure.invalid(`${what} is invalid: expected ${expected}`);
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** A time in seconds as a big-endian 64-bit integer, then the signature over it and the text. */
function isCosignature(text: string, signature: Buffer, isOf: Verifier['verify']): boolean {
  if (signature.length < TIME_BYTES) return false;
  const time = signature.readBigUInt64BE();
  return time < 2n ** 63n && isOf(`cosignature/v1\ntime ${time}\n${text}`, signature.subarray(TIME_BYTES));
}

/**
 * Opens a signed note. Signatures of unknown keys are ignored, as they must be.
 * @throws Failure invalid: malformed, a signature of a given key is wrong, or none is of one
 */
export function openNote(note: Uint8Array | string, verifiers: readonly Verifier[]): OpenedNote {
  const [text, lines] = splitNote(Buffer.from(note));
  const verified = new Set<Verifier>();
  for (const line of lines) {
    const [, name, encoded = ''] = SIGNATURE_LINE.exec(line) ?? [];
    const bytes = attempt(() => Buffer.from(bytesOfBase64(encoded)));
    if (name === undefined || bytes === undefined || bytes.length <= ID_BYTES) {
      throw Failure.invalid('the note is malformed: expected lines — NAME BASE64 after the last empty line');
    }
    const id = bytes.toString('hex', 0, ID_BYTES);
    for (const verifier of verifiers.filter((known) => known.name === name && known.id === id)) {
      if (!verifier.verify(text, bytes.subarray(ID_BYTES))) {
        throw Failure.invalid(`the signature of ${name}+${id} is wrong: it is not of this text`);
      }
      verified.add(verifier);
    }
  }
  if (verified.size > 0) return { text, verified: [...verified], lines };
  const names = verifiers.map(({ name, id }) => `${name}+${id}`).join(' or ');
  throw Failure.invalid(`the note is not signed by the expected key: ${names || 'none is known'}`);
}

/** @returns the text, and the lines of signatures */
function splitNote(bytes: Buffer): readonly [string, readonly string[]] {
  const note = attempt(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  if (note === undefined) throw Failure.invalid('the note is malformed: expected UTF-8');
  if (bytes.some((byte) => byte < 0x20 && byte !== 0x0a)) {
    throw Failure.invalid('the note is malformed: expected no control characters but ends of line');
  }
  const at = note.lastIndexOf('\n\n');
  if (at < 0) throw Failure.invalid('the note is malformed: expected an empty line before the signatures');
  const lines = note.slice(at + 2).split('\n');
  if (lines.pop() !== '' || lines.length === 0 || lines.length > MAX_SIGNATURES) {
    throw Failure.invalid(
      `the note is malformed: expected 1 to ${MAX_SIGNATURES} lines of signatures, each with an end of line`,
    );
  }
  return [note.slice(0, at + 1), lines];
}
