import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ARCHIVE_PATTERN,
  archiveKey,
  archiveText,
  lastPart,
  numberedPart,
} from '../../../../generator/routes/keys.js';
import {
  DOCUMENT_ENTRIES,
  archive,
  type LinkedPart,
  type Rest,
} from '../../../../generator/outputs/feeds/archive.js';

interface Entry {
  readonly id: number;
  readonly measuredAt: string;
}

/** An entry of a day of 2026 (and the next years), by number. */
function entry(id: number, day: number): Entry {
  return { id, measuredAt: new Date(Date.UTC(2026, 0, 1 + day)).toISOString().replace('.000Z', 'Z') };
}

interface Archived {
  readonly parts: readonly LinkedPart<Entry>[];
  readonly rest: Rest<Entry>;
}

function archived(entries: readonly Entry[], most?: number): Archived {
  const parts: LinkedPart<Entry>[] = [];
  const run = archive(entries, entries.at(-1)?.measuredAt.slice(0, 7), most);
  for (let step = run.next(); ; step = run.next()) {
    if (step.done === true) return { parts, rest: step.value };
    parts.push(step.value);
  }
}

const idsOf = (entries: readonly Entry[]): number[] => entries.map((each) => each.id);
const textOf = ({ parts }: Archived): Record<string, number> =>
  Object.fromEntries(parts.map(({ key, entries }) => [archiveText(key), entries.length]));

/** So many entries on each of these days of the year. */
const days = (...counts: readonly (readonly [day: number, count: number])[]): Entry[] => {
  let index = 0;
  return counts.flatMap(([day, count]) => Array.from({ length: count }, () => entry((index += 1), day)));
};

describe('an archive', () => {
  it('has a part of the month that is not over once more than a part is there', () => {
    expect(textOf(archived(days([3, 200])))).toEqual({});
    expect(textOf(archived(days([3, 201])))).toEqual({ '2026-01-00001': 200 });
    expect(textOf(archived(days([3, 401])))).toEqual({ '2026-01-00001': 200, '2026-01-00002': 200 });
  });

  it('keeps the month’s own name for what ends it, even where that is full', () => {
    expect(textOf(archived(days([3, 400], [40, 1])))).toEqual({ '2026-01-00001': 200, '2026-01': 200 });
    expect(textOf(archived(days([3, 401], [40, 1])))).toEqual({
      '2026-01-00001': 200,
      '2026-01-00002': 200,
      '2026-01': 1,
    });
  });

  it('keeps only the newest documents, if so many are asked for', () => {
    const entries = days([3, 1050], [40, 1]);
    const [all, newest] = [archived(entries), archived(entries, 2)];
    expect(textOf(newest)).toEqual({ '2026-01-00005': 200, '2026-01': 50 });
    const [first, second] = all.parts.slice(-2);
    expect(newest).toEqual({ parts: [{ ...first, previous: undefined }, second], rest: all.rest });
    expect(archived(entries, 6)).toEqual(all);
  });

  /** Any number of days apart, in bursts that fill several documents. */
  const histories = fc
    .array(fc.tuple(fc.nat(40), fc.oneof(fc.nat(5), fc.integer({ min: 190, max: 450 }))), { maxLength: 12 })
    .map((steps) => {
      let day = 0;
      return days(...steps.map(([gap, count]) => [(day += gap), count] as const));
    });

  it('holds each entry once, and the current document what it does not hold', () => {
    fc.assert(
      fc.property(histories, (entries) => {
        const { parts, rest } = archived(entries);
        const inParts = parts.flatMap((part) => idsOf(part.entries));
        const all = idsOf(entries);
        expect(inParts).toEqual(all.slice(0, inParts.length));
        expect(idsOf(rest.newest)).toEqual(all.slice(-DOCUMENT_ENTRIES).toReversed());
        expect(all.length - inParts.length).toBeLessThanOrEqual(rest.newest.length);
        expect(rest.last).toBe(parts.at(-1)?.key);
        expect(parts.map(({ previous }) => previous)).toEqual(
          [undefined, ...parts.map(({ key }) => key)].slice(0, -1),
        );
        expect(parts.map(({ next }) => next)).toEqual([...parts.map(({ key }) => key), undefined].slice(1));
      }),
    );
  });

  it('never changes the entries of a document that was published', () => {
    fc.assert(
      fc.property(histories, fc.double({ min: 0, max: 1, noNaN: true }), (entries, share) => {
        const before = archived(entries.slice(0, Math.floor(share * entries.length)));
        const after = new Map(archived(entries).parts.map(({ key, entries }) => [key, idsOf(entries)]));
        for (const { key, entries } of before.parts) expect(after.get(key)).toEqual(idsOf(entries));
      }),
    );
  });
});

describe('archive keys', () => {
  const month = fc
    .tuple(fc.nat(9999), fc.integer({ min: 1, max: 12 }))
    .map(([year, month]) => `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}`);
  const key = fc
    .tuple(month, fc.integer({ min: 1, max: 99_999 }))
    .map(([month, part]) => (part === 99_999 ? lastPart(month) : numberedPart(month, part)));

  it('are as documented', () => {
    expect(archiveText(lastPart('2026-11'))).toBe('2026-11');
    expect(archiveText(numberedPart('2026-11', 2))).toBe('2026-11-00002');
    expect(archiveText(lastPart('0001-02'))).toBe('0001-02');
    expect(() => numberedPart('2026-11', 99_999)).toThrow('2026-11');
  });

  it('come back from their text, and stand in the order of their URLs', () => {
    fc.assert(
      fc.property(key, key, (a, b) => {
        expect(archiveText(a)).toMatch(new RegExp(`^${ARCHIVE_PATTERN}$`));
        expect(archiveKey(archiveText(a))).toBe(a);
        const [first, second] = [a, b].map((each) => `/feeds/groups/${archiveText(each)}.atom`);
        expect(first! < second!).toBe(a < b);
      }),
    );
  });
});
