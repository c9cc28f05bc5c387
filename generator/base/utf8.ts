/** Texts that people write: files in UTF-8. What isn't is refused, with its place. */
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { Failure, reading } from './errors.js';

/**
 * Reads a text file that a person named, without its byte order mark.
 * @param what names it in the message
 * @param hint as in `reading`
 * @throws Failure environment: it can't be read; usage: it is not UTF-8
 */
export function readInput(what: string, file: string, hint?: string): string {
  const bytes = reading(what, () => readFileSync(file), hint);
  const problem = notUtf8(bytes);
  if (problem !== undefined) throw Failure.usage(`${what} ${problem}`);
  return new TextDecoder().decode(bytes);
}

/** Where a text stops being UTF-8, as `is not UTF-8 at …`; undefined if it is. Lines and columns count from 1. */
export function notUtf8(bytes: Uint8Array): string | undefined {
  if (isUtf8(bytes)) return undefined;
  const before = textBefore(bytes);
  const lines = before.replace(/^\uFEFF/, '').split('\n');
  const byte = (bytes[Buffer.byteLength(before)] ?? 0).toString(16).padStart(2, '0');
  return (
    `is not UTF-8 at line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1} (byte 0x${byte}),` +
    ' expected a text that is saved as UTF-8'
  );
}

/** The text before the first bytes that are not UTF-8, which is found by halving. */
function textBefore(bytes: Uint8Array): string {
  const decoded = (length: number): string | undefined => {
    try {
      // As a stream, it may end within a character.
      const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
      return decoder.decode(bytes.subarray(0, length), { stream: true });
    } catch {
      return undefined;
    }
  };
  let [valid, invalid] = [0, bytes.length + 1];
  while (invalid - valid > 1) {
    const middle = Math.floor((valid + invalid) / 2);
    if (decoded(middle) === undefined) invalid = middle;
    else valid = middle;
  }
  return decoded(valid) ?? '';
}
