/** The rows of an export from its last version: the lines of its CSV file, and changed records. */
import { chunksOf } from '../files.js';
import { END } from '../register/pages.js';
import { BLOCK_ROWS } from './blocks.js';
import { valuesOf } from './cells.js';
import type { Block, Cell, Cells } from './cells.js';
import { addCells, firstInteger, wholeLines } from './csv.js';
import type { CsvEncoder } from './csv.js';

const NO_BYTES = Buffer.alloc(0);
const NO_MORE = Number.POSITIVE_INFINITY;

/**
 * The same blocks as from the register, with what they have in common with the last version.
 * @param file the last version in CSV, intact
 * @param changed ids of changed records, ascending
 * @param fresh the rows of those that are still there
 */
export function* nextBlocks(
  file: string,
  changed: Iterable<number>,
  fresh: Generator<Block, void, undefined>,
  csv: CsvEncoder,
): Generator<Block, void, undefined> {
  const columns = Array.from({ length: csv.width }, () => new GrowingBytes());
  const lines = new GrowingBytes();
  const last = new LastLines(file);
  const records = new Records(fresh);
  let first = 0;
  let rows = 0;
  let differing = new Set<number>();
  const block = (): Block => {
    const made = {
      rows,
      columns: columns.map((column) => column.take()),
      last: { lines: lines.take(), first, differing },
    };
    first = last.row;
    rows = 0;
    differing = new Set();
    return made;
  };
  const keepRecord = (id: number): void => {
    for (; last.id === id; rows += 1) last.moveTo(lines, columns);
  };
  const keepBelow = function* (limit: number): Generator<Block> {
    while (last.id < limit) {
      keepRecord(last.id);
      if (rows >= BLOCK_ROWS) yield block();
    }
  };
  try {
    for (const id of changed) {
      yield* keepBelow(id);
      const before = rows;
      for (const bytes of [lines, ...columns]) bytes.mark();
      keepRecord(id);
      const record = records.take(id);
      rows = before + record.rows;
      lines.replaceMarked(record.rows === 0 ? NO_BYTES : csv.lines(record));
      for (const [index, column] of columns.entries())
        if (column.replaceMarked(record.columns[index] ?? NO_BYTES)) differing.add(index);
      if (rows >= BLOCK_ROWS) yield block();
    }
    yield* keepBelow(NO_MORE);
    if (rows > 0) yield block();
  } finally {
    last.close();
    // A connection can't be used for something else while a query is open.
    fresh.return();
  }
}

/** Reads the rows of a CSV file in order. */
class LastLines {
  readonly #chunks: Generator<Buffer, void, undefined>;
  #lines: Buffer = NO_BYTES;
  #at = 0;
  /** How many rows were read. */
  row = 0;
  /** The id of the next row's record. */
  id = 0;

  constructor(csv: string) {
    this.#chunks = wholeLines(chunksOf(csv));
    this.#fill();
    // The header.
    this.#at = this.#lines.indexOf('\n') + 1;
    this.#fill();
  }

  /** Appends the next row as a line, and its cells. */
  moveTo(lines: GrowingBytes, columns: readonly GrowingBytes[]): void {
    const end = addCells(this.#lines, this.#at, columns);
    lines.append(this.#lines, this.#at, end);
    this.#at = end;
    this.row += 1;
    this.#fill();
  }

  #fill(): void {
    if (this.#at === this.#lines.length) {
      this.#lines = this.#chunks.next().value ?? NO_BYTES;
      this.#at = 0;
    }
    this.id = this.#lines.length === 0 ? NO_MORE : firstInteger(this.#lines, this.#at);
  }

  close(): void {
    this.#chunks.return();
  }
}

/** Reads the rows of blocks record by record. */
class Records {
  readonly #blocks: Generator<Block, void, undefined>;
  #columns: readonly Cells[] = [];
  #ids: readonly Cell[] = [];
  #row = 0;
  #at: number[] = [];

  constructor(blocks: Generator<Block, void, undefined>) {
    this.#blocks = blocks;
  }

  /** The rows of a record; ids must ascend. */
  take(id: number): Block {
    if (this.#row === this.#ids.length) this.#readBlock();
    const from = this.#row;
    while (this.#ids[this.#row] === id) this.#row += 1;
    const rows = this.#row - from;
    const columns = this.#columns.map((cells, index) => {
      const start = this.#at[index] ?? 0;
      let end = start;
      for (let row = 0; row < rows; row += 1) end = cells.indexOf(END, end) + 1;
      this.#at[index] = end;
      return cells.subarray(start, end);
    });
    return { rows, columns };
  }

  #readBlock(): void {
    const { value } = this.#blocks.next();
    this.#columns = value?.columns ?? [];
    this.#ids = valuesOf(this.#columns[0] ?? NO_BYTES, 'id');
    this.#row = 0;
    this.#at = [];
  }
}

/** Bytes to which others are appended: lines, or the cells of a column. */
class GrowingBytes {
  #bytes = Buffer.allocUnsafeSlow(16 * 1024);
  #at = 0;
  #marked = 0;

  append(from: Buffer, start: number, end: number): void {
    this.#need(end - start);
    this.#at += from.copy(this.#bytes, this.#at, start, end);
  }

  /** Appends a cell. */
  add(from: Buffer, start: number, end: number): void {
    this.#need(end - start + 1);
    const bytes = this.#bytes;
    let to = this.#at;
    // Faster than a call that copies a few bytes.
    for (let at = start; at < end; at += 1) {
      bytes[to] = from[at] ?? 0;
      to += 1;
    }
    bytes[to] = END;
    this.#at = to + 1;
  }

  mark(): void {
    this.#marked = this.#at;
  }

  /** Puts bytes in place of those since the mark. @returns whether they differ */
  replaceMarked(by: Uint8Array): boolean {
    if (this.#bytes.subarray(this.#marked, this.#at).equals(by)) return false;
    this.#at = this.#marked;
    this.#need(by.length);
    this.#bytes.set(by, this.#at);
    this.#at += by.length;
    return true;
  }

  #need(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    this.#bytes = Buffer.concat([this.#bytes], 2 * this.#bytes.length + bytes);
  }

  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#at));
    this.#at = 0;
    return taken;
  }
}
