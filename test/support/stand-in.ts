/** Programs of the machine that a test puts a shell script in the place of. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';

/** Until the end of the test. @param folder a new one, for the script */
export function standIn(folder: string, program: string, script: string): void {
  mkdirSync(folder);
  writeFileSync(join(folder, program), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  vi.stubEnv('PATH', `${folder}:${process.env['PATH']}`);
  onTestFinished(() => void vi.unstubAllEnvs());
}
