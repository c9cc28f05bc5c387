/** `verify-proof`: checks a proof without the service that it is from. */
import { readFileSync } from 'node:fs';
import { Failure, messageOf, reading } from '../base/errors.js';
import { parseVerifier, type Verifier } from '../base/keys.js';
import { verifyProof, type VerifiedProof } from '../programs/log/tlog/proof.js';
import { readInput } from '../base/utf8.js';
import { collect, OUTPUT, type Common, type Program } from './options.js';
import { asOfText } from './report.js';
import { print, type Terminal } from './terminal.js';

interface Flags extends Common {
  readonly key: readonly string[];
  readonly body?: string;
}

export function addVerifyProof(program: Program, terminal: Terminal): void {
  program
    .command('verify-proof')
    .description('Verify a proof without any network: who published a document, in which snapshot.')
    .argument('<file>', 'a file that prove, or the page of a record, has written')
    .requiredOption(
      '--key <key>',
      'a public key (NAME+ID+BASE64) of the log, or a file of such lines; repeatable',
      collect,
    )
    .option('--body <file>', 'the document, to compare it with the one that is proven')
    .examples(
      'verify-proof group-45.tlog-proof --key register.pub',
      'verify-proof largest.tlog-proof --key register.pub --body largest.json',
    )
    .with(...OUTPUT)
    .action((file: string, flags: Flags) => {
      const verifiers = flags.key.flatMap(verifiersOf);
      const content = flags.body === undefined ? undefined : read(`"${flags.body}"`, flags.body);
      const proof = verified(`"${file}"`, read(`"${file}"`, file).toString(), verifiers, content);
      const { isBodyIncluded, ...facts } = proof;
      const body = isBodyIncluded || content !== undefined;
      print(terminal, flags, { ...facts, body }, () => [
        `${file}: ${proof.path} was in snapshot ${proof.sequence} of ${proof.origin} (${asOfText(proof.asOf)})`,
        `  content  SHA-256 ${proof.sha256}${body ? '' : ', which is not in the proof: compare the document with --body'}`,
        `  entry    ${proof.index} of the log, counted from 0`,
        `  signed   ${proof.signedBy.join(', ')}`,
      ]);
    });
}

/** @throws Failure environment */
const read = (what: string, file: string): Buffer => reading(what, () => readFileSync(file));

/** The keys that an option gives: one, or the lines of a file. @throws Failure usage, environment */
export function verifiersOf(given: string): readonly Verifier[] {
  const isKey = /^[^+\s]+\+[0-9a-f]{8}\+/.test(given);
  const text = isKey ? given : readInput(`"${given}" (--key)`, given);
  const keys = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
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
    throw error instanceof Failure ? Failure.invalid(`${what} proves nothing: ${error.message}`) : error;
  }
}
