import { spawnSync } from 'node:child_process';

/** Programs that the bench uses and does not bring along. */

interface Program {
  /** Prints its version; whatever the exit code, since wrk's is 1. */
  readonly version: readonly string[];
  /** What Debian has it in. */
  readonly debian: string;
}

const PROGRAMS: Readonly<Record<string, Program>> = {
  wrk: { version: ['-v'], debian: 'wrk' },
  nginx: { version: ['-v'], debian: 'nginx-light' },
  taskset: { version: ['-V'], debian: 'util-linux' },
  tar: { version: ['--version'], debian: 'tar' },
  time: { version: ['--version'], debian: 'time' },
  sqlite3: { version: ['-version'], debian: 'sqlite3' },
};

/** Where Debian has what an ordinary user's PATH lacks. */
const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`;

/** The environment to start programs in. */
export const PROGRAM_ENVIRONMENT: NodeJS.ProcessEnv = { ...process.env, PATH };

/** The first line a program says of its version, undefined if it is not there. */
export function versionOf(name: string): string | undefined {
  const { version = ['--version'] } = PROGRAMS[name] ?? {};
  const { error, stdout, stderr } = spawnSync(name, version, { encoding: 'utf8', env: PROGRAM_ENVIRONMENT });
  if (error !== undefined) return undefined;
  return /\S.*/.exec(`${stdout}\n${stderr}`)?.[0].replace(/ Copyright.*/, '');
}

/** A line for each program that is missing: what for, and where to get it. */
export function missingPrograms(names: readonly string[], suite: string): string[] {
  return names
    .filter((name) => versionOf(name) === undefined)
    .map(
      (name) =>
        `suite "${suite}" needs ${name}, which is not there: apt-get install ${PROGRAMS[name]?.debian ?? name}`,
    );
}
