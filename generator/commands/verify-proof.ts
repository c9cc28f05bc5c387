import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { reading } from '../errors.js';
import type { VerifiedProof } from '../log/proof.js';
import { OUTPUT, collect, examples, withOptions } from './options.js';
import type { Common } from './options.js';
import { asOfText } from './report.js';
import { print } from './terminal.js';
import type { Terminal } from './terminal.js';
import { verified, verifiersOf } from './verifier-keys.js';

interface Flags extends Common {
  readonly key: readonly string[];
  readonly body?: string;
}

export function addVerifyProof(program: Command, terminal: Terminal): void {
  const command = program
    .command('verify-proof')
    .description('Verify a proof without any network: who published a document, in which snapshot.')
    .argument('<file>', 'a file that prove, or the page of a record, has written')
    .requiredOption(
      '--key <key>',
      'a public key (NAME+ID+BASE64) of the log or of a witness, or a file of such lines; repeatable',
      collect,
    )
    .option('--body <file>', 'the document, to compare it with the one that is proven')
    .addHelpText(
      'after',
      examples(
        'verify-proof group-45.tlog-proof --key register.pub',
        'verify-proof largest.tlog-proof --key register.pub --body largest.json',
      ),
    );
  withOptions(command, ...OUTPUT).action((file: string, flags: Flags) => {
    const { key, body } = flags;
    const verifiers = key.flatMap(verifiersOf);
    const content = body === undefined ? undefined : read(body);
    const proof = verified(`"${file}"`, read(file).toString(), verifiers, content);
    const { isBodyIncluded, ...facts } = proof;
    const isBodyKnown = isBodyIncluded || content !== undefined;
    print(terminal, flags, { ...facts, body: isBodyKnown }, () => provenLines(file, proof, isBodyKnown));
  });
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
