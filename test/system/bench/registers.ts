/** Registers and trees to measure with, made by the generator itself. */
import { execFile } from 'node:child_process';
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { runSql } from '../../support/register.js';
import { compiled } from './servers.js';
import type { Context } from './suite.js';

/** Of the register of a tree, where none is given. */
const RECORDS = 5_000;

export const run = promisify(execFile);

const generate = (...args: string[]) => run(process.execPath, [compiled('generator/cli.js'), ...args]);

/** A register to measure with: the given one, or a fictional one of this size. */
export async function registerOf({ register, folder, say }: Context, records: number): Promise<string> {
  if (register !== undefined) return register;
  const made = join(folder, 'register.sqlite');
  say(`making a register of ${records} records`);
  await generate('sample', '--out', made, '--records', String(records), '--seed', '1', '--quiet');
  return made;
}

/** The tree that is given, or that of the register, or of a fictional one. */
export async function treeOf(context: Context): Promise<string> {
  if (context.tree !== undefined) return context.tree;
  const register = await registerOf(context, RECORDS);
  const dist = join(context.folder, 'dist');
  context.say(`building the tree of ${register}`);
  await generate('build', '--register', register, '--out', dist, '--quiet');
  return dist;
}

const KINDS = ['group', 'user', 'game', 'item'];

/** URL paths of the records of a tree, of a kind after the other. @param most of each kind */
export const recordPaths = (dist: string, most = Infinity): string[] =>
  KINDS.flatMap((kind) =>
    readdirSync(join(dist, 'api/v1', kind))
      .filter((file) => file.endsWith('.json'))
      .slice(0, most)
      .map((file) => `/api/v1/${kind}/${file.slice(0, -'.json'.length)}`),
  );

/** The register after records were measured once more, an hour after all others. @param which a condition on ids */
export function measuredCopy(register: string, file: string, which: string): string {
  copyFileSync(register, file);
  const tables = KINDS.map((kind) => `${kind}s`);
  const newest = tables.map((table) => `SELECT max(measured_at) AS at FROM "${table}"`).join(' UNION ALL ');
  const updates = tables.map(
    (table) => `UPDATE "${table}" SET measurements = measurements + 1, measured_at = (SELECT at FROM later)
      WHERE ${which};`,
  );
  return runSql(
    file,
    `
    CREATE TEMP TABLE later AS SELECT strftime('%Y-%m-%dT%H:%M:%SZ', max(at), '+1 hour') AS at FROM (${newest});
    ${updates.join('\n')}
    UPDATE groups SET member_count = member_count + 1 WHERE measured_at = (SELECT at FROM later);
    INSERT INTO group_member_readings SELECT id, measured_at, member_count FROM groups
      WHERE measured_at = (SELECT at FROM later) AND member_count IS NOT NULL;`,
  );
}
