/** Comparing documents and fingerprints with the published ones, and applying what differs, against plain maps. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KeyRange } from '../../../generator/base/cursor.js';
import { openDatabase } from '../../../generator/base/sqlite/sqlite.js';
import { Comparer, type Comparison } from '../../../generator/state/compare.js';
import { ALL_KEYS, type Entry, type EntryTable } from '../../../generator/state/documents.js';
import { NextState, createDifferences } from '../../../generator/state/next.js';
import { RebuiltState } from '../../../generator/state/rebuilt.js';
import { State, type StateRoute } from '../../../generator/state/state.js';
import { DIGEST_CHUNK, beginsChunk } from '../../../generator/tree/chunks.js';
import { NO_HASH } from '../../../generator/tree/measure.js';
import { temporary } from '../../support/folder.js';
import { isThorough } from '../../support/thorough.js';

const path = temporary();

const MAX = Number.MAX_SAFE_INTEGER;

/** The open files of this process, on Linux. */
const DESCRIPTORS = '/proc/self/fd';
const hasDescriptors = existsSync(DESCRIPTORS);

/** An entry as a value: its size and its hash in hex. */
type Value = `${number} ${string}`;
/** A list as a value. */
type Model = ReadonlyMap<number, Value>;

const valueOf = ({ bytes, hash }: Pick<Entry, 'bytes' | 'hash'>): Value => `${bytes} ${hash.toString('hex')}`;
const entryOf = (key: number, value: Value): Entry => {
  const [bytes, hash = ''] = value.split(' ');
  return { key, bytes: Number(bytes), hash: Buffer.from(hash, 'hex') };
};
const ascending = (model: Model): [number, Value][] => [...model].toSorted(([a], [b]) => a - b);

/** The list that is compared, between two others. */
const [BELOW, ID, ABOVE] = [6, 7, 8];
const OTHERS: Model = new Map<number, Value>([
  [0, `1 ${'ab'.repeat(32)}`],
  [MAX, `1 ${'cd'.repeat(32)}`],
]);
const routeOf = (id: number): StateRoute => ({
  id,
  route: { name: `r${id}`, path: `/${id}/{id}`, file: `${id}/{id}.json`, class: 'record' },
  pages: [],
  isFormer: false,
});

/** Makes a state that has a model as documents and as fingerprints, and other lists. */
function stateOf(model: Model): string {
  const file = path('state.sqlite');
  using state = RebuiltState.open(file);
  const lists = [
    [BELOW, OTHERS],
    [ID, model],
    [ABOVE, OTHERS],
  ] as const;
  const fingerprint = state.database.prepare('INSERT INTO fingerprint VALUES (?, ?, ?, ?)');
  for (const [id, entries] of lists) {
    const add = state.addRoute(id, routeOf(id).route, []);
    for (const [key, value] of ascending(entries)) {
      const entry = entryOf(key, value);
      add(entry);
      fingerprint.run(id, key, entry.bytes, entry.hash);
    }
  }
  state.finish({ tree: { id: '' }, sequence: 1 }, {}, []);
  return file;
}

/** What a connection sees of the list. */
const read = ({ database }: State, table: EntryTable = 'document'): [number, Value][] =>
  database
    .prepare<[number], Entry>(
      `SELECT key, bytes, hash FROM ${table} WHERE ${table === 'document' ? 'route' : 'source'} = ? ORDER BY key`,
    )
    .all(ID)
    .map((entry) => [entry.key, valueOf(entry)]);

/** What becomes of a key: nothing is left of it without a value. Documents have files, and had. */
type Difference = readonly [key: number, value: Value | undefined, files?: number, replaced?: number];

/** What was found to differ, by a connection of its own. */
function differencesIn(file: string, table: EntryTable): Difference[] {
  interface Row {
    readonly key: number;
    readonly bytes: number | null;
    readonly hash: Buffer | null;
    readonly files?: number;
    readonly replaced?: number;
  }
  using database = openDisposable(file);
  const rows = database.rows<Row>(`SELECT * FROM ${table} ORDER BY key`);
  return rows.map(({ key, bytes, hash, files, replaced }) => {
    const value = bytes === null || hash === null ? undefined : valueOf({ bytes, hash });
    return files === undefined ? [key, value] : [key, value, files, replaced ?? -1];
  });
}

function openDisposable(file: string) {
  const database = openDatabase(file, { readonly: true });
  return {
    rows: <T>(sql: string): T[] => database.prepare<[], T>(sql).all(),
    [Symbol.dispose]: () => void database.close(),
  };
}

function newDifferences(): string {
  const file = path('differences.sqlite');
  createDifferences(file);
  return file;
}

/** Keys at which a chunk of the digest begins. */
const BEGINS = Array.from({ length: 20_000 }, (_, key) => key).filter((key) =>
  beginsChunk(key, DIGEST_CHUNK),
);
/** Some of them, and their neighbours. */
const STARTS = BEGINS.slice(0, 12).flatMap((key) => [key, key, key + 1]);

const anyKey = fc.oneof(
  fc.maxSafeNat(),
  // Few, so that they meet.
  fc.nat(30),
  fc.constantFrom(...STARTS),
  fc.constantFrom(0, 2 ** 32, MAX),
);

// SQL joins hashes as text: none of their bytes may be lost on the way.
const HASHES = [
  ...['a', 'b'].map((text) => createHash('sha256').update(text).digest('hex')),
  `00ff${'2c'.repeat(14)}c328${'00'.repeat(14)}`,
];
/** Few values, so that many are the same; sizes up to 2^40. */
const anyValue = fc
  .tuple(fc.constantFrom(0, 7, 2 ** 32, 2 ** 40), fc.constantFrom(...HASHES))
  .map(([bytes, hash]): Value => `${bytes} ${hash}`);
/** Known to be damaged. */
const DAMAGED: Value = `7 ${NO_HASH.toString('hex')}`;

/** An entry as it may be published: some are known to be damaged. */
const anyEntry = fc.tuple(
  anyKey,
  fc.oneof({ weight: 9, arbitrary: anyValue }, { weight: 1, arbitrary: fc.constant(DAMAGED) }),
);
/** More entries than are read at once, and documents than are kept in memory if all of them differ. */
const MANY: Model = new Map(
  Array.from({ length: 9000 }, (_, index) => [3 * index, `${index} ${HASHES[index % 3] ?? ''}`]),
);
const anyOld: fc.Arbitrary<Model> = fc.oneof(
  {
    weight: 30,
    arbitrary: fc
      .uniqueArray(anyEntry, { maxLength: 60, selector: ([key]) => key })
      .map((all): Model => new Map(all)),
  },
  { weight: 1, arbitrary: fc.constant(MANY) },
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

/** What is asked of a comparison, at ascending keys. */
interface Step {
  readonly does: 'put' | 'keep' | 'remove' | 'look' | 'keepBelow' | 'removeBelow';
  /** Of what is put, unless that is what is published. */
  readonly value: Value;
  readonly isSame: boolean;
}

const anyStep: fc.Arbitrary<Step> = fc.record({
  does: fc.oneof(
    fc.constant('put' as const),
    fc.constantFrom('keep' as const, 'remove', 'look', 'keepBelow', 'removeBelow'),
  ),
  value: anyValue,
  isSame: fc.boolean(),
});

/** Has a comparison do a step. @returns what it answers */
function answer(comparison: Comparison, key: number, { does, value }: Step): unknown {
  if (does === 'put') return comparison.put(entryOf(key, value));
  if (does !== 'look') return comparison[does](key);
  const old = comparison.old(key);
  return old && valueOf(old);
}

/** How many files a document of a size has, and had: larger ones have siblings now that they had not. */
interface Files {
  readonly filesOf: (bytes: number) => number;
  readonly filesBefore: (bytes: number) => number;
}
const SAME: Files = { filesOf: (bytes) => (bytes > 7 ? 3 : 1), filesBefore: (bytes) => (bytes > 7 ? 3 : 1) };
const MORE: Files = { ...SAME, filesBefore: (bytes) => (bytes > 2 ** 32 ? 3 : 1) };

const bytesOf = (value: Value): number => entryOf(0, value).bytes;

/** A comparison in a few words: what is left of the old entries, what differs, what was said to be gone. */
class PlainComparison {
  readonly differences: Difference[] = [];
  readonly gone: (readonly [number, Value])[] = [];
  readonly #files: Files | undefined;
  #left: readonly (readonly [number, Value])[];

  constructor(old: Model, range: KeyRange, files: Files | undefined) {
    this.#left = ascending(old).filter(isIn(range));
    this.#files = files;
  }

  #differs(key: number, value: Value | undefined, old: Value | undefined): void {
    const files = this.#files;
    const [has, had] = [
      value === undefined ? 0 : (files?.filesOf(bytesOf(value)) ?? 0),
      old === undefined ? 0 : (files?.filesBefore(bytesOf(old)) ?? 0),
    ];
    this.differences.push(files === undefined ? [key, value] : [key, value, has, had]);
  }

  /** Passes over all entries below a key, which stay or are gone. */
  passBelow(key: number, isKept: boolean): void {
    const below = this.#left.filter(([each]) => each < key);
    this.#left = this.#left.slice(below.length);
    if (isKept) return;
    for (const [each, old] of below) this.#differs(each, undefined, old);
    this.gone.push(...below);
  }

  answer(key: number, { does, value }: Step): unknown {
    this.passBelow(key, does === 'keepBelow');
    if (does === 'keepBelow' || does === 'removeBelow') return undefined;
    const old = this.#left.find(([each]) => each === key)?.[1];
    if (does === 'look') return old;
    this.passBelow(key + 1, does !== 'remove');
    if (does !== 'put') return old !== undefined;
    const isRecoded =
      old !== undefined && this.#files?.filesOf(bytesOf(value)) !== this.#files?.filesBefore(bytesOf(old));
    if (old === value && !isRecoded) return 'unchanged';
    this.#differs(key, value, old);
    return old === undefined ? 'added' : 'changed';
  }
}

/** There is nothing to keep or to remove before something is put. */
const FIRST_STEPS = (['keepBelow', 'keep', 'remove', 'look', 'put'] as const).map(
  (does, key): [number, Step] => [key, { does, value: `7 ${HASHES[0] ?? ''}`, isSame: false }],
);

/** A model, with what differs applied to it. */
function applied(old: Model, differences: readonly Difference[]): Model {
  const next = new Map(old);
  for (const [key, value] of differences) {
    if (value === undefined) next.delete(key);
    else next.set(key, value);
  }
  return next;
}

/** Of a model that is published as a whole. */
function digestOf(model: Model): string {
  using state = State.read(stateOf(model));
  if (state === undefined) throw new Error('no state');
  return state.digest;
}

describe('a comparison', () => {
  it('is what a few words say of it, range by range, and makes the next state of the one before', () => {
    fc.assert(
      fc.property(
        anyOld,
        fc.uniqueArray(fc.tuple(anyKey, anyStep), { maxLength: 40, selector: ([key]) => key }),
        fc.array(anyKey, { maxLength: 4 }),
        fc.record({
          table: fc.constantFrom<EntryTable>('document', 'fingerprint'),
          isWhole: fc.boolean(),
          isMore: fc.boolean(),
          isOwn: fc.boolean(),
        }),
        (old, steps, cuts, { table, isWhole, isMore, isOwn }) => {
          const file = stateOf(old);
          const differences = newDifferences();
          using next = NextState.begin(file, differences);
          // Half of the keys are published ones.
          const keys = ascending(old).map(([key]) => key);
          const place = (index: number): number => (old === MANY ? index * 219 : index);
          const asked = new Map(
            steps.map(([any, step], index) => {
              const key = index % 2 === 0 ? (keys[place(index)] ?? any) : any;
              return [key, { ...step, value: (step.isSame ? old.get(key) : undefined) ?? step.value }];
            }),
          );
          const sorted = [...asked].toSorted(([x], [y]) => x - y);
          const wanted: Difference[] = [];
          const files = table === 'fingerprint' ? undefined : isMore ? MORE : SAME;
          // A route that is new has no entries before.
          const isPublished = !isWhole || old.size > 0;
          for (const range of isWhole ? [ALL_KEYS] : rangesAt(cuts).slice(1)) {
            const gone: [number, Value][] = [];
            const onGone = (entry: Entry): void => void gone.push([entry.key, valueOf(entry)]);
            using comparer = new Comparer({ state: file, differences }, isOwn ? next.database : undefined);
            const comparison = comparer.compare(table, ID, { isPublished, range, onGone, ...files });
            const plain = new PlainComparison(old, range, files);
            for (const [key, step] of sorted.filter(isIn(range)))
              expect(answer(comparison, key, step), `${step.does} ${key}`).toEqual(plain.answer(key, step));
            comparison.removeBelow();
            comparer.finish();
            plain.passBelow(Number.POSITIVE_INFINITY, false);
            expect(gone).toEqual(plain.gone);
            wanted.push(...plain.differences);
          }
          expect(differencesIn(differences, table)).toEqual(wanted);
          // What nothing is said of stays, damaged or not.
          const model = applied(old, wanted);
          const isGone = ([, value]: Difference): boolean => value === undefined;
          const isNew = ([key]: Difference): boolean => !old.has(key);
          const [removed, added] = [wanted.filter(isGone).length, wanted.filter(isNew).length];
          const changed = wanted.length - removed - added;
          const isOfDocuments = table === 'document';
          const counts = isOfDocuments
            ? { added, changed, removed, unchanged: old.size - removed - changed }
            : { added: 0, changed: 0, removed: 0, unchanged: old.size };
          expect(next.changesOf({ id: ID })).toEqual(counts);
          if (isOfDocuments) next.apply(routeOf(ID));
          else next.applySource(ID, 'source', true);
          expect(next.digest).toBe(digestOf(isOfDocuments ? model : old));
          expect(next.isWhole, 'leaves, numbers and sizes of chunks').toBe(true);
          expect(read(next, table)).toEqual(ascending(model));
          // Others see what is published.
          using published = State.read(file);
          expect(published && read(published, table)).toEqual(ascending(old));
        },
      ),
      {
        numRuns: isThorough ? 400 : 100,
        examples: [
          [new Map(), FIRST_STEPS, [], { table: 'document', isWhole: true, isMore: false, isOwn: false }],
          // All but a few are gone; a few differ.
          [MANY, FIRST_STEPS, [], { table: 'document', isWhole: true, isMore: false, isOwn: false }],
          [MANY, FIRST_STEPS, [5, 9], { table: 'document', isWhole: false, isMore: true, isOwn: false }],
        ],
      },
    );
  });

  it('of a few among many leaves the chunks that its documents have', () => {
    const file = stateOf(MANY);
    const few = fc.uniqueArray(fc.oneof(fc.nat(27_000), fc.constantFrom(...BEGINS)), { maxLength: 40 });
    fc.assert(
      fc.property(few, fc.constantFrom('change', 'remove', 'any'), (keys, does) => {
        const model = new Map(MANY);
        for (const key of keys)
          if (does === 'change') model.set(key - (key % 3), `${key} ${HASHES[key % 3] ?? ''}`);
          else if (does === 'remove' || key % 2 === 0) model.delete(key);
          else model.set(key, `7 ${HASHES[0] ?? ''}`);
        const differences = newDifferences();
        using comparer = new Comparer({ state: file, differences });
        const comparison = comparer.compare('document', ID, { isPublished: true, ...SAME });
        for (const [key, value] of ascending(model)) comparison.put(entryOf(key, value));
        comparison.removeBelow();
        comparer.finish();
        using next = NextState.begin(file, differences);
        next.apply(routeOf(ID));
        expect(next.digest).toBe(digestOf(model));
        expect(next.isWhole, 'leaves, numbers and sizes of chunks').toBe(true);
      }),
      { numRuns: isThorough ? 100 : 12 },
    );
  });

  it.each(['put', 'keep', 'remove'] as const)('takes no key twice and none before another: %s', (does) => {
    for (const key of [4, 5]) {
      using comparer = new Comparer({
        state: stateOf(new Map([[4, DAMAGED]])),
        differences: newDifferences(),
      });
      const comparison = comparer.compare('document', ID, { isPublished: true });
      comparison.put(entryOf(5, DAMAGED));
      expect(() => answer(comparison, key, { does, value: DAMAGED, isSame: false })).toThrow(
        'expected ascending keys',
      );
    }
  });

  it.skipIf(!hasDescriptors)('lets go of its files, complete or not', () => {
    const [state, differences] = [stateOf(new Map([[1, DAMAGED]])), newDifferences()];
    const before = readdirSync(DESCRIPTORS).length;
    for (const isComplete of [true, false]) {
      const comparer = new Comparer({ state, differences });
      comparer.compare('document', ID, { isPublished: true }).put(entryOf(3, DAMAGED));
      if (isComplete) comparer.finish();
      expect(readdirSync(DESCRIPTORS).length).toBeGreaterThan(before);
      comparer.close();
      expect(readdirSync(DESCRIPTORS).length).toBe(before);
    }
  });
});
