/** The signed log on a remote: in which order it is written, so that no reader lacks a file. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createKey } from '../../../generator/log/key-file.js';
import { addChangedFiles } from '../../../generator/publish/changed-files.js';
import { Tree } from '../../../generator/tree/tree.js';
import { verifyRemote } from '../../../generator/upload/compare.js';
import { upload } from '../../../generator/upload/upload.js';
import { published, quiet } from '../../support/build.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { survive } from '../publish/faults.js';
import { publish } from '../publish/small.js';
import { differing, inState } from '../../support/tree.js';
import { ROWS, failureOf, hashesOf, sha256, temporary } from '../publish/support.js';
import { NEW, OLD, UNSIGNED, logFolder, members, publishSigned, tilesOf, writeLog } from './log.js';
import type { Version } from './log.js';
import { MemoryRemote } from './memory.js';

const path = temporary();

async function site(hasHeaders: boolean) {
  const out = path('dist');
  const remote = new MemoryRemote(out, hasHeaders);
  const tree = new Tree(out);
  const snapshot = (version: Version, size: number): Promise<void> => publishSigned(out, version, size);
  await publishSigned(out, OLD, 255, [254]);
  return {
    out,
    remote,
    snapshot,
    upload: () => upload(tree, 'memory:bucket', quiet(), () => remote),
    verify: () => verifyRemote(tree, 'memory:bucket', quiet(), () => remote),
  };
}

const wrongOn = (remote: MemoryRemote, out: string): string[] =>
  differing(Object.fromEntries([...remote.files].map(([file, { hash }]) => [file, hash])), hashesOf(out));

/** The calls since the last look at them, with `LOG` for the folder of the log. */
const callsTo = ({ calls }: MemoryRemote, out: string): string[] =>
  calls.splice(0).map((call) => call.replace(logFolder(out), 'LOG'));

describe.each([
  ['objects', true],
  ['files', false],
])('an upload of a signed tree as %s', (_, hasHeaders) => {
  it('writes tiles first, and after snapshot.json the index of the log and its checkpoint', async () => {
    const { out, remote, ...run } = await site(hasHeaders);
    const { written } = await run.upload();
    expect(wrongOn(remote, out)).toEqual([]);
    expect(written).toBe(remote.files.size);
    const calls = callsTo(remote, out);
    const index = [
      'put LOG/index/a/1.txt',
      'put LOG/index/a/5.txt',
      'put LOG/index/a/9.txt',
      'put LOG/index/a/chunks-0.txt',
      'put LOG/index/a/chunks-1.txt',
      'put LOG/index/a/chunks.txt',
      'put LOG/index/archive/2026-11.txt',
      'put LOG/index/archive/chunks-0.txt',
      'put LOG/index/archive/chunks.txt',
      'put LOG/index/b/chunks.txt',
      'put LOG/index/routes.txt',
    ];
    const end = calls.slice(-2 - index.length);
    expect([end[0], end.at(-1)]).toEqual(['put snapshot.json', 'put LOG/checkpoint']);
    expect(end.slice(1, -1).toSorted()).toEqual(index);
    const tiles = [...tilesOf(254), ...tilesOf(255)].map((file) => `put LOG/${file}`);
    expect(calls.slice(0, tiles.length).toSorted()).toEqual(tiles.toSorted());
    expect(await run.upload()).toMatchObject({ compared: false, written: 0, deleted: 0 });
    expect(await run.verify()).toMatchObject({
      missing: [],
      different: [],
      extra: [],
      untracked: { total: 0 },
    });
  });

  it('writes what changed, and deletes partial tiles once the checkpoint is there', async () => {
    const { out, remote, ...run } = await site(hasHeaders);
    await run.upload();
    callsTo(remote, out);
    await run.snapshot(NEW, 256);
    await run.upload();
    expect(wrongOn(remote, out)).toEqual([]);
    const calls = callsTo(remote, out);
    const partials = [...tilesOf(254), ...tilesOf(255)].map((file) => `delete LOG/${file}`);
    const end = calls.length - partials.length;
    expect(calls.slice(end).toSorted()).toEqual(partials.toSorted());
    const index = ['a/5.txt', 'a/chunks-0.txt', 'a/chunks.txt', 'routes.txt'];
    const late = ['snapshot.json', ...index.map((file) => `LOG/index/${file}`), 'LOG/checkpoint'];
    const start = end - late.length;
    expect([calls[start], calls[end - 1]]).toEqual(['put snapshot.json', 'put LOG/checkpoint']);
    expect(calls.slice(start, end).toSorted()).toEqual(late.map((file) => `put ${file}`).toSorted());
    // What is gone from the index may be withheld.
    const gone = ['delete LOG/index/a/9.txt', 'delete LOG/index/a/chunks-1.txt', 'delete a/9.json'];
    expect(calls.slice(start - gone.length, start).toSorted()).toEqual(gone);
    expect(calls.slice(0, start - gone.length).toSorted()).toEqual([
      'put LOG/tile/0/000',
      'put LOG/tile/1/000.p/1',
      'put LOG/tile/entries/000',
      'put a/5.json',
      'put changes/2.json',
      'put changes/2.ndjson.gz',
      'put changes/index.json',
      'put feeds/snapshots.json',
    ]);
  });

  it('writes what was signed after the snapshot was uploaded, and then nothing', async () => {
    const { out, remote, ...run } = await site(hasHeaders);
    await run.upload();
    callsTo(remote, out);
    const before = hashesOf(out);
    writeLog(out, 256, OLD.chunks);
    const after = hashesOf(out);
    const changed = Object.keys({ ...before, ...after }).filter((file) => before[file] !== after[file]);
    addChangedFiles(new Tree(out), 1, changed);
    expect(await run.upload()).toMatchObject({ compared: false });
    expect(wrongOn(remote, out)).toEqual([]);
    const calls = callsTo(remote, out);
    expect(calls.indexOf('put LOG/checkpoint')).toBeGreaterThan(calls.indexOf('put LOG/tile/0/000'));
    expect(calls.at(-1)).toMatch(/^delete LOG\/tile\//);
    expect(await run.upload()).toMatchObject({ compared: false, written: 0, deleted: 0 });
    expect(callsTo(remote, out)).toEqual([]);
  });

  it('that can’t write a document leaves snapshot.json, the checkpoint and its tiles', async () => {
    const { out, remote, ...run } = await site(hasHeaders);
    await run.upload();
    const log = logFolder(out);
    const before = remote.files.get(`${log}/checkpoint`);
    await run.snapshot(NEW, 256);
    remote.refused = ['a/5.json'];
    expect((await failureOf(run.upload())).message).toContain("can't write a/5.json");
    expect(remote.files.get(`${log}/checkpoint`)).toEqual(before);
    for (const file of tilesOf(255)) expect(remote.files.has(`${log}/${file}`), file).toBe(true);
    // What is gone may be withheld, so its lines go as well.
    expect(remote.files.has(`${log}/index/a/9.txt`)).toBe(false);
    remote.refused = [];
    await run.upload();
    expect(wrongOn(remote, out)).toEqual([]);
  });

  it('that can’t delete a document leaves them, too', async () => {
    const { out, remote, ...run } = await site(hasHeaders);
    await run.upload();
    const log = logFolder(out);
    await run.snapshot(NEW, 256);
    remote.refused = ['a/9.json'];
    expect((await failureOf(run.upload())).message).toContain("can't delete a/9.json");
    for (const file of tilesOf(255)) expect(remote.files.has(`${log}/${file}`), file).toBe(true);
    expect(callsTo(remote, out).filter((call) => call === 'put LOG/checkpoint')).toHaveLength(1);
    remote.refused = [];
    await run.upload();
    expect(wrongOn(remote, out)).toEqual([]);
  });

  it('that is killed anywhere leaves a checkpoint whose tiles are all there', async () => {
    const { out, remote, ...run } = await site(hasHeaders);
    await run.upload();
    const log = logFolder(out);
    const sizes = new Map(
      [512, 511, 257, 256, 255].map((size) => {
        writeLog(out, size, OLD.chunks, [254]);
        return [sha256(readFileSync(join(out, log, 'checkpoint'))), size];
      }),
    );
    let size = 255;
    const lacking: string[] = [];
    for (const [index, next] of [256, 257, 511, 512].entries()) {
      await run.snapshot(index % 2 === 0 ? NEW : OLD, next);
      let isDone = false;
      for (let lives = 1; !isDone; lives += 3) {
        remote.lives = lives;
        await survive(run.upload());
        isDone = !remote.isDead;
        size = sizes.get(remote.files.get(`${log}/checkpoint`)?.hash ?? '') ?? 0;
        lacking.push(...tilesOf(size).filter((file) => !remote.files.has(`${log}/${file}`)));
      }
      expect([size, ...wrongOn(remote, out)]).toEqual([next]);
    }
    expect(lacking).toEqual([]);
  });

  it('that is not recorded deletes tiles and chunks that are gone, and leaves alone what it does not know', async () => {
    const { out, remote, ...run } = await site(hasHeaders);
    await run.upload();
    const log = logFolder(out);
    rmSync(inState(out, 'uploads'), { recursive: true });
    const alien = { hash: '', headers: {} };
    const gone = ['tile/0/000.p/253', 'tile/entries/001', 'index/a/77.txt', 'index/a/chunks.bak'];
    const unknown = ['tile.txt', 'index/.hidden', 'notes.txt'];
    for (const file of [...gone, ...unknown]) remote.files.set(`${log}/${file}`, alien);
    remote.files.delete(`${log}/index/a/5.txt`);
    const result = await run.upload();
    expect(result).toMatchObject({ compared: true, deleted: gone.length });
    expect(result.untracked?.examples.toSorted()).toEqual(unknown.map((file) => `${log}/${file}`).toSorted());
    expect(wrongOn(remote, out).toSorted()).toEqual(
      unknown.map((file) => `${log}/${file} is extra`).toSorted(),
    );
  });

  it('deletes the log with the routes of a tree that is no longer signed', async () => {
    const { out, remote, ...run } = await site(hasHeaders);
    await run.upload();
    const folder = logFolder(out);
    rmSync(join(out, 'log'), { recursive: true });
    await publish(out, { routes: UNSIGNED, documents: OLD.documents, members });
    await run.upload();
    expect([...remote.files.keys()].filter((file) => file.startsWith(folder))).toEqual([]);
    expect(wrongOn(remote, out)).toEqual([]);
  });

  it('of a tree without its checkpoint is refused, and names the file', async () => {
    const { out, remote, ...run } = await site(hasHeaders);
    const file = `${logFolder(out)}/checkpoint`;
    rmSync(join(out, file));
    const error = await failureOf(run.upload());
    expect(error.exitCode).toBe(1);
    expect(error.message).toContain(`"${file}" of the tree is missing or damaged`);
    expect(remote.files.size).toBe(0);
  });
});

describe('objects of the log', () => {
  it('have the headers of their classes', async () => {
    const { out, remote, ...run } = await site(true);
    await run.upload();
    const log = logFolder(out);
    const headersOf = (file: string) => remote.files.get(`${log}/${file}`)?.headers;
    const text = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'as checkpoint' };
    for (const file of ['checkpoint', 'index/routes.txt', 'index/a/1.txt', 'index/archive/chunks-0.txt'])
      expect(headersOf(file), file).toEqual(text);
    for (const file of tilesOf(255))
      expect(headersOf(file), file).toEqual({
        'Content-Type': 'application/octet-stream',
        'Cache-Control': 'as tile',
      });
  });
});

describe.each([
  ['objects', true],
  ['files', false],
])('an upload of a tree that a build has signed, as %s,', (_, hasHeaders) => {
  it('has all its files, and then those that changed', async () => {
    const [register, dist, key] = [path('register.sqlite'), path('dist'), path('key')];
    createKey('register.example', key);
    writeRegister(register, ROWS);
    const build = (sql: string, at: string) => {
      changeRegister(register, sql);
      return published({ register, out: dist, at, acceptRemovals: true, key: [key] });
    };
    const remote = new MemoryRemote(dist, hasHeaders);
    const run = () => upload(new Tree(dist), 'memory:bucket', quiet(), () => remote);
    const expectEqual = (): void => {
      const wrong = wrongOn(remote, dist).filter(
        (line) => !(hasHeaders && /\.(gz|br) is missing$/.test(line)),
      );
      expect(wrong).toEqual([]);
    };
    await build('', '2026-12-01T00:00:00Z');
    await run();
    expectEqual();
    callsTo(remote, dist);
    await build('UPDATE items SET price = 99 WHERE id = 3', '2026-12-02T00:00:00Z');
    await run();
    expectEqual();
    const calls = callsTo(remote, dist);
    const late = calls.slice(calls.indexOf('put snapshot.json') + 1, -1);
    expect(calls.at(-1)).toBe('put LOG/checkpoint');
    expect(late).toEqual(calls.filter((call) => call.startsWith('put LOG/index/')));
    const chunks = calls.filter((call) => /index\/[\w-]+\/[^c][^/]*\.txt$/.test(call));
    expect(chunks.length).toBeGreaterThan(0);
    expect(chunks.filter((call) => /index\/(group|user|game)\//.test(call))).toEqual([]);
    await build('DELETE FROM games', '2026-12-03T00:00:00Z');
    await run();
    expectEqual();
    // Nothing changes but the time of the build.
    await build('', '2026-12-04T00:00:00Z');
    expect(await run()).toMatchObject({ compared: false, deleted: 0 });
    expectEqual();
  }, 30_000);
});
