/** The option `--key` of the commands that verify. */
import { readFileSync } from 'node:fs';
import { Failure, messageOf, reading } from '../errors.js';
import { parseVerifier } from '../keys.js';
import type { Verifier } from '../keys.js';

/** The keys that an option gives: one, or the lines of a file. @throws Failure usage, environment */
export function verifiersOf(given: string): readonly Verifier[] {
  const isKey = /^[^+\s]+\+[0-9a-f]{8}\+/.test(given);
  const text = isKey ? given : reading(`"${given}" (--key)`, () => readFileSync(given, 'utf8'));
  const lines = text.split('\n');
  const keys = lines.map((line) => line.trim()).filter((line) => line !== '');
  if (keys.length === 0) throw Failure.usage(`"${given}" (--key) has no key, expected NAME+ID+BASE64`);
  try {
    return keys.map(parseVerifier);
  } catch (error) {
    throw Failure.usage(`"${given}" (--key): ${messageOf(error)}`);
  }
}
