/** The encoders of the bulk downloads against the libraries that know the formats. */
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { stringify } from 'csv-stringify/sync';
import * as fc from 'fast-check';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { CellWriter, valuesOf, type Block, type Cell } from '../../../generator/exports/cells.js';
import { CsvEncoder } from '../../../generator/exports/csv.js';
import { GzipFile } from '../../../generator/publish/gzip.js';
import { ParquetEncoder } from '../../../generator/exports/parquet.js';
import { CODINGS } from '../../../generator/tree/codings.js';
import type { Value, ValueType } from '../../../generator/schema/shape.js';
import { temporary } from '../../support/folder.js';
import { NASTY } from '../../support/nasty.js';

const path = temporary();

const text = fc.oneof(
  fc.constantFrom(...NASTY, 'ß'.repeat(99)),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ unit: fc.constantFrom('"', ',', '\r', '\n', 'a', 'é', '😀'), maxLength: 8 }),
);
const integer = fc.oneof(fc.nat({ max: 9 }), fc.nat(), fc.maxSafeNat());
const time = fc
  .integer({ min: Date.UTC(0, 0, 1) / 1000, max: Date.UTC(9999, 11, 31) / 1000 })
  .map((seconds) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z'));

const CELLS: readonly (readonly [ValueType, fc.Arbitrary<Cell>])[] = [
  ['id', integer],
  ['ordinal', integer],
  ['count', integer],
  ['difference', fc.oneof(integer, fc.maxSafeInteger())],
  ['boolean', fc.constantFrom(0, 1)],
  ['time', time],
  ['text', text],
  ['enum', fc.constantFrom('present', 'deleted')],
];

const value = (name: string, type: ValueType, nullable: boolean): Value => ({
  name,
  type,
  nullable,
  description: '',
});

const VALUES = CELLS.flatMap(([type]) => [value(`${type}_needed`, type, false), value(type, type, true)]);

/** Rows of which only the values are known. */
interface Rows {
  readonly rows: number;
  readonly columns: readonly (readonly Cell[])[];
}

/** The rows as the encoders get them. */
function blockOf({ rows, columns }: Rows, values = VALUES): Block {
  const writer = new CellWriter();
  return {
    rows,
    columns: columns.map((cells, column) => writer.cellsOf(cells, values[column]?.type ?? 'text')),
  };
}

/** A block of all types, each once as required and once as nullable; the same few cells over and over, or not. */
const block = (minRows: number, maxRows: number): fc.Arbitrary<Rows> =>
  fc
    .tuple(fc.integer({ min: minRows, max: maxRows }), fc.integer({ min: 1, max: 40 }))
    .chain(([rows, distinct]) =>
      fc
        .tuple(
          ...CELLS.flatMap(([, cell]) => [
            fc.array(cell, { minLength: distinct, maxLength: distinct }),
            fc.array(fc.option(cell), { minLength: distinct, maxLength: distinct }),
          ]),
        )
        .map((columns) => ({
          rows,
          columns: columns.map((cells, column) =>
            Array.from(
              { length: rows },
              (_, row) => cells[(row * (column + 1)) % distinct] ?? cells[0] ?? null,
            ),
          ),
        })),
    );

/** A cell as the other library wants it, or hands it out. */
function meant(cell: Cell, type: ValueType): unknown {
  if (cell === null) return null;
  if (type === 'boolean') return cell === 1;
  return cell;
}

it('CellWriter finds room for texts of any length', () => {
  const texts = ['a'.repeat(100_000), null, '', 'ß'.repeat(300_000), '🦊'];
  expect(valuesOf(new CellWriter().cellsOf(texts, 'text'), 'text')).toEqual(texts);
});

it('CsvEncoder writes every row as csv-stringify does on its own, whatever the texts', () => {
  fc.assert(
    fc.property(block(1, 60), ({ rows, columns }) => {
      const lines = Buffer.from(new CsvEncoder(VALUES).lines(blockOf({ rows, columns }))).toString();
      const records = Array.from({ length: rows }, (_, row) =>
        columns.map((cells, column) => meant(cells[row] ?? null, VALUES[column]?.type ?? 'text')),
      );
      const expected = stringify(records, {
        record_delimiter: '\r\n',
        quoted_match: /^$/,
        quote_record_delimiter: true,
        cast: { boolean: (bit) => String(bit) },
      });
      expect(lines).toBe(expected);
    }),
    { numRuns: 300 },
  );
});

async function read(file: Uint8Array): Promise<Record<string, unknown>[]> {
  const exact = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });
  return parquetReadObjects({
    file: new Uint8Array(file).buffer,
    parsers: { stringFromBytes: (bytes?: Uint8Array) => bytes && exact.decode(bytes) },
  });
}

/** A value of Parquet as the cell it was made of. */
function cellOf(found: unknown): Cell {
  if (typeof found === 'bigint') return Number(found);
  if (typeof found === 'boolean') return found ? 1 : 0;
  if (found instanceof Date) return found.toISOString().replace('.000Z', 'Z');
  if (typeof found === 'string' || found === null) return found;
  throw new TypeError(`no cell: ${JSON.stringify(found)}`);
}

function encoded(blocks: readonly Rows[], values = VALUES): Uint8Array {
  const encoder = new ParquetEncoder(values);
  const groups = blocks.map((rows) => encoder.add(blockOf(rows, values)));
  return Buffer.concat([...groups, encoder.finish()]);
}

describe('ParquetEncoder', () => {
  it('writes what hyparquet reads as the very same cells, and bounds that hold', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(block(1, 300), { minLength: 1, maxLength: 3 }), async (blocks) => {
        const file = encoded(blocks);
        const rows = await read(file);
        for (const [column, { name }] of VALUES.entries()) {
          const cells = blocks.flatMap(({ columns }) => columns[column] ?? []);
          expect(rows.map((row) => cellOf(row[name]))).toEqual(cells);
        }
        const [group] = parquetMetadata(new Uint8Array(file).buffer).row_groups;
        for (const [column, { name, type }] of VALUES.entries()) {
          const statistics = group?.columns[column]?.meta_data?.statistics;
          const measured = blocks
            .flatMap(({ columns }) => columns[column] ?? [])
            .filter((cell) => cell !== null);
          const nulls = blocks.reduce((sum, { rows: count }) => sum + count, 0) - measured.length;
          expect(statistics?.null_count).toBe(BigInt(nulls));
          if (type === 'text' || type === 'enum' || measured.length === 0) continue;
          const ordered = measured.toSorted((a, b) => (a < b ? -1 : 1));
          expect([name, cellOf(statistics?.min_value), cellOf(statistics?.max_value)]).toEqual([
            name,
            ordered[0],
            ordered.at(-1),
          ]);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('gives up a dictionary where values are many, and loses none of them', async () => {
    const values = [value('id', 'id', false), value('name', 'text', true), value('at', 'time', true)];
    const rows = 5000;
    const of = (cell: (row: number) => Cell): Cell[] => Array.from({ length: rows }, (_, row) => cell(row));
    const columns = [
      of((row) => row * row + 1),
      // The same few in the beginning, then another each time.
      of((row) => (row % 7 === 0 ? null : `name ${row < 1500 ? row % 3 : row}`)),
      of((row) =>
        row % 5 === 0 ? null : new Date(1.7e12 + row * 61_000).toISOString().replace('.000Z', 'Z'),
      ),
    ];
    const file = encoded([{ rows, columns }], values);
    const found = await read(file);
    for (const [column, { name }] of values.entries())
      expect(found.map((row) => cellOf(row[name]))).toEqual(columns[column]);
  });

  it('says the bounds of the texts of each group, also of those written long before the end', () => {
    const rows = 250_000;
    const names = Array.from({ length: rows }, (_, row) => `name ${String(row).padStart(6, '0')}`);
    const starts = Array.from({ length: 25 }, (_, index) => index * 10_000);
    const file = encoded(
      starts.map((start) => ({ rows: 10_000, columns: [names.slice(start, start + 10_000)] })),
      [value('name', 'text', false)],
    );
    const groups = parquetMetadata(new Uint8Array(file).buffer).row_groups;
    // Readers of a few columns make a request for each column of each group.
    expect(groups.map(({ num_rows }) => Number(num_rows))).toEqual([100_000, 100_000, 50_000]);
    let first = 0;
    for (const { columns, num_rows } of groups) {
      const end = first + Number(num_rows);
      const { min_value, max_value } = columns[0]?.meta_data?.statistics ?? {};
      expect([min_value, max_value]).toEqual([names[first], names[end - 1]]);
      first = end;
    }
  });

  it('packs integers of any size and order as they are', async () => {
    const integers = fc.array(fc.oneof(fc.maxSafeInteger(), fc.integer(), fc.nat({ max: 3 })), {
      minLength: 1,
      maxLength: 700,
    });
    await fc.assert(
      fc.asyncProperty(integers, fc.constantFrom(1, 2 ** 10, 2 ** 31, 2 ** 40), async (cells, divisor) => {
        const smaller = cells.map((cell) => Math.trunc(cell / divisor));
        const file = encoded(
          [{ rows: smaller.length, columns: [smaller] }],
          [value('n', 'difference', false)],
        );
        expect((await read(file)).map(({ n }) => Number(n))).toEqual(smaller.map((cell) => cell + 0));
      }),
      { numRuns: 200 },
    );
  });
});

/** The file that is written in these pieces. */
function compressed(pieces: readonly Uint8Array[]): Buffer {
  const file = path('file.gz');
  const gzip = new GzipFile(file);
  for (const piece of pieces) gzip.write(piece);
  gzip.finish();
  return readFileSync(file);
}

describe('GzipFile', () => {
  it('compresses pieces of any size to what gunzip makes whole again, and always to the same bytes', () => {
    const pieces = fc.array(fc.tuple(fc.nat({ max: 150_000 }), fc.nat({ max: 255 })), { maxLength: 6 });
    fc.assert(
      fc.property(pieces, (sizes) => {
        const written = sizes.map(([size, step]) =>
          Buffer.from(Array.from({ length: size }, (_, at) => (at * step) % 251)),
        );
        const whole = Buffer.concat(written);
        expect(gunzipSync(compressed(written)).equals(whole)).toBe(true);
        expect(compressed([whole]).equals(compressed(written))).toBe(true);
      }),
      { numRuns: 25 },
    );
  });

  it('has the same bytes whether its parts are written into it or appended', () => {
    const parts = fc.array(fc.array(fc.nat({ max: 90_000 }), { maxLength: 4 }), { maxLength: 4 });
    fc.assert(
      fc.property(parts, (sizes) => {
        const lines = sizes.map((part, at) => part.map((size) => `${at} `.repeat(size)));
        const [one, other, partFile] = [path('written.gz'), path('appended.gz'), path('part')];
        const [written, appended] = [new GzipFile(one), new GzipFile(other)];
        for (const part of lines) {
          const apart = new GzipFile(partFile, true);
          written.cut();
          for (const line of part) {
            written.line(line);
            apart.line(Buffer.from(line));
          }
          appended.append(apart.finishPart());
          expect(existsSync(partFile)).toBe(false);
        }
        const finished = appended.finish();
        expect(finished).toEqual(written.finish());
        expect(finished.rows).toBe(lines.flat().length);
        const file = readFileSync(other);
        expect(file.equals(readFileSync(one))).toBe(true);
        // Checks the sum and the length, too.
        const text = lines.flat().map((line) => `${line}\n`);
        expect(gunzipSync(file).equals(Buffer.from(text.join('')))).toBe(true);
      }),
      { numRuns: 25 },
    );
  });

  it('writes one member, whose header says neither when nor on which system it was made', () => {
    const text = Buffer.from(
      Array.from({ length: 20_000 }, (_, row) => `${row},name ${row % 97}\r\n`).join(''),
    );
    const file = compressed([text]);
    expect(file.subarray(0, 10)).toEqual(Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]));
    // It refuses whatever is not exactly one stream.
    const gz = CODINGS.find(({ suffix }) => suffix === '.gz');
    expect(gz?.decode(file, text.length).equals(text)).toBe(true);
  });
});
