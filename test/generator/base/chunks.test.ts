/** Where chunks of keys begin: in TypeScript and in SQL. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { beginsChunk, beginsChunkSql } from '../../../generator/base/chunks.js';
import { openDatabase } from '../../../generator/base/sqlite/sqlite.js';

const MAX = Number.MAX_SAFE_INTEGER;
const keys = fc.oneof(fc.maxSafeNat(), fc.nat(100_000), fc.integer({ min: MAX - 1_000, max: MAX }));

/** The same in integers of any size. */
function begins(key: bigint, average: bigint): boolean {
  const prime = 67_108_859n;
  const mixed = ((key % prime) * 41_475_557n + (key / prime) * 25_214_903n) % prime;
  return (mixed ** 3n % prime) % average === 0n;
}

describe('beginsChunk', () => {
  it('is exact up to 2^53-1', () => {
    const tried = [...fc.sample(keys, 20_000), 0, 1, 67_108_858, 67_108_859, MAX];
    expect(tried.filter((key) => beginsChunk(key, 256) !== begins(BigInt(key), 256n))).toEqual([]);
  });

  it('says in SQL what it says here', () => {
    const database = openDatabase(':memory:');
    database.exec('CREATE TABLE keys (id INTEGER PRIMARY KEY)');
    const insert = database.prepare<[bigint]>('INSERT OR IGNORE INTO keys VALUES (?)');
    for (const key of [...fc.sample(keys, 20_000), 0, 1, 67_108_858, 67_108_859, MAX])
      insert.run(BigInt(key));
    const rows = database
      .prepare<[], [number, number]>(`SELECT id, ${beginsChunkSql('id', 32)} FROM keys`)
      .raw(true)
      .all();
    expect(rows.length).toBeGreaterThan(10_000);
    expect(rows.filter(([key, found]) => (found === 1) !== beginsChunk(key, 32))).toEqual([]);
    database.close();
  });
});
