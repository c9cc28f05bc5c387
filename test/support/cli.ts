/** The real command line, as a process. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { OPERATOR } from './build.js';
import { PROJECT } from './folder.js';

export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const CLI = join(PROJECT, 'build/generator/cli.js');

/** The arguments of a quiet build that accepts removals. */
export const buildArgs = (register: string, out: string, ...more: string[]): readonly string[] => [
  'build',
  '--quiet',
  '--accept-removals',
  '--operator',
  OPERATOR,
  '--register',
  register,
  '--out',
  out,
  ...more,
];

/**
 * Runs `snapshot` with these arguments and waits for its end. Its output is no terminal.
 * @param uid another user to run it as, for which this process must be root's
 */
export function snapshot(args: readonly string[], cwd = PROJECT, uid?: number): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, ...args], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(uid !== undefined && { uid, gid: uid }),
    });
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...output }));
  });
}
