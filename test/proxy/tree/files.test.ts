import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdir, rm, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';

import { errorCode } from '../../../proxy/log.js';
import { Files, openFile, readWhole, type Tree } from '../../../proxy/tree/files.js';
import { sha256 } from '../../support/published.js';
import { emptyFolder, opened, publish } from '../support.js';

const MAX = 1_000;
/** More than is read into memory. */
const LARGE = Buffer.alloc(1024 * 1024 + 1, 'large ');
const etagOf = (content: string | Buffer): string => `"${sha256(content).slice(0, 32)}"`;

/** Files of a folder, by a clock that only moves when told to. */
async function filesOf(content: Readonly<Record<string, string | Buffer>>, maxBytes?: number) {
  const root = await emptyFolder();
  for (const [path, bytes] of Object.entries(content)) await publish(root, path, bytes);
  let nowMs = 1_000;
  const log: string[] = [];
  const files = new Files({ clock: () => nowMs, log: (line) => void log.push(line) }, maxBytes);
  const tree: Tree = { root, version: '1', hashes: new Map(), changedMs: Number.POSITIVE_INFINITY };
  const reads = opened(root);
  return {
    root,
    files,
    tree,
    log,
    /** The paths opened since the last call. */
    reads: () => reads.splice(0).join(' '),
    advance: (ms: number) => void (nowMs += ms),
    text: (path: string, of = tree) => files.get(path, of)?.bytes?.toString(),
  };
}

describe('Files', () => {
  it('keep a file from the second time that it is read, for 30 s', async () => {
    const { text, reads, advance } = await filesOf({ a: 'text' });
    for (const expected of ['a', 'a', '', '']) {
      expect(text('a')).toBe('text');
      expect(reads()).toBe(expected);
    }
    advance(29_999);
    expect([text('a'), reads()]).toEqual(['text', '']);
    advance(1);
    expect([text('a'), reads(), text('a'), reads()]).toEqual(['text', 'a', 'text', '']);
  });

  it('take no more memory than they may', async () => {
    const paths = Array.from({ length: 50 }, (_, index) => String(index));
    const content = Object.fromEntries(paths.map((path) => [path, 'x'.repeat(1_000)]));
    const { files, tree } = await filesOf(content, 20_000);
    for (const path of [...paths, ...paths]) files.get(path, tree);
    expect(files.bytes).toBeGreaterThan(10_000);
    expect(files.bytes).toBeLessThanOrEqual(20_000);
  });

  it('that are missing are not remembered, and one that goes is forgotten', async () => {
    const { text, root, advance } = await filesOf({ a: 'text' });
    expect([text('b'), text('a'), text('a')]).toEqual([undefined, 'text', 'text']);
    await publish(root, 'b', 'new');
    await rm(join(root, 'a'));
    advance(30_000);
    expect([text('b'), text('a'), text('a')]).toEqual(['new', undefined, undefined]);
  });

  it('have a strong ETag of their content, and a date that is not later than now', async () => {
    const { files, tree, root } = await filesOf({ a: 'text' });
    await utimes(join(root, 'a'), 4e9, 4e9);
    const { etag, lastModified } = files.get('a', tree) ?? {};
    expect(etag).toBe(etagOf('text'));
    expect(Date.parse(lastModified ?? '')).toBeLessThanOrEqual(Date.now());
  });
});

const hashes = (bytes: number) => new Map([['a', { bytes, sha256: sha256(LARGE) }]]);

it('A file that is streamed has a weak one if its size is another, it is newer than snapshot.json, or it is not named', async () => {
  const { files, tree, root } = await filesOf({ a: LARGE });
  expect(files.get('a', { ...tree, hashes: hashes(7) })?.etag).toMatch(/^W\/"/);
  expect(files.get('a', { ...tree, version: '2' })?.etag).toMatch(/^W\/"/);
  const changedMs = Date.now();
  await pause(20);
  await publish(root, 'a', LARGE);
  const named = { ...tree, version: '3', hashes: hashes(LARGE.length) };
  expect(files.get('a', { ...named, changedMs })?.etag).toMatch(/^W\/"/);
});

describe('A compressed sibling', () => {
  const TIME = 1_700_000_000.1235;

  it('is served with the ETag of its file if it has its time in whole milliseconds', async () => {
    const { files, tree, root, reads } = await filesOf({ a: 'text', 'a.br': 'br', 'a.gz': 'gz' });
    await utimes(join(root, 'a'), TIME, TIME);
    await utimes(join(root, 'a.br'), TIME, TIME + 0.0002);
    await utimes(join(root, 'a.gz'), TIME, TIME + 0.001);
    const find = () => {
      const file = files.get('a', tree);
      if (file === undefined) throw new Error('no file');
      return { file, br: files.getSibling(file, 'br', tree), gzip: files.getSibling(file, 'gzip', tree) };
    };
    const { file, br, gzip } = find();
    expect(br).toMatchObject({
      coding: 'br',
      etag: etagOf('text').replace(/"$/, '-br"'),
      lastModified: file.lastModified,
      size: 2,
    });
    expect(br.bytes?.toString()).toBe('br');
    expect(gzip).toBe(file);
    find();
    reads();
    expect([find().br.size, reads()]).toEqual([2, '']);
  });

  it('of a streamed file has a tag as weak as that', async () => {
    const { files, tree, root } = await filesOf({ a: LARGE, 'a.br': 'br' });
    for (const path of ['a', 'a.br']) await utimes(join(root, path), TIME, TIME);
    const file = files.get('a', tree);
    expect(file && files.getSibling(file, 'br', tree).etag).toMatch(/^W\/"[\d-]+-br"$/);
  });

  it('is reported once if none has the time of its file', async () => {
    const names = Array.from({ length: 30 }, (_, index) => String(index));
    const content = Object.fromEntries(names.flatMap((of) => [of, `${of}.br`].map((path) => [path, 'x'])));
    const { files, tree, root, log } = await filesOf(content);
    for (const name of names) {
      await utimes(join(root, name), TIME, TIME);
      const file = files.get(name, tree);
      if (file !== undefined) files.getSibling(file, 'br', tree);
    }
    expect(log).toEqual(['compressed files are not used: the tree was copied without times, use rsync -a']);
  });
});

describe('openFile and readWhole', () => {
  it('find nothing where no regular file of the tree is, and leave nothing open', async () => {
    const root = await emptyFolder();
    const outside = await emptyFolder();
    await publish(outside, 'x.json', '{}');
    await publish(outside, '1/2/x.json', '{}');
    await publish(root, 'a.json', '{}');
    await mkdir(join(root, 'folder.json'));
    await symlink('a.json', join(root, 'link.json'));
    await symlink(join(outside, 'x.json'), join(root, 'out.json'));
    await symlink(outside, join(root, 'out'));
    await symlink(root, join(root, 'self'));
    await symlink('loop', join(root, 'loop'));
    execFileSync('mkfifo', [join(root, 'pipe.json')]);
    const paths =
      'gone.json gone/gone.json a.json/b.json folder.json link.json out.json out/x.json out/1/2/x.json self/a.json loop pipe.json';
    const before = readdirSync('/proc/self/fd').length;
    for (const path of paths.split(' ')) expect(openFile(root, path), path).toBeUndefined();
    for (const [folder, path] of [
      [join(root, 'gone'), 'a.json'],
      ['/dev', 'zero'],
    ] as const)
      expect(readWhole(folder, path, MAX)).toBeUndefined();
    expect(readdirSync('/proc/self/fd').length).toBe(before);
  });

  it('leave nothing open after a file that can’t be read', () => {
    const before = readdirSync('/proc/self/fd').length;
    const code = (() => {
      try {
        return readWhole(`/proc/${process.pid}`, 'mem', MAX)?.bytes?.length;
      } catch (error) {
        return errorCode(error);
      }
    })();
    expect(code).toMatch(/^(?:EIO|EPERM)$/);
    expect(() => readWhole(`/proc/${process.pid}`, 'status', MAX)).toThrow('read 1 bytes of a file of 0');
    expect(readdirSync('/proc/self/fd').length).toBe(before);
  });

  it('read a file to its end, and no bytes of one that is too large', async () => {
    const root = await emptyFolder();
    await publish(root, 'a', '1234');
    await publish(root, 'empty', '');
    expect(readWhole(root, 'a', 4)?.bytes?.toString()).toBe('1234');
    expect(readWhole(root, 'a', 3)).toMatchObject({ bytes: undefined, stats: { size: 4 } });
    expect(readWhole(root, 'empty', 0)?.bytes?.length).toBe(0);
  });
});
