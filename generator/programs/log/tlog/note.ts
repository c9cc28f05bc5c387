/** Signed notes (C2SP signed-note). */
import { isUtf8 } from 'node:buffer';
import { Failure } from '../../../base/errors.js';
import { KEY_NAME, type Signer, type Verifier } from '../../../base/keys.js';

const ID_BYTES = 4;
/** Notes with more are refused; every reader must accept 16. */
const MAX_SIGNATURES = 100;

const SIGNATURE_LINE = new RegExp(String.raw`^— (${KEY_NAME}) (\S+)$`, 'u');

export interface OpenedNote {
  /** The text that is signed, with its last end of line. */
  readonly text: string;
  /** Those of the given verifiers whose signature holds: one at least. */
  readonly verified: readonly Verifier[];
  /** The line of the signature of each of those, without its end. */
  readonly lines: readonly string[];
}

/** A text as a note. @param text ends with an end of line */
export const noteOf = (text: string, signers: readonly Signer[]): string =>
  `${text}\n${signers.map((signer) => signer.sign(text)).join('')}`;

/**
 * Opens a signed note. Signatures of unknown keys are ignored, as they must be.
 * @throws Failure invalid: malformed, a signature of a given key is wrong, or none is of one
 */
export function openNote(note: Uint8Array | string, verifiers: readonly Verifier[]): OpenedNote {
  const [text, lines] = splitNote(Buffer.from(note));
  const verified = new Map<Verifier, string>();
  for (const line of lines) {
    const [, name, encoded = ''] = SIGNATURE_LINE.exec(line) ?? [];
    const bytes = Buffer.from(encoded, 'base64');
    if (name === undefined || bytes.toString('base64') !== encoded || bytes.length <= ID_BYTES) {
      throw Failure.invalid('the note is malformed: expected lines — NAME BASE64 after the last empty line');
    }
    const id = bytes.toString('hex', 0, ID_BYTES);
    for (const verifier of verifiers.filter((known) => known.name === name && known.id === id)) {
      if (!verifier.verify(text, bytes.subarray(ID_BYTES))) {
        throw Failure.invalid(`the signature of ${name}+${id} is wrong: it is not of this text`);
      }
      if (!verified.has(verifier)) verified.set(verifier, line);
    }
  }
  if (verified.size > 0) return { text, verified: [...verified.keys()], lines: [...verified.values()] };
  const names = verifiers.map(({ name, id }) => `${name}+${id}`).join(' or ');
  throw Failure.invalid(`the note is not signed by the expected key: ${names || 'none is known'}`);
}

/** @returns the text, and the lines of signatures */
function splitNote(bytes: Buffer): readonly [string, readonly string[]] {
  if (!isUtf8(bytes)) throw Failure.invalid('the note is malformed: expected UTF-8');
  if (bytes.some((byte) => byte < 0x20 && byte !== 0x0a)) {
    throw Failure.invalid('the note is malformed: expected no control characters but ends of line');
  }
  const note = bytes.toString();
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
