/** Uploads of a signed tree: in which order files are written and deleted, so that no reader lacks one. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LOG_ROUTES } from '../../../../generator/routes/routes.js';
import { State } from '../../../../generator/state/state.js';
import { Tree } from '../../../../generator/tree/tree.js';
import { survive } from '../../publish/faults.js';
import { LONG, publish, type Documents } from '../../publish/small.js';
import { forgetRemotes } from '../../../support/state.js';
import { failureOf, hashesOf, sha256, temporary } from '../../publish/support.js';
import { tilesOf as naiveTilesOf } from '../log/naive.js';
import { logFolder } from '../log/published.js';
import { containing } from '../../../support/values.js';
import { memorySite } from './memory.js';
import { ROUTES, membersOf, single } from './routes.js';

/** The texts of the log's index, by name: uploads don't read them. */
type Index = Readonly<Record<string, string>>;

const id = { name: 'id', in: 'path', type: 'id', description: '' } as const;
const ARCHIVE = {
  ...single('archive', 'archive/{id}.json', 'record'),
  path: '/archive/{id}',
  parameters: [id],
};

const NOVEMBER = 11;
interface Version {
  readonly documents: Documents;
  readonly index: Index;
}
const OLD: Version = {
  documents: { a: { 1: 'one', 5: 'five', 9: 'nine' }, archive: { [NOVEMBER]: 'x' }, page: { 0: LONG } },
  index: Object.fromEntries(
    'a/1 a/5 a/9 a/chunks-0 a/chunks-1 a/chunks archive/11 archive/chunks-0 archive/chunks b/chunks routes'
      .split(' ')
      .map((name) => [name, name]),
  ),
};
const { 'a/9': _, 'a/chunks-1': __, ...kept } = OLD.index;
/** What changed of the index. */
const CHANGED = ['a/5', 'a/chunks-0', 'a/chunks', 'routes'];
const NEW: Version = {
  documents: { ...OLD.documents, a: { 1: 'one', 5: 'other' } },
  index: { ...kept, ...Object.fromEntries(CHANGED.map((name) => [name, 'changed'])) },
};

/** Publishes a version with a log. @param size in snapshots @param kept see `writeLog` */
async function publishSigned(
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
function recordSigned(out: string, files: readonly string[]): void {
  using state = State.open(new Tree(out).database);
  state.recordOwnFiles(files.map((name) => ({ name, isPut: existsSync(join(out, name)), isCached: true })));
}

/**
 * Writes the log of some snapshots.
 * @param kept sizes at which there was a checkpoint, too, so that their partial tiles stay
 */
function writeLog(out: string, size: number, index: Index, kept: readonly number[] = []): void {
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
const tilesOf = (size: number): string[] => [...naiveTilesOf(Array.from({ length: size }, () => '')).keys()];

const path = temporary();

async function site() {
  const out = path('dist');
  await publishSigned(out, OLD, 255, [254]);
  const snapshot = (version: Version, size: number): Promise<void> => publishSigned(out, version, size);
  return { ...memorySite(out), snapshot, log: logFolder(out) };
}

/** A site whose first version is on the remote. */
async function uploaded() {
  const run = await site();
  await run.upload();
  run.calls();
  return run;
}

describe('an upload of a signed tree', () => {
  it('writes everything: tiles first, and after snapshot.json the index of the log and its checkpoint', async () => {
    const run = await site();
    const result = await run.sync();
    const written = run.remote.files.size;
    expect(result).toMatchObject({ compared: true, written, deleted: 0, unchanged: 0 });
    const calls = run.calls();
    const index = Object.keys(OLD.index).map((name) => `put LOG/index/${name}.txt`);
    const end = calls.slice(-2 - index.length);
    expect([end[0], end.at(-1)]).toEqual(['put snapshot.json', 'put LOG/checkpoint']);
    expect(end.slice(1, -1).toSorted()).toEqual(index.toSorted());
    const tiles = [...tilesOf(254), ...tilesOf(255)].map((file) => `put LOG/${file}`);
    expect(calls.slice(0, tiles.length).toSorted()).toEqual(tiles.toSorted());
    const clean = { missing: [], different: [], extra: [], untracked: { total: 0 } };
    expect(await run.verify()).toMatchObject(clean);
  });

  it('writes what changed, and deletes partial tiles once the checkpoint is there', async () => {
    const run = await uploaded();
    await run.snapshot(NEW, 256);
    await run.sync();
    const calls = run.calls();
    const partials = [...tilesOf(254), ...tilesOf(255)].map((file) => `delete LOG/${file}`);
    const end = calls.length - partials.length;
    expect(calls.slice(end).toSorted()).toEqual(partials.toSorted());
    const late = ['snapshot.json', ...CHANGED.map((name) => `LOG/index/${name}.txt`), 'LOG/checkpoint'];
    const start = end - late.length;
    expect([calls[start], calls[end - 1]]).toEqual(['put snapshot.json', 'put LOG/checkpoint']);
    expect(calls.slice(start, end).toSorted()).toEqual(late.map((file) => `put ${file}`).toSorted());
    // What is gone from the index may be withheld.
    const gone = ['delete LOG/index/a/9.txt', 'delete LOG/index/a/chunks-1.txt', 'delete a/9.json'];
    expect(calls.slice(start - gone.length, start).toSorted()).toEqual(gone);
    const tiles = ['put LOG/tile/0/000', 'put LOG/tile/1/000.p/1', 'put LOG/tile/entries/000'];
    const others = ['changes/2.ndjson.gz', 'changes/index.json', 'feeds/snapshots.json'];
    expect(calls.slice(0, start - gone.length).toSorted()).toEqual([
      ...tiles,
      'put a/5.json',
      ...others.map((file) => `put ${file}`),
    ]);
  });

  it('writes what was signed after the snapshot was uploaded, and then nothing', async () => {
    const run = await uploaded();
    const before = hashesOf(run.out);
    writeLog(run.out, 256, OLD.index);
    const after = hashesOf(run.out);
    const changed = Object.keys({ ...before, ...after }).filter((file) => before[file] !== after[file]);
    recordSigned(run.out, changed);
    expect(await run.sync()).toMatchObject({ compared: false });
    const calls = run.calls();
    expect(calls.indexOf('put LOG/checkpoint')).toBeGreaterThan(calls.indexOf('put LOG/tile/0/000'));
    expect(calls.at(-1)).toMatch(/^delete LOG\/tile\//);
    expect(await run.upload()).toMatchObject({ compared: false, written: 0, deleted: 0 });
    expect(run.calls()).toEqual([]);
  });

  it('that can’t write a document deletes what is gone, and leaves snapshot.json, the checkpoint and its tiles', async () => {
    const run = await uploaded();
    const before = run.remote.files.get(`${run.log}/checkpoint`);
    await run.snapshot(NEW, 256);
    run.remote.refused = ['a/5.json'];
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      const message = containing("can't write a/5.json");
      expect(await failureOf(run.upload())).toMatchObject({ exitCode: 3, message });
      const calls = run.calls();
      expect(calls).not.toContain('put snapshot.json');
      // What is gone may be withheld, so its lines go as well.
      for (const file of ['a/9.json', 'LOG/index/a/9.txt']) expect(calls).toContain(`delete ${file}`);
      // It has other headers, so it comes in another batch.
      expect(calls).toContain('put feeds/snapshots.json');
    }
    expect(run.remote.files.get(`${run.log}/checkpoint`)).toEqual(before);
    for (const file of tilesOf(255)) expect(run.remote.files.has(`${run.log}/${file}`), file).toBe(true);
    run.remote.refused = [];
    expect(await run.sync()).toMatchObject({ compared: false });
  });

  it('that is killed anywhere leaves a checkpoint whose tiles are all there', async () => {
    const run = await uploaded();
    const sizes = new Map(
      [512, 511, 257, 256, 255].map((size) => {
        writeLog(run.out, size, OLD.index, [254]);
        return [sha256(readFileSync(join(run.out, run.log, 'checkpoint'))), size];
      }),
    );
    let size = 255;
    const lacking: string[] = [];
    for (const [index, next] of [256, 257, 511, 512].entries()) {
      await run.snapshot(index % 2 === 0 ? NEW : OLD, next);
      let isDone = false;
      for (let lives = 1; !isDone; lives += 3) {
        run.remote.lives = lives;
        await survive(run.upload());
        isDone = !run.remote.isDead;
        size = sizes.get(run.remote.files.get(`${run.log}/checkpoint`)?.hash ?? '') ?? 0;
        lacking.push(...tilesOf(size).filter((file) => !run.remote.files.has(`${run.log}/${file}`)));
      }
      expect([size, ...run.wrong()]).toEqual([next]);
    }
    expect(lacking).toEqual([]);
  });

  it('that is not recorded deletes tiles and chunks that are gone, and leaves alone what it does not know', async () => {
    const run = await uploaded();
    forgetRemotes(run.out);
    const alien = { hash: '', headers: {} };
    const gone = ['tile/0/000.p/253', 'tile/entries/001', 'index/a/77.txt', 'index/a/chunks.bak'];
    const unknown = ['tile.txt', 'index/.hidden', 'notes.txt'];
    for (const file of [...gone, ...unknown]) run.remote.files.set(`${run.log}/${file}`, alien);
    run.remote.files.delete(`${run.log}/index/a/5.txt`);
    const result = await run.upload();
    expect(result).toMatchObject({ compared: true, deleted: gone.length });
    const left = unknown.map((file) => `${run.log}/${file}`);
    expect(result.untracked?.examples.toSorted()).toEqual(left.toSorted());
    expect(run.wrong().toSorted()).toEqual(left.map((file) => `${file} is extra`).toSorted());
  });
});

it('objects of the log have the headers of their classes', async () => {
  const run = await uploaded();
  const headersOf = (file: string) => run.remote.files.get(`${run.log}/${file}`)?.headers;
  const text = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'max-age=5' };
  for (const file of ['checkpoint', 'index/routes.txt', 'index/a/1.txt', 'index/archive/chunks-0.txt'])
    expect(headersOf(file), file).toEqual(text);
  const tile = { 'Content-Type': 'application/octet-stream', 'Cache-Control': 'max-age=7' };
  for (const file of tilesOf(255)) expect(headersOf(file), file).toEqual(tile);
});
