/** The real command line, as a process. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OPERATOR } from './build.js';
import { PROJECT } from './project.js';

export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Ended extends Run {
  readonly signal: NodeJS.Signals | null;
}

export const CLI = join(PROJECT, 'build/generator/cli.js');

export const inputs = (register: string, out: string): readonly string[] => [
  `--operator=${OPERATOR}`,
  `--register=${register}`,
  `--out=${out}`,
];

/** The arguments of a quiet build that accepts removals. */
export const buildArgs = (register: string, out: string, ...more: string[]): readonly string[] => [
  'build',
  '--quiet',
  '--accept-removals',
  ...inputs(register, out),
  ...more,
];

/**
 * Starts the command line as a process that can be signalled. Its output is no terminal.
 * @param uid another user to run it as, for which this process must be root's
 */
export function start(args: readonly string[], cwd = PROJECT, uid?: number) {
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const done = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, ...output }));
  });
  return { child, done, output, pid: child.pid ?? 0 };
}

export const startBuild = (register: string, out: string, ...more: string[]) =>
  start(buildArgs(register, out, ...more));

export async function snapshot(args: readonly string[], cwd?: string, uid?: number): Promise<Run> {
  const { signal: _, ...run } = await start(args, cwd, uid).done;
  return run;
}

export async function until(condition: () => boolean, what: string, ms = 60_000): Promise<void> {
  const end = performance.now() + ms;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`waited ${ms} ms in vain until ${what}`);
    await sleep(1);
  }
}

/** The lines of a message that are not progress. */
export const errorsOf = ({ stderr }: Pick<Run, 'stderr'>): string[] =>
  stderr.split('\n').filter((line) => line.startsWith('error: '));
