/** `keygen`: makes a key that signs snapshots. */
import { Failure } from '../base/errors.js';
import { keyWarnings, readKey } from '../base/keys.js';
import { createKey } from '../programs/log/key-file.js';
import { OUTPUT, type Common, type Program } from './options.js';
import { print, type Terminal } from './terminal.js';

interface Flags extends Common {
  readonly name: string;
  readonly write: string;
}

export function addKeygen(program: Program, terminal: Terminal): void {
  program
    .command('keygen')
    .description('Make a key that signs snapshots, of which the tree then has a log.')
    .requiredOption(
      '--name <name>',
      'origin of the log, a URL without its scheme such as "register.example/log"',
    )
    .requiredOption(
      '--write <file>',
      'where the secret key is written; FILE.pub and FILE.last lie next to it',
    )
    .examples(
      'keygen --name register.example/log --write /srv/register/log.key',
      'build --key /srv/register/log.key',
    )
    .with(...OUTPUT)
    .action((flags: Flags) => {
      const { name, write } = flags;
      if (name.includes('://'))
        throw Failure.usage(`--name "${name}" has a scheme, expected none, as in "register.example/log"`);
      const key = createKey(name, write);
      const warnings = keyWarnings([readKey(write)]);
      for (const line of warnings) terminal.warn(line);
      print(terminal, flags, { file: write, key }, () => [
        `Wrote the key ${write}${warnings.length === 0 ? ', for its owner alone' : ''}`,
        `  to publish  ${write}.pub: ${key}`,
        `  to keep     ${write}.last, without which the key can't sign: never restore it from a backup`,
      ]);
    });
}
