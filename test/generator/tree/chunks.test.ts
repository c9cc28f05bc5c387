/** Where chunks of keys begin: in TypeScript, in SQL and as docs/format.md says. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DIGEST_CHUNK, beginsChunk, beginsChunkSql } from '../../../generator/tree/chunks.js';
import { openDatabase } from '../../../generator/base/sqlite/sqlite.js';
import { endsChunk } from '../../support/published.js';

const MAX = Number.MAX_SAFE_INTEGER;
const keys = fc.oneof(fc.maxSafeNat(), fc.nat(100_000), fc.integer({ min: MAX - 1_000, max: MAX }));

describe('beginsChunk', () => {
  it('is exact up to 2^53-1', () => {
    const tried = [...fc.sample(keys, 20_000), 0, 1, 67_108_858, 67_108_859, MAX];
    expect(tried.filter((key) => beginsChunk(key, DIGEST_CHUNK) !== endsChunk(BigInt(key)))).toEqual([]);
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
    expect(rows.filter(([key, begins]) => (begins === 1) !== beginsChunk(key, 32))).toEqual([]);
    database.close();
  });
});
