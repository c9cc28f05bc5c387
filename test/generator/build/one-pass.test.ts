/** A build reads a record once: what a thread finds out about a shard, and what it does then. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { build } from '../../../generator/build/build.js';
import type { Input, JobName, JobOutput } from '../../../generator/build/workers/jobs.js';
import type { Options } from '../../../generator/build/workers/pool.js';
import { buildConfig } from '../../../generator/config/config.js';
import { OPERATOR, effectsAt, published } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { InlinePool } from '../../support/inline-pool.js';
import { changeRegister, writeRegister } from '../../support/register.js';

const path = temporary();

/** A pool that keeps which jobs it ran, and how many documents of records each of them rendered. */
class WatchedPool extends InlinePool {
  readonly jobs: JobName[] = [];
  readonly rendered: number[] = [];

  override run<Name extends JobName>(
    name: Name,
    input: Input<Name>,
    options: Options = {},
  ): Promise<JobOutput<Name>> {
    const at = this.jobs.push(name) - 1;
    this.rendered[at] = 0;
    const onProgress = (steps: number): void => {
      this.rendered[at] = (this.rendered[at] ?? 0) + steps;
      options.onProgress?.(steps);
    };
    return super.run(name, input, { ...options, onProgress });
  }

  of(name: JobName): readonly (number | undefined)[] {
    return this.rendered.filter((_, at) => this.jobs[at] === name);
  }
}

async function watched(flags: Readonly<Record<string, unknown>>) {
  let pool: WatchedPool | undefined;
  const effects = {
    ...effectsAt('2026-12-02T00:00:00Z'),
    startPool: (file: string, notMeasured: readonly string[]) => (pool = new WatchedPool(file, notMeasured)),
  };
  const result = await build(buildConfig({ operator: OPERATOR, ...flags }), effects);
  if (pool === undefined) throw new TypeError('no pool was started');
  return { result, pool };
}

const register = (): string =>
  writeRegister(path('register.sqlite'), {
    groups: [{ id: 1 }, { id: 2 }],
    users: [{ id: 3, username: 'c' }],
    games: [{ id: 4 }],
    items: [{ id: 5 }],
  });

describe('a build', () => {
  it('takes each shard with one job, and checks nothing apart', async () => {
    const { pool } = await watched({ register: register(), out: path('dist') });
    expect(pool.of('shard')).toHaveLength(4);
    expect(pool.of('check')).toEqual([]);
  });

  it('renders no record after an invalid one, and then checks the whole register', async () => {
    const file = register();
    changeRegister(file, 'UPDATE groups SET member_count = -1 WHERE id = 2; UPDATE items SET price = -1');
    const { result, pool } = await watched({ register: file, out: path('dist') });
    expect(result.published).toBe(false);
    expect(result.report.findings.map(({ table, count }) => [table, count])).toEqual([
      ['groups', 1],
      ['items', 1],
    ]);
    expect(pool.of('shard')).toEqual([0, 0, 0, 0]);
    expect(pool.of('check').length).toBeGreaterThan(20);
    expect(existsSync(path('dist'))).toBe(false);
  });

  it('finds a changed record that is invalid, and renders only what changed if it is left out', async () => {
    const file = register();
    const out = path('dist');
    await published({ register: file, out });
    changeRegister(file, 'UPDATE groups SET member_count = -1 WHERE id = 2; UPDATE items SET price = 7');
    const { result, pool } = await watched({
      register: file,
      out,
      skipInvalid: true,
      acceptRemovals: true,
    });
    expect(result).toMatchObject({ published: true, excluded: { groups: 1 } });
    // One item has one document; the group is removed.
    expect(pool.of('shard')).toEqual([0, 0, 0, 1]);
    expect(pool.of('check')).toEqual([]);
  });
});
