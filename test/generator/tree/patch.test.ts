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

const sha256 = (content: string | Buffer): Buffer => createHash('sha256').update(content).digest();

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

const HASHES = ['a', 'b', 'c'].map((text) => sha256(text).toString('hex'));
/** Few values, so that many are the same; sizes up to 2^40. */
const anyValue = fc
  .tuple(fc.constantFrom(0, 7, 2 ** 32, 2 ** 40), fc.constantFrom(...HASHES))
  .map(([bytes, hash]): Value => `${bytes} ${hash}`);
/** Known to be damaged. */
const DAMAGED: Value = `7 ${NO_HASH.toString('hex')}`;

const anyModel = (value: fc.Arbitrary<Value>): fc.Arbitrary<Model> =>
  fc
    .uniqueArray(fc.tuple(anyKey, value), { maxLength: 60, selector: ([key]) => key })
    .map((all) => new Map(all));

/** A file as it may be published: some entries are known to be damaged. */
const anyOld = anyModel(
  fc.oneof({ weight: 9, arbitrary: anyValue }, { weight: 1, arbitrary: fc.constant(DAMAGED) }),
);

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
          const keys = ascending(model).map(([key]) => key);
          const wanted = keys.filter((key) => isIn(range)([key, undefined]));
          let passed = 0;
          for (const stop of [...stops.toSorted((x, y) => x - y), Number.POSITIVE_INFINITY]) {
            const pieces: Buffer[] = [];
            reader.passBelow(stop, (piece) => pieces.push(Buffer.from(piece)));
            const below = wanted.filter((key) => key < stop).length;
            const start = keys.findIndex((key) => key === wanted[0]);
            const [from, to] = [start + passed, start + below].map((at) => at * ENTRY_BYTES);
            const skipped = below > passed ? bytes.subarray(from, to) : Buffer.alloc(0);
            expect(Buffer.concat(pieces).equals(skipped), `below ${stop}`).toBe(true);
            passed = Math.max(passed, below);
            expect(reader.peekKey()).toBe(wanted[passed]);
            // A step by hand between two of them.
            if (wanted[passed] !== undefined && passed % 2 === 0) {
              reader.next();
              passed += 1;
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
type Step =
  | { readonly does: 'put'; readonly value: Value; readonly isForced: boolean }
  | { readonly does: 'keep' | 'remove' | 'look' | 'keepBelow' | 'removeBelow' };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ does: fc.constant('put' as const), value: anyValue, isForced: fc.boolean() }),
  fc.record({ does: fc.constantFrom('keep', 'remove', 'look', 'keepBelow', 'removeBelow') }),
);

/** A writer of patches in a few words: what is left of the old file, what is in the patch, what was said to be gone. */
class PlainPatch {
  readonly patch: (readonly [number, Value | undefined])[] = [];
  readonly gone: [number, Value][] = [];
  #left: [number, Value][];

  constructor(old: Model, range: KeyRange) {
    this.#left = ascending(old).filter(isIn(range));
  }

  removeBelow(key: number): void {
    for (const [each, value] of this.#left.filter(([its]) => its < key)) {
      this.patch.push([each, undefined]);
      this.gone.push([each, value]);
    }
    this.keepBelow(key);
  }

  keepBelow(key: number): void {
    this.#left = this.#left.filter(([each]) => each >= key);
  }

  look(key: number): Value | undefined {
    this.removeBelow(key);
    return this.#left.find(([each]) => each === key)?.[1];
  }

  keep(key: number): boolean {
    const isThere = this.look(key) !== undefined;
    this.keepBelow(key + 1);
    return isThere;
  }

  remove(key: number): boolean {
    const isThere = this.look(key) !== undefined;
    this.removeBelow(key + 1);
    return isThere;
  }

  put(key: number, value: Value, isForced: boolean): string {
    const old = this.look(key);
    this.keepBelow(key + 1);
    if (!isForced && old === value) return 'unchanged';
    this.patch.push([key, value]);
    return old === undefined ? 'added' : 'changed';
  }
}

/** Does a step with both, and says what each answers. */
function answers(writer: PatchWriter, plain: PlainPatch, key: number, step: Step): [unknown, unknown] {
  switch (step.does) {
    case 'put':
      return [writer.put(entryOf(key, step.value), step.isForced), plain.put(key, step.value, step.isForced)];
    case 'keep':
      return [writer.keep(key), plain.keep(key)];
    case 'remove':
      return [writer.remove(key), plain.remove(key)];
    case 'look': {
      const old = writer.old(key);
      return [old && valueOf(old), plain.look(key)];
    }
    case 'keepBelow':
      return [writer.keepBelow(key), plain.keepBelow(key)];
    case 'removeBelow':
      return [writer.removeBelow(key), plain.removeBelow(key)];
  }
}

describe('a patch', () => {
  it('is what a few words say of it, range by range, and makes the next file of the one before', () => {
    fc.assert(
      fc.property(
        anyOld,
        fc.uniqueArray(fc.tuple(anyKey, anyStep), { maxLength: 40, selector: ([key]) => key }),
        fc.array(anyKey, { maxLength: 4 }),
        fc.boolean(),
        (old, steps, cuts, isWhole) => {
          const { file } = write(old);
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
              const [found, expected] = answers(writer, plain, key, step);
              expect(found, `${step.does} ${key}`).toEqual(expected);
            }
            writer.finish();
            plain.removeBelow(Number.POSITIVE_INFINITY);
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
          expect([...read(file)]).toEqual(ascending(old));
        },
      ),
      { numRuns: 300 },
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

  it('of a first version has nothing to keep or to remove, and makes a file of what is put', () => {
    const patch = path('patch');
    const writer = new PatchWriter({ old: undefined, patch });
    writer.keepBelow(1);
    expect([writer.keep(1), writer.remove(2), writer.old(3)]).toEqual([false, false, undefined]);
    expect(writer.put({ key: 4, bytes: 7, hash: sha256('new') })).toBe('added');
    writer.finish();
    const made = path('next');
    applyPatches(undefined, [patch], made);
    expect([...read(made)]).toEqual([[4, `7 ${sha256('new').toString('hex')}`]]);
  });

  it.each(['put', 'keep', 'remove'] as const)('takes no key twice and none before another: %s', (does) => {
    for (const key of [4, 5]) {
      const writer = new PatchWriter({ old: write(new Map([[4, DAMAGED]])).file, patch: path('patch') });
      writer.put({ key: 5, bytes: 7, hash: NO_HASH });
      const act = {
        put: () => writer.put(entryOf(key, DAMAGED)),
        keep: () => writer.keep(key),
        remove: () => writer.remove(key),
      };
      expect(() => act[does]()).toThrow('expected ascending keys');
      writer.close();
    }
  });

  it.skipIf(!hasDescriptors)('lets go of its files, complete or not', () => {
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
  });

  it.skipIf(!hasDescriptors)('that can’t be applied leaves no file open', () => {
    const { file } = write(new Map([[1, DAMAGED]]));
    const before = readdirSync(DESCRIPTORS).length;
    // A folder can be opened, and not be read.
    expect(() => applyPatches(file, [tmpdir()], path('next'))).toThrow('EISDIR');
    expect(readdirSync(DESCRIPTORS).length).toBe(before);
  });
});
