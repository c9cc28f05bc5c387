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

/** Builds the tree of a register, of a fictional one if there is none. */
export async function treeOf({ register, folder, say }: TreeOptions): Promise<string> {
  const source = register ?? join(folder, 'register.sqlite');
  if (register === undefined) {
    say(`making a register of ${RECORDS} records`);
    await generate(['sample', '--out', source, '--records', String(RECORDS), '--seed', String(SEED)]);
  }
  const dist = join(folder, 'dist');
  say(`building the tree of ${source}`);
  await generate(['build', '--register', source, '--out', dist]);
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
