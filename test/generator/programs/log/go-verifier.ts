/** The verifier of others: go/verify.go, on code of Go's checksum database as Debian packages it. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { PROJECT } from '../../../support/project.js';

/** Compiles the verifier. @param folder doesn't exist. @returns the program */
export function buildVerifier(folder: string): string {
  const program = join(folder, 'verify');
  const source = join(PROJECT, 'test/generator/programs/log/go/verify.go');
  const env = {
    PATH: process.env['PATH'],
    GO111MODULE: 'off',
    GOPATH: '/usr/share/gocode',
    GOCACHE: join(folder, 'cache'),
    GOFLAGS: '',
  };
  const { status, stderr } = spawnSync('go', ['build', '-o', program, source], { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`verify.go doesn't compile: ${stderr}`);
  return program;
}

/** What the verifier finds. */
export interface Verdict {
  readonly status: number | null;
  /** `SIZE ROOT` of each checkpoint, up to the first that is refused. */
  readonly lines: readonly string[];
  readonly reason: string;
}

/** @param checkpoints files, ascending by size; each log must begin with the one before */
export function runVerifier(
  program: string,
  vkey: string,
  log: string,
  checkpoints: readonly string[] = [join(log, 'checkpoint')],
): Verdict {
  const { status, stdout, stderr } = spawnSync(program, [vkey, log, ...checkpoints], { encoding: 'utf8' });
  return { status, lines: stdout.split('\n').slice(0, -1), reason: stderr };
}
