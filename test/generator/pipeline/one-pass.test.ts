/** A build reads a record once: what a thread finds out about a shard, and what it does then. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { build } from '../../../generator/pipeline/build.js';
import { buildConfig } from '../../../generator/config/config.js';
import { CountedPool, OPERATOR, effectsAt, published } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { changeRegister, writeRegister } from '../../support/register.js';

const path = temporary();

async function watched(flags: Readonly<Record<string, unknown>>) {
  let pool: CountedPool | undefined;
  const startPool = (file: string, notMeasured: readonly string[]) =>
    (pool = new CountedPool(file, notMeasured));
  const effects = { ...effectsAt('2026-12-02T00:00:00Z'), startPool };
  const result = await build(buildConfig({ operator: OPERATOR, ...flags }), effects);
  const of = (job: string) =>
    pool?.jobs.flatMap(({ name, documents }) => (name === job ? [documents] : [])) ?? [];
  return { result, shards: of('shard'), checks: of('check') };
}

const register = (): string =>
  writeRegister(path('register.sqlite'), {
    groups: [{ id: 1 }, { id: 2 }, { id: 6 }],
    users: [{ id: 3, username: 'c' }],
    games: [{ id: 4 }],
    items: [{ id: 5 }],
  });

describe('a build', () => {
  it('takes each shard with one job, and checks nothing apart', async () => {
    const { shards, checks } = await watched({ register: register(), out: path('dist') });
    expect(shards).toHaveLength(4);
    expect(checks).toEqual([]);
  });

  it('renders no record after an invalid one, and then checks the whole register', async () => {
    const file = register();
    changeRegister(file, 'UPDATE groups SET member_count = -1 WHERE id = 2; UPDATE items SET price = -1');
    const { result, shards, checks } = await watched({ register: file, out: path('dist') });
    expect(result.published).toBe(false);
    expect(result.report.findings.map(({ table, count }) => [table, count])).toEqual([
      ['groups', 1],
      ['items', 1],
    ]);
    expect(shards).toEqual([0, 0, 0, 0]);
    expect(checks.length).toBeGreaterThan(20);
    expect(existsSync(path('dist'))).toBe(false);
  });

  it('finds a changed record that is invalid, and renders only what changed if it is left out', async () => {
    const file = register();
    const out = path('dist');
    await published({ register: file, out });
    changeRegister(file, 'UPDATE groups SET member_count = -1 WHERE id = 2; UPDATE items SET price = 7');
    const { result, shards, checks } = await watched({
      register: file,
      out,
      skipInvalid: true,
      acceptRemovals: true,
    });
    expect(result).toMatchObject({ published: true, excluded: { groups: 1 } });
    // One item has one document; the group is removed.
    expect(shards).toEqual([0, 0, 0, 1]);
    expect(checks).toEqual([]);
  });
});
