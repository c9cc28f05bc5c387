import { readFileSync, readdirSync } from 'node:fs';
import { getPriority } from 'node:os';
import { describe, expect, it } from 'vitest';
import { Pool } from '../../generator/threads/pool.js';
import { WORKER } from '../support/build.js';
import { temporary } from '../support/folder.js';
import { writeRegister } from '../support/register.js';

const path = temporary();

/** How nice the threads of this process are, as far as they are nicer than the first (proc_pid_stat(5): field 19). */
function nicer(): readonly number[] {
  const tasks = `/proc/${process.pid}/task`;
  return readdirSync(tasks)
    .map((task) => readFileSync(`${tasks}/${task}/stat`, 'utf8'))
    .map((stat) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]) - getPriority(process.pid))
    .filter((difference) => difference !== 0);
}

describe('the threads of a build', () => {
  // Niceness is that of a thread on Linux alone.
  it.runIf(process.platform === 'linux')('give way to the main one', async () => {
    expect(nicer()).toEqual([]);
    const pool = new Pool(WORKER, writeRegister(path('register.sqlite'), {}));
    try {
      await pool.opened();
      expect(nicer()).toEqual(pool.threads.map(() => 5));
    } finally {
      await pool.close();
    }
  });
});
