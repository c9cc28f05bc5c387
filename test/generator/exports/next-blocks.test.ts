/** Exports that are made from their last version, against those that are made of all rows. */
import { writeFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CellWriter } from '../../../generator/exports/cells.js';
import type { Block, Cell } from '../../../generator/exports/cells.js';
import { CsvEncoder } from '../../../generator/exports/csv.js';
import { LastParquet } from '../../../generator/exports/last-parquet.js';
import { nextBlocks } from '../../../generator/exports/next-blocks.js';
import { ParquetEncoder } from '../../../generator/exports/parquet.js';
import type { Value } from '../../../generator/schema/field.js';
import { temporary } from '../../support/folder.js';

const path = temporary();

const value = (name: string, type: Value['type']): Value => ({ name, type, nullable: true, description: '' });
const VALUES = [value('id', 'id'), value('text', 'text'), value('count', 'count'), value('at', 'time')];

/** The rows of each record, by id, without the id. */
type Records = ReadonlyMap<number, readonly (readonly Cell[])[]>;

const row = fc.tuple(
  fc.constantFrom('', '"', '""', 'a,b', '\n', '\r\n', '\r', 'ß🦊', '\ufeff', '"\n,"', 'plain', null),
  fc.option(fc.oneof(fc.nat({ max: 9 }), fc.maxSafeNat())),
  fc.constantFrom('2026-11-20T08:00:00Z', null),
);

/** Some records, and the same after changes: of their rows, their number, and of which there are. */
const change = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 9 }), row, row, fc.nat({ max: 150 }), fc.nat({ max: 19 })), {
    maxLength: 40,
  })
  .map((made) => {
    const [before, after] = [new Map<number, Cell[][]>(), new Map<number, Cell[][]>()];
    const changed: number[] = [];
    let id = 0;
    for (const [gap, one, other, more, kind] of made) {
      id += gap;
      const same = Array.from({ length: more + 1 }, (_, index) => [...(index % 3 === 0 ? other : one)]);
      if (kind < 5) changed.push(id);
      if (kind !== 0) before.set(id, same);
      // Added, removed, shorter, one other cell, or rendered though no cell of this table differs.
      if (kind === 2) after.set(id, same.slice(0, 1));
      else if (kind === 3) after.set(id, [[other[0], one[1], one[2]], ...same.slice(1)]);
      else if (kind !== 1) after.set(id, same);
    }
    return { before, after, changed };
  });

/** The rows as one block. */
function blockOf(records: Records): Block {
  const rows = [...records].flatMap(([id, own]) => own.map((cells) => [id, ...cells]));
  const writer = new CellWriter();
  const columns = VALUES.map(({ type }, index) =>
    writer.cellsOf(
      rows.map((cells) => cells[index] ?? null),
      type,
    ),
  );
  return { rows: rows.length, columns };
}

function parquet(blocks: readonly Block[], last?: LastParquet): Buffer {
  const encoder = new ParquetEncoder(VALUES, last);
  const groups = blocks.map((block) => encoder.add(block));
  return Buffer.concat([...groups, encoder.finish()]);
}

function* freshBlocks({
  after,
  changed,
}: {
  after: Records;
  changed: readonly number[];
}): Generator<Block, void, undefined> {
  for (const id of changed) {
    const own = after.get(id);
    if (own !== undefined) yield blockOf(new Map([[id, own]]));
  }
}

describe('an export made from its last version', () => {
  it('has the cells, the lines and the Parquet file of one that is made of all rows', () => {
    let copied = 0;
    const csv = new CsvEncoder(VALUES);
    fc.assert(
      fc.property(change, ({ before, after, changed }) => {
        const [old, all] = [blockOf(before), blockOf(after)];
        const file = path('last.csv');
        writeFileSync(file, Buffer.concat([csv.header(), csv.lines(old)]));
        const lastParquet = path('last.parquet');
        writeFileSync(lastParquet, parquet([old]));
        const next = [...nextBlocks(file, changed, freshBlocks({ after, changed }), csv)];
        expect(next.reduce((sum, { rows }) => sum + rows, 0)).toBe(all.rows);
        for (const { rows } of next.slice(0, -1)) expect(rows).toBeGreaterThanOrEqual(1000);
        for (const index of VALUES.keys())
          expect(
            Buffer.concat(next.map(({ columns }) => columns[index] ?? Buffer.of())).equals(
              all.columns[index] ?? Buffer.of(),
            ),
          ).toBe(true);
        const lines = Buffer.concat(next.map(({ last }) => last?.lines ?? Buffer.of()));
        expect(lines.toString()).toBe(Buffer.from(csv.lines(all)).toString());
        const last = new LastParquet(lastParquet);
        const chunk = last.chunk.bind(last);
        last.chunk = (meta) => {
          copied += 1;
          return chunk(meta);
        };
        expect(parquet(next, last).equals(parquet([all]))).toBe(true);
        last.close();
      }),
      { numRuns: 200 },
    );
    // Otherwise nothing was proved about column chunks that are copied.
    expect(copied).toBeGreaterThan(20);
  });
});
