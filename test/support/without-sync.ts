/**
 * Before each test file: builds in this process run without sync(1). In memory, flushing has no effect, and to start
 * the program takes longer than most of a build. What is said of flushing asks for the real one by `flushing`.
 */
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, beforeAll } from 'vitest';

const { spawnSync } = childProcess;
const withoutSync = (...args: Parameters<typeof spawnSync>) =>
  args[0] === 'sync' ? { status: 0 } : spawnSync(...args);

function replaceSpawn(by: unknown): void {
  Reflect.set(childProcess, 'spawnSync', by);
  syncBuiltinESMExports();
}

beforeAll(() => replaceSpawn(withoutSync));
afterAll(() => replaceSpawn(spawnSync));

/** Call it at the top of a test file: it flushes. */
export const flushing = (): void => beforeAll(() => replaceSpawn(spawnSync));
