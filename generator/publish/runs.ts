/**
 * The ledger of a route as runs, one for each length of its keys: numbers of one length sort as text as they do by
 * value, so the paths of a run come out sorted.
 */
import { filler, numberAt, urlTemplate } from '../routes.js';
import { LedgerReader } from './ledger.js';
import type { PublishedRoute } from './manifest.js';

const LONGEST_KEY = String(Number.MAX_SAFE_INTEGER).length;
/** 256 entries, 12 KiB: a dozen routes of 16 runs each stay below 3 MB. */
const RUN_BUFFER_ENTRIES = 256;
/** What stands between a hash and a path. */
const GAP = '  ';
const ZERO = 48;
/** What follows the 9 in ASCII. */
const BEHIND_NINE = 58;

/** By exponent: they are asked for too often to compute them. */
const POWERS_OF_TEN = Array.from({ length: LONGEST_KEY }, (_, exponent) => 10 ** exponent);

/** A run, and a cursor in it that stands on a file. */
export class Run {
  readonly #reader: LedgerReader;
  readonly #url: (key: number) => string;
  /** Where the digits of the key are in the line; undefined where the path has no such number. */
  readonly #digits: { readonly start: number; readonly end: number } | undefined;
  #key: number;
  /**
   * The line of the file behind its hash: `  path LF`. Lines sort as their paths do, because LF is less than
   * whatever stands in a path where another ends.
   */
  #line: Buffer;

  constructor(reader: LedgerReader, template: string, firstKey: number) {
    this.#reader = reader;
    this.#url = filler(template);
    this.#key = firstKey;
    this.#line = this.#lineOf(firstKey);
    const at = numberAt(template);
    if (at === undefined) return;
    const start = GAP.length + at;
    this.#digits = { start, end: start + String(firstKey).length };
  }

  /** Paths are ASCII, and so are the bytes of their lines. */
  #lineOf(key: number): Buffer {
    return Buffer.from(`${GAP}${this.#url(key)}\n`, 'latin1');
  }

  isBefore(other: Run): boolean {
    const at = difference(this.#line, other.#line);
    return (this.#line[at] ?? 0) < (other.#line[at] ?? 0);
  }

  /**
   * Takes files that are before another run's, the one under the cursor first; that one has to be.
   * @returns whether the run goes on; if so, the next may still be before the other run's
   */
  takeBefore(other: Run | undefined, take: (reader: LedgerReader, line: Buffer) => void): boolean {
    const limit = this.#limit(other);
    do {
      take(this.#reader, this.#line);
      if (!this.#next()) return false;
    } while (this.#key < limit);
    return true;
  }

  /**
   * A key below which all of the run, from the cursor on, is before another run's file, which the file under the
   * cursor is.
   */
  #limit(other: Run | undefined): number {
    const digits = this.#digits;
    if (digits === undefined) return this.#key + 1;
    if (other === undefined) return Number.POSITIVE_INFINITY;
    const at = difference(this.#line, other.#line);
    // In front of the digits, all lines of the run are the same.
    if (at < digits.start) return Number.POSITIVE_INFINITY;
    // Behind them: the next number would be greater than the other's, which is the same.
    if (at >= digits.end) return this.#key + 1;
    // At a digit: all numbers are before the other's that begin as this one does and then have a lesser digit.
    const unit = POWERS_OF_TEN[digits.end - 1 - at] ?? 1;
    const more = Math.min(other.#line[at] ?? 0, BEHIND_NINE) - (this.#line[at] ?? 0);
    return this.#key - (this.#key % unit) + more * unit;
  }

  #next(): boolean {
    this.#reader.next();
    const key = this.#reader.peekKey();
    if (key === undefined) return false;
    if (this.#digits === undefined) this.#line = this.#lineOf(key);
    else add(this.#line, this.#digits.end, key - this.#key);
    this.#key = key;
    return true;
  }

  close(): void {
    this.#reader.close();
  }
}

/** The first byte that is another in one line than in the other. */
function difference(a: Buffer, b: Buffer): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

/** Adds to a number that is written in decimal digits, the last of them before `end`. */
function add(text: Buffer, end: number, more: number): void {
  for (let at = end - 1, carry = more; carry > 0; at -= 1) {
    const sum = (text[at] ?? 0) - ZERO + carry;
    carry = Math.floor(sum / 10);
    text[at] = ZERO + sum - 10 * carry;
  }
}

export function* runsOf(folder: string, route: PublishedRoute): Generator<Run> {
  const whole = LedgerReader.open(folder, route.name, 1);
  if (whole === undefined) return;
  const template = urlTemplate(route);
  let start = 0;
  for (let length = 1; length <= LONGEST_KEY; length += 1) {
    const end = length === LONGEST_KEY ? whole.size : whole.countBelow(10 ** length);
    const reader = end > start ? LedgerReader.open(folder, route.name, RUN_BUFFER_ENTRIES) : undefined;
    reader?.restrict({ start, end });
    const firstKey = reader?.peekKey();
    if (reader !== undefined && firstKey !== undefined) yield new Run(reader, template, firstKey);
    start = end;
  }
  whole.close();
}
