import { execFile } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildArgs } from '../../support/cli.js';
import { PROJECT } from '../../support/folder.js';

const STYLE = 'generator/outputs/pages/assets/style.css';
const PARTS = ['package.json', 'build/assets', 'build/generator', 'build/data', 'generator'];

/** The program in another version, whose style sheet differs. */
export interface OtherVersion {
  readonly build: (register: string, out: string) => Promise<unknown>;
}

/** @param folder does not exist yet */
export async function otherVersion(folder: string): Promise<OtherVersion> {
  const run = promisify(execFile);
  mkdirSync(folder);
  for (const part of PARTS) cpSync(join(PROJECT, part), join(folder, part), { recursive: true });
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  appendFileSync(join(folder, STYLE), '\n.historic { color: inherit }\n');
  await run(process.execPath, [join(folder, 'build/generator/outputs/pages/bundle.js')]);
  const cli = join(folder, 'build/generator/cli.js');
  return { build: (register, out) => run(process.execPath, [cli, ...buildArgs(register, out)]) };
}
