/** The files of a log: as the specification has them, and damaged ones. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { always, isThorough, it, oneIn } from '../../../support/thorough.js';
import {
  append,
  checkLog,
  entryAt,
  rootOf,
  type LogDamage,
} from '../../../../generator/programs/log/log-files.js';
import { EMPTY_HEAD } from '../../../../generator/programs/log/tlog/merkle.js';
import { temporary } from '../../../support/folder.js';
import { pathsBelow } from '../../../support/tree.js';
import { leafOf, nodeOf, rootOf as naiveHead, tilesOf } from './naive.js';
import { Comparisons, flips, grow, makeLog, refusal } from './support.js';

const path = temporary();
const filesOf = (folder: string): string[] => pathsBelow(folder, (entry) => entry.isFile());

const entries = Array.from({ length: 600 }, (_, index) => `entry ${index}`);

/** Beyond the first full tile; the full run goes beyond the second. */
const MOST = isThorough ? 600 : 270;

always(
  `a log of each size to ${MOST} has the tiles, bundles and root of RFC 6962, partial tiles until the full one`,
  () => {
    const folder = path('each');
    mkdirSync(folder);
    const comparisons = new Comparisons();
    const isThere = (file: string, content: Buffer): boolean =>
      readFileSync(join(folder, file)).equals(content);
    /** What must be there. */
    const expected = new Map<string, Buffer>();
    for (let size = 1; size <= MOST; size += 1) {
      const { root, files, size: grown } = grow(folder, size - 1, entries[size - 1]!);
      comparisons.add(grown === size, `the size ${size}`);
      comparisons.add(root.equals(naiveHead(entries.slice(0, size))), `the root of ${size}`);
      comparisons.add(rootOf(folder, size).equals(root), `the root by the tiles of ${size}`);
      for (const [file, content] of tilesOf(entries.slice(0, size))) {
        expected.set(file, content);
        if (files.has(file)) comparisons.add(isThere(file, content), `${file} at ${size}`);
        for (let width = 1; width < 256 && !file.includes('.p/'); width += 1)
          expected.delete(`${file}.p/${width}`);
      }
      comparisons.add(
        filesOf(folder).join() === [...expected.keys()].toSorted().join(),
        `the files at ${size}`,
      );
    }
    for (const [file, content] of expected) comparisons.add(isThere(file, content), `${file}, later`);
    expect(comparisons.wrong).toEqual([]);
  },
);

const repeated = (each: Buffer, times: number): Buffer =>
  Buffer.concat(Array.from({ length: times }, () => each));

it('a log of many levels grows at its right edge alone', () => {
  const folder = path('edge');
  const write = (file: string, bytes: Buffer): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), bytes);
  };
  // 2^24 - 1 equal entries: one less than what fills the first tile of level 2.
  const heads = [leafOf('x')];
  for (let level = 0; level < 24; level += 1) heads.push(nodeOf(heads[level]!, heads[level]!));
  write('tile/entries/x065/535.p/255', repeated(Buffer.from('\0\u0001x'), 255));
  write('tile/0/x065/535.p/255', repeated(heads[0]!, 255));
  write('tile/1/255.p/255', repeated(heads[8]!, 255));
  write('tile/2/000.p/255', repeated(heads[16]!, 255));
  write('tile/2/000.p/7', repeated(heads[16]!, 7));
  const { root, files, removed } = append(folder, 2 ** 24 - 1, Buffer.from('x'));
  expect(root).toEqual(heads[24]);
  expect([...files.keys()].toSorted()).toEqual([
    'tile/0/x065/535',
    'tile/1/255',
    'tile/2/000',
    'tile/3/000.p/1',
    'tile/entries/x065/535',
  ]);
  expect(files.get('tile/3/000.p/1')).toEqual(heads[24]);
  expect(removed).toEqual([
    'tile/entries/x065/535.p/255',
    'tile/0/x065/535.p/255',
    'tile/1/255.p/255',
    'tile/2/000.p/7',
    'tile/2/000.p/255',
  ]);
});

describe('appending', () => {
  it('takes entries of up to 65,535 bytes', () => {
    const folder = path('long');
    mkdirSync(folder);
    grow(folder, 0, Buffer.alloc(65_535, 'x'));
    grow(folder, 1, '');
    expect([...checkLog(folder, { size: 2, root: rootOf(folder, 2) })]).toEqual([]);
    expect(entryAt(folder, 2, 0)).toHaveLength(65_535);
    expect(refusal(() => append(folder, 2, Buffer.alloc(65_536)))).toMatch(/at most 65535 bytes/);
  });

  it('refuses with an altered entry, a tile that is cut, or none', () => {
    const folder = path('copy');
    makeLog(folder, entries.slice(0, 5));
    const refused = () => refusal(() => append(folder, 5, Buffer.from('x')));
    const [bundle, tile] = ['tile/entries/000.p/5', 'tile/0/000.p/5'];
    const bytes = readFileSync(join(folder, bundle), 'latin1');
    writeFileSync(join(folder, bundle), bytes.replace('entry 3', 'entry 8'), 'latin1');
    expect(refused()).toBe(
      `the log is damaged: ${tile} doesn't have the hashes of ${bundle} (see docs/signed-log.md)`,
    );
    writeFileSync(join(folder, bundle), bytes, 'latin1');
    writeFileSync(join(folder, tile), readFileSync(join(folder, tile)).subarray(0, -1));
    expect(refused()).toMatch(new RegExp(`^the log is damaged: ${tile} is altered, expected `));
    rmSync(join(folder, tile));
    expect(refused()).toBe(`the log is damaged: ${tile} is missing (see docs/signed-log.md)`);
  });
});

/** Damages without content. */
const namesOf = (damages: Iterable<LogDamage>): LogDamage[] =>
  [...damages].map(({ file, what }) => ({ file, what }));

describe('a damaged log', () => {
  const size = 258;
  const folder = path('damaged');
  const roots = makeLog(folder, entries.slice(0, size));

  always('is found to be so with any bit of any file flipped', () => {
    const small = path('small');
    makeLog(small, entries.slice(0, 4));
    const comparisons = new Comparisons();
    for (const file of filesOf(small)) {
      const bytes = readFileSync(join(small, file));
      for (const { at, bit, flipped } of oneIn(7, flips(bytes))) {
        writeFileSync(join(small, file), flipped);
        const found = [...checkLog(small, { size: 4, root: roots[4]! })];
        comparisons.add(found.length === 1 && found[0]?.file === file, `byte ${at}, bit ${bit} of ${file}`);
      }
      writeFileSync(join(small, file), bytes);
    }
    expect(comparisons.wrong).toEqual([]);
    expect([...checkLog(small, { size: 4, root: roots[4]! })]).toEqual([]);
  });

  const copied = (): string => {
    const copy = path('copy');
    cpSync(folder, copy, { recursive: true });
    return copy;
  };
  const checked = (copy: string): LogDamage[] => namesOf(checkLog(copy, { size, root: roots[size]! }));

  it('is found to be so without a file, but may lack partial tiles of other sizes', () => {
    const needed = tilesOf(entries.slice(0, size));
    for (const file of filesOf(folder)) {
      const copy = copied();
      rmSync(join(copy, file));
      expect(checked(copy)).toEqual(needed.has(file) ? [{ file, what: 'missing' }] : []);
    }
  });

  it('is not that of another checkpoint', () => {
    const altered = [{ file: 'checkpoint', what: 'altered' }];
    expect(namesOf(checkLog(folder, { size, root: roots[size - 1]! }))).toEqual(altered);
    expect(namesOf(checkLog(folder, { size: 0, root: roots[1]! }))).toEqual(altered);
    expect([...checkLog(folder, { size: 0, root: EMPTY_HEAD })]).toEqual([]);
  });

  it('has no known content if no source leads to the root', () => {
    const copy = copied();
    rmSync(join(copy, 'tile/entries/000'));
    const tile = readFileSync(join(copy, 'tile/0/000'));
    tile[77]! ^= 1;
    writeFileSync(join(copy, 'tile/0/000'), tile);
    // The tile above is right, but isn't that of the altered hash.
    expect([...checkLog(copy, { size, root: roots[size]! })]).toEqual([
      { file: 'tile/entries/000', what: 'missing' },
      { file: 'tile/1/000.p/1', what: 'altered' },
      { file: 'checkpoint', what: 'altered' },
    ]);
  });
});
