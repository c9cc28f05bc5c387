import type { Command } from 'commander';
import { Failure } from '../errors.js';
import { createKey } from '../log/key-file.js';
import { jsonLine } from './report.js';
import { jsonOption, quietOption } from './terminal.js';
import type { Common, Terminal } from './terminal.js';

interface Flags extends Common {
  readonly name: string;
  readonly write: string;
}

export function addKeygen(program: Command, { say, cost }: Terminal): void {
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
    .addOption(jsonOption())
    .addOption(quietOption())
    .action(({ name, write, json, quiet }: Flags) => {
      if (name.includes('://'))
        throw Failure.usage(`--name "${name}" has a scheme, expected none, as in "register.example/log"`);
      const key = createKey(name, write);
      if (json === true) return say(jsonLine({ file: write, key }, cost()));
      if (quiet === true) return undefined;
      say(`Wrote the key ${write}, for its owner alone`);
      say(`  to publish  ${write}.pub: ${key}`);
      say(`  to keep     ${write}.last, without which the key can't sign: never restore it from a backup`);
    })
    .addHelpText(
      'after',
      `
Example
  $ npm run snapshot -- keygen --name register.example/log --write /srv/register/log.key
  $ npm run snapshot -- build --key /srv/register/log.key`,
    );
}
