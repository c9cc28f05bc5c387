/** The command line in this process: as quick as a function, with exit code and output as a process has them. */
import { CommanderError } from 'commander';
import { addCommands } from '../../generator/commands/commands.js';
import { Program } from '../../generator/commands/options.js';
import type { Terminal } from '../../generator/commands/terminal.js';
import { EXIT, Failure } from '../../generator/base/errors.js';
import { effectsAt, quiet } from './build.js';
import type { Run } from './cli.js';

export const CLOCK = '2026-12-24T00:00:00Z';

export async function inProcess(...args: readonly string[]): Promise<Run> {
  const ended = { code: 0, stdout: '', stderr: '' };
  const writeOut = (text: string): void => void (ended.stdout += text);
  const writeErr = (text: string): void => void (ended.stderr += text);
  const warn = (line: string): void => writeErr(`${line}\n`);
  const terminal: Terminal = {
    ...effectsAt(CLOCK),
    say: (line) => writeOut(`${line}\n`),
    warn,
    progress: quiet,
    cost: () => ({ seconds: 0, peakMemoryBytes: 0 }),
    exitWith: (code) => void (ended.code = code),
  };
  const program = new Program('register-api').exitOverride().configureOutput({ writeErr, writeOut });
  await addCommands(program, terminal, args[0] ?? '');
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      // It has written its message.
      ended.code = error.exitCode === 0 ? EXIT.done : EXIT.usage;
    } else if (error instanceof Failure) {
      warn(`error: ${error.message}`);
      ended.code = error.exitCode;
    } else throw error;
  }
  return ended;
}
