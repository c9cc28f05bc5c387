/** `scaffold`: drafts the views that make a register of another database. */
import { Failure } from '../base/errors.js';
import { scaffold } from '../register/scaffold.js';
import { MEASURED_TABLES } from '../schema/schema.js';
import { collect, programName, registerOption, type Program } from './options.js';
import type { Terminal } from './terminal.js';

export function addScaffold(program: Program, { say }: Terminal): void {
  program
    .command('scaffold')
    .description('Print SQL that makes a register of a database, drafted by guesses. Nothing is written.')
    .addOption(registerOption)
    .option(
      '--from <name=table>',
      'the table that has games, usernames …, whatever else is called so; may be repeated',
      collect,
    )
    .addHelpText(
      'after',
      ({ command }) => `
Example
  $ ${programName(command).replace('npm run', 'npm run -s')} scaffold --register guilds.db > views.sql
  (check views.sql: complete comments and NULL where you measure something)
  $ sqlite3 guilds.db < views.sql
  $ ${programName(command)} check --register guilds.db`,
    )
    .action(({ register, from = [] }: { register: string; from?: readonly string[] }) => {
      for (const line of scaffold(register, Object.fromEntries(from.map(pairOf)))) say(line);
    });
}

const NAMES = MEASURED_TABLES.map(({ name }) => name);

/** `games=experience`: a table of the register, and that of the other database. @throws Failure usage */
function pairOf(value: string): readonly [string, string] {
  const [, name = '', table = ''] = /^(\w+)=(.+)$/.exec(value) ?? [];
  if (!NAMES.includes(name))
    throw Failure.usage(`--from "${value}": expected NAME=TABLE, with one of ${NAMES.join(', ')}`);
  return [name, table];
}
