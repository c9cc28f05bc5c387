import { spawn } from 'node:child_process';
import { join } from 'node:path';

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
