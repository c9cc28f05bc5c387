import { readFileSync, readdirSync } from 'node:fs';
import { getPriority } from 'node:os';
import { describe, expect, it } from 'vitest';
import { Pool } from '../../generator/threads/pool.js';
import { WORKER } from '../support/build.js';
import { temporary } from '../support/folder.js';
import { writeRegister } from '../support/register.js';

const path = temporary();

/** How nice the threads of this process are, as far as they are nicer than the first. */
function nicer(): readonly number[] {
  return readdirSync(`/proc/${process.pid}/task`)
    .flatMap((task) => statOf(task) ?? [])
    .map((stat) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]) - getPriority(process.pid))
    .filter((difference) => difference !== 0);
}

/** Field 19 tells how nice it is (proc_pid_stat(5)). A thread may have ended since it was listed. */
function statOf(task: string): string | undefined {
  try {
    return readFileSync(`/proc/${process.pid}/task/${task}/stat`, 'utf8');
  } catch {
    return undefined;
  }
}

describe('the threads of a build', () => {
  // Niceness is that of a thread on Linux alone.
  it.runIf(process.platform === 'linux')('give way to the main one', async () => {
    expect(nicer()).toEqual([]);
    const pool = new Pool(WORKER, writeRegister(path('register.sqlite'), {}));
    try {
      await pool.opened();
      expect(nicer()).toEqual(pool.threads.map(() => Math.min(5, 19 - getPriority())));
    } finally {
      await pool.close();
    }
  });
});
