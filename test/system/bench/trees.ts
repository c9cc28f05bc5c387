import { spawn } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';

import { openDatabase } from '../../../generator/sqlite/index.js';
import { compiled } from './servers/process.js';

/** Registers and trees to measure with, made by the generator itself. */

/** Of the register that is made where none is given. */
const RECORDS = 5_000;
const SEED = 1;

export interface TreeOptions {
  readonly register: string | undefined;
  readonly folder: string;
  readonly say: (line: string) => void;
}

/** A register to measure with: a fictional one of so many records if none is given. */
export async function registerOf({
  register,
  folder,
  records,
  say,
}: TreeOptions & { readonly records: number }): Promise<string> {
  if (register !== undefined) return register;
  const made = join(folder, 'register.sqlite');
  say(`making a register of ${records} records`);
  await generate(['sample', '--out', made, '--records', String(records), '--seed', String(SEED)]);
  return made;
}

/** Builds the tree of a register, of a fictional one if there is none. */
export async function treeOf(options: TreeOptions): Promise<string> {
  const register = await registerOf({ ...options, records: RECORDS });
  const dist = join(options.folder, 'dist');
  options.say(`building the tree of ${register}`);
  await generate(['build', '--register', register, '--out', dist]);
  return dist;
}

/** Runs the generator's command line to its end. */
export async function generate(args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [compiled('generator/cli.js'), ...args, '--quiet'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let messages = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    messages += text;
  });
  const code = await new Promise((settle) => child.on('close', settle));
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${String(code)}: ${messages}`);
}

/** The same register after every hundredth record was measured once more, an hour after all others. */
export function changedCopy(register: string, file: string): string {
  copyFileSync(register, file);
  const database = openDatabase(file);
  try {
    const tables = ['groups', 'users', 'games', 'items'];
    const newest = tables.map((table) => `SELECT max(measured_at) AS at FROM "${table}"`).join(' UNION ALL ');
    const hourLater = database
      .prepare<[], string>(`SELECT strftime('%Y-%m-%dT%H:%M:%SZ', max(at), '+1 hour') FROM (${newest})`)
      .pluck()
      .get();
    for (const table of tables)
      database
        .prepare(`UPDATE "${table}" SET measurements = measurements + 1, measured_at = ? WHERE id % 100 = 7`)
        .run(hourLater);
    database
      .prepare('UPDATE groups SET member_count = member_count + 1 WHERE measured_at = ?')
      .run(hourLater);
    database
      .prepare(
        'INSERT INTO group_member_readings SELECT id, measured_at, member_count FROM groups' +
          ' WHERE measured_at = ? AND member_count IS NOT NULL',
      )
      .run(hourLater);
  } finally {
    database.close();
  }
  return file;
}
