/** Adds a log to a published tree by hand: files as they are named there, of contents that change. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { State } from '../../../../generator/state/state.js';
import { Tree } from '../../../../generator/tree/tree.js';
import { LOG_ROUTES } from '../../../../generator/routes/routes.js';
import { LONG, publish, type Documents } from '../../publish/small.js';
import { tilesOf as naiveTilesOf } from '../log/naive.js';
import { logFolder } from '../log/published.js';
import { hashesOf, sha256 } from '../../publish/support.js';
import { ROUTES, membersOf, single } from './routes.js';

/** The texts of the log's index, by name: uploads don't read them. */
type Index = Readonly<Record<string, string>>;

const month = { name: 'month', in: 'path', type: 'month', description: '' } as const;
const ARCHIVE = {
  ...single('archive', 'archive/{month}.json', 'record'),
  path: '/archive/{month}',
  parameters: [month],
};

const NOVEMBER = 20261199999;
export interface Version {
  readonly documents: Documents;
  readonly index: Index;
}
export const OLD: Version = {
  documents: { a: { 1: 'one', 5: 'five', 9: 'nine' }, archive: { [NOVEMBER]: 'x' }, page: { 0: LONG } },
  index: Object.fromEntries(
    'a/1 a/5 a/9 a/chunks-0 a/chunks-1 a/chunks archive/2026-11 archive/chunks-0 archive/chunks b/chunks routes'
      .split(' ')
      .map((name) => [name, name]),
  ),
};
const { 'a/9': _, 'a/chunks-1': __, ...kept } = OLD.index;
/** What changed of the index. */
export const CHANGED = ['a/5', 'a/chunks-0', 'a/chunks', 'routes'];
export const NEW: Version = {
  documents: { ...OLD.documents, a: { 1: 'one', 5: 'other' } },
  index: { ...kept, ...Object.fromEntries(CHANGED.map((name) => [name, 'changed'])) },
};

/** Publishes a version with a log of so many snapshots. @param kept see `writeLog` */
export async function publishSigned(
  out: string,
  { documents, index }: Version,
  size: number,
  kept?: readonly number[],
): Promise<void> {
  const before = hashesOf(out);
  // Without its key, no snapshot could be added to a log.
  rmSync(join(out, 'log'), { recursive: true, force: true });
  await publish(out, { routes: [...ROUTES, ARCHIVE, ...LOG_ROUTES], documents, members: membersOf() });
  writeLog(out, size, index, kept);
  const after = hashesOf(out);
  const changed = Object.keys({ ...before, ...after }).filter(
    (file) => file.startsWith('log/') && before[file] !== after[file],
  );
  recordSigned(out, changed);
}

/** Records files of the log that were put or deleted after a commit, as signing does. */
export function recordSigned(out: string, files: readonly string[]): void {
  using state = State.open(new Tree(out).database);
  state.recordOwnFiles(files.map((name) => ({ name, isPut: existsSync(join(out, name)), isCached: true })));
}

/**
 * Writes the log of some snapshots.
 * @param kept sizes at which there was a checkpoint, too, so that their partial tiles stay
 */
export function writeLog(out: string, size: number, index: Index, kept: readonly number[] = []): void {
  const folder = join(out, logFolder(out));
  rmSync(folder, { recursive: true, force: true });
  const write = (file: string, content: string): void => {
    const path = join(folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  };
  for (const each of [...kept, size])
    for (const file of tilesOf(each)) write(file, `${file.replace(/\.p.*/, '')} `.repeat(each % 256 || 256));
  for (const [name, text] of Object.entries(index)) write(`index/${name}.txt`, text);
  write('checkpoint', `register.example\n${size}\n${sha256(`${size}`)}\n\n\u2014 register.example AAAA\n`);
}

/** The tiles and bundles of entries that a checkpoint of a size needs. */
export const tilesOf = (size: number): string[] => [
  ...naiveTilesOf(Array.from({ length: size }, () => '')).keys(),
];
