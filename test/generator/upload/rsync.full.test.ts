/** Uploads to a folder by the real rsync. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { snapshot } from '../../support/cli.js';
import { has } from '../../support/programs.js';
import { foldersOf, inState } from '../../support/tree.js';
import { STEP, hashesOf, inProcess, start, temporary } from '../publish/support.js';
import { realSite } from './real.js';

const path = temporary();

async function site() {
  const copy = path('copy');
  const real = await realSite(path, `rsync:${copy}`, () => hashesOf(copy), true);
  const { out, wrong } = real;
  return {
    ...real,
    copy,
    wrong: () => [...wrong(), ...foldersOf(copy).filter((folder) => !existsSync(join(out, folder)))],
  };
}

const WITHHOLD = `INSERT INTO withheld VALUES ('group', 9, '2026-12-01T00:00:00Z');`;
const timeOf = (folder: string, file: string): number => statSync(join(folder, file)).mtimeMs;

const before = process.env['PATH'];
afterEach(() => {
  process.env['PATH'] = before;
});

/** Puts a shell script in the place of rsync, slow enough to be killed. */
function slowDown(script: string): void {
  const folder = path('bin');
  mkdirSync(folder);
  const real = spawnSync('which', ['rsync'], { encoding: 'utf8' }).stdout.trim();
  writeFileSync(join(folder, 'rsync'), `#!/bin/sh\n${script.replace('RSYNC', real)}\n`, { mode: 0o755 });
  process.env['PATH'] = `${folder}:${before}`;
}

describe.runIf(has('uploads by rsync', 'rsync'))('an upload by rsync', () => {
  it('copies all files with their times and siblings, and then nothing', async () => {
    const { out, copy, upload, wrong } = await site();
    const files = Object.keys(hashesOf(out));
    expect(await upload()).toMatchObject({ written: files.length, deleted: 0, compared: true });
    expect(wrong()).toEqual([]);
    for (const file of files) expect(Math.abs(timeOf(copy, file) - timeOf(out, file))).toBeLessThan(1);
    expect(await upload()).toMatchObject({ written: 0, unchanged: files.length, compared: false });
  });

  it('makes a static site without what is withheld, and leaves the files of `edge headers` alone', async () => {
    const { change, out, copy, args, build } = await site();
    expect((await snapshot(['edge', 'headers', '--out', out, '--write', copy])).code).toBe(0);
    const rules = ['_headers', '_redirects'].map((name) => join(copy, name));
    const texts = rules.map((file) => readFileSync(file, 'utf8'));
    expect(await inProcess(...args)).toMatchObject({ code: 0 });
    expect(existsSync(join(copy, 'api/v1/group/9.json'))).toBe(true);
    change(WITHHOLD);
    await build();
    // Whether the state knows what is there, or everything is compared.
    for (const isKnown of [true, false]) {
      if (!isKnown) {
        rmSync(inState(out), { recursive: true });
        writeFileSync(join(copy, 'api/v1/group/9.json'), '{}');
      }
      expect(await inProcess(...args)).toMatchObject({ code: 0 });
      expect(existsSync(join(copy, 'api/v1/group/9.json'))).toBe(false);
      expect(rules.map((file) => readFileSync(file, 'utf8'))).toEqual(texts);
    }
  });

  it('deletes what is gone, and the folders that are empty by then', async () => {
    const { change, copy, build, upload, wrong } = await site();
    await upload();
    change(STEP + WITHHOLD);
    await build();
    expect(existsSync(join(copy, 'group/9'))).toBe(true);
    // It is not ours, so its folder stays.
    writeFileSync(join(copy, 'user/9007/note'), 'foreign');
    await upload();
    expect(existsSync(join(copy, 'group/9'))).toBe(false);
    expect(wrong()).toEqual(['user/9007/note is extra', 'user/9007']);
  });

  it('without a record compares contents and times, and leaves alone what no route leads to', async () => {
    const { out, copy, args, upload, wrong } = await site();
    await upload();
    rmSync(inState(out, 'uploads'), { recursive: true });
    writeFileSync(join(copy, 'robots.bak'), 'foreign');
    writeFileSync(join(copy, 'api/v1/group/999.json'), 'ours');
    writeFileSync(join(copy, 'api/v1/group/.7.json.Xy12Ab'), 'left by a killed rsync');
    const file = join(copy, 'api/v1/group/3.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('group 3', 'GROUP 3'));
    utimesSync(join(copy, 'api/v1/group/4.json'), 0, 0);
    expect(await inProcess(...args, '--verify', '--quiet')).toMatchObject({
      code: 1,
      stdout: [
        '  different: api/v1/group/3.json',
        '  different: api/v1/group/4.json',
        '  extra: api/v1/group/.7.json.Xy12Ab',
        '  extra: api/v1/group/999.json',
        `rsync:${copy} does not hold snapshot 1: 2 different, 2 extra of ${Object.keys(hashesOf(out)).length} files; the next upload repairs it`,
        'warning: no route leads to 1 file there, left alone',
        '  untracked: robots.bak',
        '',
      ].join('\n'),
    });
    const { code, stdout, stderr } = await inProcess(...args);
    expect(code).toBe(0);
    expect(stderr).toContain('untracked: robots.bak');
    expect(stdout).toContain('written    2 files,');
    expect(wrong()).toEqual(['robots.bak is extra']);
  });

  it('ends soon if its command is killed', async () => {
    const { out, copy } = await site();
    mkdirSync(copy);
    slowDown('exec RSYNC --bwlimit=20k "$@"');
    const { child, done } = start(['upload', '--out', out, '--to', `rsync:${copy}`]);
    await sleep(3000);
    expect(child.exitCode).toBe(null);
    child.kill('SIGKILL');
    await done;
    await sleep(2000);
    const count = Object.keys(hashesOf(copy)).length;
    expect(count).toBeLessThan(Object.keys(hashesOf(out)).length);
    await sleep(2000);
    expect(Object.keys(hashesOf(copy))).toHaveLength(count);
  });
});
