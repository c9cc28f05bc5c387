import { scaffold } from '../register/scaffold.js';
import { programName, registerOption } from './options.js';
import type { Program } from './options.js';
import type { Terminal } from './terminal.js';

export function addScaffold(program: Program, { say }: Terminal): void {
  program
    .command('scaffold')
    .description(
      'Print SQL for the views and columns that a database lacks to be a register. Nothing is written.',
    )
    .addOption(registerOption)
    .addHelpText(
      'after',
      ({ command }) => `
Example
  $ ${programName(command).replace('npm run', 'npm run -s')} scaffold --register guilds.db > views.sql
  (edit views.sql: replace your_table, and NULL where you measure something)
  $ sqlite3 guilds.db < views.sql
  $ ${programName(command)} check --register guilds.db`,
    )
    .action(({ register }: { register: string }) => {
      for (const line of scaffold(register)) say(line);
    });
}
