import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { Failure, reading } from '../errors.js';
import type { Verifier } from '../keys.js';
import { verifyProof } from '../log/proof.js';
import type { VerifiedProof } from '../log/proof.js';
import { asOfText, jsonLine } from './report.js';
import { jsonOption, quietOption } from './terminal.js';
import type { Common, Terminal } from './terminal.js';
import { verifiersOf } from './verifier-keys.js';

interface Flags extends Common {
  readonly key: readonly string[];
  readonly body?: string;
}

export function addVerifyProof(program: Command, { say, cost }: Terminal): void {
  program
    .command('verify-proof')
    .description('Verify a proof without any network: who published a document, in which snapshot.')
    .argument('<file>', 'a file that prove, or the page of a record, has written')
    .requiredOption(
      '--key <key>',
      'a public key (NAME+ID+BASE64) of the log or of a witness, or a file of such lines; repeatable',
      (key: string, others: readonly string[] | undefined) => [...(others ?? []), key],
    )
    .option('--body <file>', 'the document, to compare it with the one that is proven')
    .addOption(jsonOption())
    .addOption(quietOption())
    .addHelpText(
      'after',
      `
Examples
  $ npm run snapshot -- verify-proof group-45.tlog-proof --key register.pub
  $ npm run snapshot -- verify-proof largest.tlog-proof --key register.pub --body largest.json`,
    )
    .action((file: string, { key, body, json, quiet }: Flags) => {
      const verifiers = key.flatMap(verifiersOf);
      const content = body === undefined ? undefined : read(body);
      const proven = verified(file, verifiers, content);
      const isBodyKnown = proven.isBodyIncluded || content !== undefined;
      if (json === true) {
        const { path, sha256, tree, sequence, asOf, origin, index, signedBy } = proven;
        const facts = { path, sha256, tree, sequence, asOf, origin, index, signedBy, body: isBodyKnown };
        say(jsonLine(facts, cost()));
      } else if (quiet !== true) for (const line of provenLines(file, proven, isBodyKnown)) say(line);
    });
}

/** @throws Failure invalid, with the file's name and the reason */
function verified(file: string, verifiers: readonly Verifier[], content: Buffer | undefined): VerifiedProof {
  const text = read(file).toString();
  try {
    return verifyProof(text, verifiers, content);
  } catch (error) {
    if (error instanceof Failure) throw Failure.invalid(`"${file}" proves nothing: ${error.message}`);
    throw error;
  }
}

/** @throws Failure environment */
const read = (file: string): Buffer => reading(`"${file}"`, () => readFileSync(file));

function provenLines(
  file: string,
  { path, sha256, sequence, asOf, origin, index, signedBy }: VerifiedProof,
  isBodyKnown: boolean,
): string[] {
  return [
    `${file}: ${path} was in snapshot ${sequence} of ${origin} (${asOfText(asOf)})`,
    `  content  SHA-256 ${sha256}${isBodyKnown ? '' : ', which is not in the proof: compare the document with --body'}`,
    `  entry    ${index} of the log, counted from 0`,
    `  signed   ${signedBy.join(', ')}`,
  ];
}
