/** What the commands share that verify signatures. */
import { readFileSync } from 'node:fs';
import { Failure, messageOf, reading } from '../errors.js';
import { parseVerifier } from '../keys.js';
import type { Verifier } from '../keys.js';
import { verifyProof } from '../log/proof.js';
import type { VerifiedProof } from '../log/proof.js';

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

/**
 * What a proof shows.
 * @param what has the proof, for the message
 * @throws Failure invalid, with the reason
 */
export function verified(
  what: string,
  proof: string,
  verifiers: readonly Verifier[],
  content?: Uint8Array,
): VerifiedProof {
  try {
    return verifyProof(proof, verifiers, content);
  } catch (error) {
    if (error instanceof Failure) throw Failure.invalid(`${what} proves nothing: ${error.message}`);
    throw error;
  }
}
