/** Hash files and their patches, against plain maps. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HashFileReader, HashFileWriter, NO_HASH, entriesIn } from '../../../generator/tree/hash-file.js';
import type { Entry } from '../../../generator/tree/hash-file.js';
import { ALL_KEYS, PatchWriter, applyPatches } from '../../../generator/tree/patch.js';
import type { KeyRange } from '../../../generator/cursor.js';
import { temporary } from '../../support/folder.js';

const path = temporary();

const ENTRY_BYTES = 48;
/** Entries that a reader or writer has in memory at once. */
const BUFFERED = 4096;
const MAX = Number.MAX_SAFE_INTEGER;

/** The open files of this process, on Linux. */
const DESCRIPTORS = '/proc/self/fd';
const hasDescriptors = existsSync(DESCRIPTORS);

/** An entry as a value: its size and its hash in hex. */
type Value = `${number} ${string}`;
/** A hash file as a value. */
type Model = ReadonlyMap<number, Value>;

const valueOf = ({ bytes, hash }: Entry): Value => `${bytes} ${hash.toString('hex')}`;
const entryOf = (key: number, value: Value): Entry => {
  const [bytes, hash = ''] = value.split(' ');
  return { key, bytes: Number(bytes), hash: Buffer.from(hash, 'hex') };
};

const ascending = (model: Model): [number, Value][] => [...model].toSorted(([a], [b]) => a - b);

/** Writes a model as a hash file. */
function write(model: Model, file = path('hashes')): { readonly file: string; readonly sum: string } {
  const writer = new HashFileWriter(file);
  for (const [key, value] of ascending(model)) writer.add(entryOf(key, value));
  return { file, sum: writer.finish() };
}

// An entry's hash is valid until the next entry.
const read = (file: string): Model =>
  new Map(Array.from(entriesIn(file), (entry) => [entry.key, valueOf(entry)]));

function open(file: string, bufferEntries: number): HashFileReader {
  const reader = HashFileReader.open(file, bufferEntries);
  if (reader === undefined) throw new Error('no hash file');
  return reader;
}

const anyKey = fc.oneof(
  fc.maxSafeNat(),
  // Few, so that they meet.
  fc.nat(30),
  // Around every power of ten and of two, where lengths and halves change.
  fc
    .tuple(fc.integer({ min: 1, max: 15 }), fc.integer({ min: -1, max: 1 }))
    .map(([power, by]) => 10 ** power + by),
  fc
    .tuple(fc.integer({ min: 2, max: 53 }), fc.integer({ min: -2, max: -1 }))
    .map(([power, by]) => 2 ** power + by),
  fc.constantFrom(0, 2 ** 32, MAX),
);

const HASHES = ['a', 'b', 'c'].map((text) => createHash('sha256').update(text).digest('hex'));
/** Few values, so that many are the same; sizes up to 2^40. */
const anyValue = fc
  .tuple(fc.constantFrom(0, 7, 2 ** 32, 2 ** 40), fc.constantFrom(...HASHES))
  .map(([bytes, hash]): Value => `${bytes} ${hash}`);
/** Known to be damaged. */
const DAMAGED: Value = `7 ${NO_HASH.toString('hex')}`;

/** An entry of a file as it may be published: some are known to be damaged. */
const anyEntry = fc.tuple(
  anyKey,
  fc.oneof({ weight: 9, arbitrary: anyValue }, { weight: 1, arbitrary: fc.constant(DAMAGED) }),
);
const anyOld = fc
  .uniqueArray(anyEntry, { maxLength: 60, selector: ([key]) => key })
  .map((all): Model => new Map(all));

/** The keys cut into ranges that follow each other. */
const rangesAt = (cuts: readonly number[]): KeyRange[] => {
  const starts = [0, ...[...new Set(cuts)].filter((cut) => cut > 0).toSorted((a, b) => a - b)];
  return starts.map((low, index) => ({ low, high: (starts[index + 1] ?? MAX + 1) - 1 }));
};

const isIn =
  ({ low, high }: KeyRange) =>
  ([key]: readonly [number, unknown]): boolean =>
    key >= low && key <= high;

/** What becomes of each key that is in one of two models and not the same in both. */
const differences = (old: Model, next: Model): (readonly [number, Value | undefined])[] =>
  [...new Set([...old.keys(), ...next.keys()])]
    .filter((key) => old.get(key) !== next.get(key))
    .toSorted((a, b) => a - b)
    .map((key) => [key, next.get(key)]);

/** The content of a patch, in which what is gone is undefined; undefined where none was written. */
function patchAt(file: string): (readonly [number, Value | undefined])[] | undefined {
  if (!existsSync(file)) return undefined;
  return [...read(file)].map(([key, value]) => [
    key,
    value.endsWith(NO_HASH.toString('hex')) ? undefined : value,
  ]);
}

describe('a hash file', () => {
  it('hands on what is passed over as it lies in the file, and goes on with what follows', () => {
    fc.assert(
      fc.property(
        anyOld,
        fc.array(anyKey, { minLength: 1, maxLength: 6 }),
        fc.tuple(anyKey, anyKey),
        fc.integer({ min: 1, max: 5 }),
        (model, stops, [a, b], buffer) => {
          const { file } = write(model);
          const bytes = readFileSync(file);
          const reader = open(file, buffer);
          const range = { low: Math.min(a, b), high: Math.max(a, b) };
          reader.restrict(range);
          let left = ascending(model)
            .map(([key], at) => ({ key, piece: bytes.subarray(at * ENTRY_BYTES, (at + 1) * ENTRY_BYTES) }))
            .filter(({ key }) => isIn(range)([key, undefined]));
          for (const stop of [...stops.toSorted((x, y) => x - y), Number.POSITIVE_INFINITY]) {
            const pieces: Buffer[] = [];
            reader.passBelow(stop, (piece) => pieces.push(Buffer.from(piece)));
            const passed = left.filter(({ key }) => key < stop);
            const skipped = Buffer.concat(passed.map(({ piece }) => piece));
            expect(Buffer.concat(pieces).equals(skipped), `below ${stop}`).toBe(true);
            left = left.slice(passed.length);
            expect(reader.peekKey()).toBe(left[0]?.key);
            // A step by hand between two of them.
            if (left.length % 2 === 1) {
              reader.next();
              left = left.slice(1);
            }
          }
          expect(reader.peek()).toBeUndefined();
          reader.close();
        },
      ),
      { numRuns: 60 },
    );
  });

  it('finds the entry of a key, wherever it is read', () => {
    const { file } = write(new Map([1, 3, 2 ** 40].map((key) => [key, DAMAGED])));
    const reader = open(file, 1);
    reader.restrict({ low: 3, high: 3 });
    const keys = [0, 1, 2, 3, 4, 2 ** 40, 2 ** 40 + 1].filter((key) => reader.find(key)?.key === key);
    expect(keys).toEqual([1, 3, 2 ** 40]);
    expect(reader.peekKey()).toBe(3);
    expect(open(write(new Map()).file, 1).find(0)).toBeUndefined();
    expect(HashFileReader.open(path('none'))).toBeUndefined();
    expect([...entriesIn(path('none'))]).toEqual([]);
  });

  it('that gets shorter while it is read is an error', () => {
    const { file } = write(new Map([1, 2, 3].map((key) => [key, DAMAGED])));
    const reader = open(file, 1);
    expect(reader.peekKey()).toBe(1);
    truncateSync(file, ENTRY_BYTES);
    reader.next();
    expect(() => reader.peekKey()).toThrow('shorter than it was');
    reader.close();
  });
});

/** What is asked of a writer of patches, at ascending keys. */
interface Step {
  readonly does: 'put' | 'keep' | 'remove' | 'look' | 'keepBelow' | 'removeBelow';
  /** Of what is put. */
  readonly value: Value;
  readonly isForced: boolean;
}

const anyStep: fc.Arbitrary<Step> = fc.record({
  does: fc.oneof(
    fc.constant('put' as const),
    fc.constantFrom('keep' as const, 'remove', 'look', 'keepBelow', 'removeBelow'),
  ),
  value: anyValue,
  isForced: fc.boolean(),
});

/** Has a writer do a step. @returns what it answers */
function answer(writer: PatchWriter, key: number, { does, value, isForced }: Step): unknown {
  if (does === 'put') return writer.put(entryOf(key, value), isForced);
  if (does !== 'look') return writer[does](key);
  const old = writer.old(key);
  return old && valueOf(old);
}

/** A writer of patches in a few words: what is left of the old file, what is in the patch, what was said to be gone. */
class PlainPatch {
  readonly patch: (readonly [number, Value | undefined])[] = [];
  readonly gone: (readonly [number, Value])[] = [];
  #left: readonly (readonly [number, Value])[];

  constructor(old: Model, range: KeyRange) {
    this.#left = ascending(old).filter(isIn(range));
  }

  /** Passes over all entries below a key, which stay or are gone. */
  passBelow(key: number, isKept: boolean): void {
    const below = this.#left.filter(([each]) => each < key);
    this.#left = this.#left.slice(below.length);
    if (isKept) return;
    this.patch.push(...below.map(([each]) => [each, undefined] as const));
    this.gone.push(...below);
  }

  answer(key: number, { does, value, isForced }: Step): unknown {
    this.passBelow(key, does === 'keepBelow');
    if (does === 'keepBelow' || does === 'removeBelow') return undefined;
    const old = this.#left.find(([each]) => each === key)?.[1];
    if (does === 'look') return old;
    this.passBelow(key + 1, does !== 'remove');
    if (does !== 'put') return old !== undefined;
    if (!isForced && old === value) return 'unchanged';
    this.patch.push([key, value]);
    return old === undefined ? 'added' : 'changed';
  }
}

/** There is nothing to keep or to remove before something is put. */
const FIRST_STEPS = (['keepBelow', 'keep', 'remove', 'look', 'put'] as const).map(
  (does, key): [number, Step] => [key, { does, value: `7 ${HASHES[0] ?? ''}`, isForced: false }],
);

describe('a patch', () => {
  it('is what a few words say of it, range by range, and makes the next file of the one before', () => {
    fc.assert(
      fc.property(
        anyOld,
        fc.uniqueArray(fc.tuple(anyKey, anyStep), { maxLength: 40, selector: ([key]) => key }),
        fc.array(anyKey, { maxLength: 4 }),
        fc.boolean(),
        (old, steps, cuts, isWhole) => {
          // A first version has no file before.
          const file = isWhole && old.size === 0 ? undefined : write(old).file;
          // Half of the keys are the old file's.
          const keys = ascending(old).map(([key]) => key);
          const asked = new Map(
            steps.map(([key, step], index) => [index % 2 === 0 ? (keys[index] ?? key) : key, step]),
          );
          const sorted = [...asked].toSorted(([x], [y]) => x - y);
          const wanted: (readonly [number, Value | undefined])[] = [];
          const ranges = isWhole ? [ALL_KEYS] : rangesAt(cuts).slice(1);
          const parts = ranges.map((range) => {
            const patch = path('patch');
            const gone: [number, Value][] = [];
            const onGone = (entry: Entry): void => void gone.push([entry.key, valueOf(entry)]);
            const writer = new PatchWriter({ old: file, patch, range, onGone });
            const plain = new PlainPatch(old, range);
            for (const [key, step] of sorted.filter(isIn(range))) {
              const found = answer(writer, key, step);
              expect(found, `${step.does} ${key}`).toEqual(plain.answer(key, step));
            }
            writer.finish();
            plain.passBelow(Number.POSITIVE_INFINITY, false);
            expect(patchAt(patch)).toEqual(plain.patch.length === 0 ? undefined : plain.patch);
            expect(gone).toEqual(plain.gone);
            wanted.push(...plain.patch);
            return patch;
          });
          // What no patch speaks of stays, damaged or not.
          const next = new Map(old);
          for (const [key, value] of wanted) {
            if (value === undefined) next.delete(key);
            else next.set(key, value);
          }
          const patched: unknown[] = [];
          const made = path('next');
          const sum = applyPatches(file, parts, made, (entry, before) =>
            patched.push([entry?.key ?? before?.key, entry && valueOf(entry), before && valueOf(before)]),
          );
          expect(patched).toEqual(wanted.map(([key, value]) => [key, value, old.get(key)]));
          expect([...read(made)]).toEqual(ascending(next));
          expect(sum).toBe(write(next).sum);
          // Nobody wrote to the file before.
          expect(file && [...read(file)]).toEqual(file && ascending(old));
        },
      ),
      { numRuns: 300, examples: [[new Map(), FIRST_STEPS, [], true]] },
    );
  });

  it('of files that are larger than a buffer is no other', () => {
    const old = new Map(
      Array.from({ length: 3 * BUFFERED + 1 }, (_, index): [number, Value] => [
        2 * index,
        `7 ${HASHES[index % 3] ?? ''}`,
      ]),
    );
    const next = new Map(old);
    // Around the ends of buffers, and many in a row.
    for (const at of [BUFFERED - 1, BUFFERED, BUFFERED + 1, 2 * BUFFERED]) {
      next.set(2 * at - 1, `9 ${HASHES[0] ?? ''}`);
      next.set(2 * at, `9 ${HASHES[0] ?? ''}`);
      next.delete(2 * at + 2);
    }
    for (let at = 2 * BUFFERED + 9; at < 3 * BUFFERED - 9; at += 1) next.delete(2 * at);
    for (let at = 0; at < 2 * BUFFERED; at += 1) next.set(10 ** 6 + at, `1 ${HASHES[1] ?? ''}`);
    const { file } = write(old);
    const patch = path('patch');
    const writer = new PatchWriter({ old: file, patch });
    for (const [key, value] of ascending(next)) writer.put(entryOf(key, value));
    writer.finish();
    expect(patchAt(patch)).toEqual(differences(old, next));
    const made = path('next');
    expect(applyPatches(file, [patch], made)).toBe(write(next).sum);
    expect([...read(made)]).toEqual(ascending(next));
    // All that is kept goes through the writer in whole pieces.
    const kept = path('kept');
    expect(applyPatches(made, [], kept)).toBe(write(next).sum);
    expect(readFileSync(kept).equals(readFileSync(made))).toBe(true);
  });

  it.each(['put', 'keep', 'remove'] as const)('takes no key twice and none before another: %s', (does) => {
    for (const key of [4, 5]) {
      const writer = new PatchWriter({ old: write(new Map([[4, DAMAGED]])).file, patch: path('patch') });
      writer.put({ key: 5, bytes: 7, hash: NO_HASH });
      const step = { does, value: DAMAGED, isForced: false };
      expect(() => answer(writer, key, step)).toThrow('expected ascending keys');
      writer.close();
    }
  });

  it.skipIf(!hasDescriptors)('lets go of its files, complete or not, also where it can’t be applied', () => {
    const { file } = write(new Map([[1, DAMAGED]]));
    const before = readdirSync(DESCRIPTORS).length;
    for (const end of ['finish', 'close'] as const) {
      const writer = new PatchWriter({ old: file, patch: path('patch') });
      writer.put(entryOf(3, `7 ${HASHES[0] ?? ''}`));
      expect(readdirSync(DESCRIPTORS).length).toBe(before + 2);
      writer[end]();
      expect(readdirSync(DESCRIPTORS).length).toBe(before);
      // In any case it is closed again in the end.
      writer.close();
    }
    // A folder can be opened, and not be read.
    expect(() => applyPatches(file, [tmpdir()], path('next'))).toThrow('EISDIR');
    expect(readdirSync(DESCRIPTORS).length).toBe(before);
  });
});
