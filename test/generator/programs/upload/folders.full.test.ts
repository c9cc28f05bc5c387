/** Uploads by the real rclone to folders: of this machine, and of WebDAV, which has no checksums. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { snapshot } from '../../../support/cli.js';
import { has } from '../../../support/programs.js';
import { standIn } from '../../../support/stand-in.js';
import { forgetRemotes } from '../../../support/state.js';
import { inState } from '../../../support/tree.js';
import { hashesOf, inProcess, start, temporary, until } from '../../publish/support.js';
import { realSite } from './real.js';

const path = temporary();
const folder = path('folder');
const before = { ...process.env };
let stop = (): void => undefined;

/** Starts the server, which says where it listens. */
beforeAll(async () => {
  mkdirSync(folder);
  const server = spawn(
    'rclone',
    ['serve', 'webdav', folder, '--addr', '127.0.0.1:0', '--dir-cache-time', '0'],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, RCLONE_CONFIG: '/dev/null', AWS_CA_BUNDLE: undefined },
    },
  );
  stop = () => void server.kill();
  let said = '';
  const url = await new Promise<string>((resolve, reject) => {
    server.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const [found] = /http:\/\/127\.0\.0\.1:\d+\//.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
    server.on('error', () => resolve(''));
    server.on('exit', () => reject(new Error(said)));
  });
  Object.assign(process.env, {
    RCLONE_CONFIG: '/dev/null',
    RCLONE_CONFIG_HERE_TYPE: 'local',
    RCLONE_CONFIG_DAV_TYPE: 'webdav',
    RCLONE_CONFIG_DAV_VENDOR: 'other',
    RCLONE_CONFIG_DAV_URL: url,
    RCLONE_TRANSFERS: '16',
  });
  delete process.env['AWS_CA_BUNDLE'];
});
afterAll(() => {
  stop();
  // In place: test files share the object, and vitest's stubs keep to the first.
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});

let prefixes = 0;

/** @param root what rclone calls `folder` */
async function site(root: string) {
  const prefix = `p${(prefixes += 1)}`;
  const copy = join(folder, prefix);
  return { ...(await realSite(path, `${root}${prefix}`, () => hashesOf(copy))), copy };
}

describe.runIf(has('uploads to folders', 'rclone'))('an upload', () => {
  it('makes a static site without what is withheld, and leaves the files of `edge headers` alone', async () => {
    const { change, out, copy, args, build } = await site(`HERE:${folder}/`);
    expect((await snapshot(['edge', 'headers', '--out', out, '--write', copy])).code).toBe(0);
    const rules = ['_headers', '_redirects'].map((name) => join(copy, name));
    const texts = rules.map((file) => readFileSync(file, 'utf8'));
    const withheld = join(copy, 'api/v1/group/9.json');
    expect(await inProcess(...args)).toMatchObject({ code: 0 });
    expect(existsSync(withheld)).toBe(true);
    change(`INSERT INTO withheld VALUES ('group', 9, '2026-12-01T00:00:00Z')`);
    await build();
    // Whether the state knows what is there, or everything is compared.
    for (const isKnown of [true, false]) {
      if (!isKnown) {
        rmSync(inState(out), { recursive: true });
        writeFileSync(withheld, '{}');
      }
      expect(await inProcess(...args)).toMatchObject({ code: 0 });
      expect(existsSync(withheld)).toBe(false);
      expect(rules.map((file) => readFileSync(file, 'utf8'))).toEqual(texts);
    }
  });

  it('ends soon if its command is killed', async () => {
    const { copy, args } = await site(`HERE:${folder}/`);
    const bin = path('bin');
    standIn(bin, 'rclone', `echo $$ > ${bin}/pid; PATH=\${PATH#*:} exec rclone --bwlimit=1k "$@"`);
    const { child, done } = start(args);
    await until(() => existsSync(copy), 'files arrive');
    const commandLine = `/proc/${readFileSync(join(bin, 'pid'), 'utf8').trim()}/cmdline`;
    // It is empty if nobody has asked how a process ended.
    const isRunning = (): boolean => existsSync(commandLine) && readFileSync(commandLine, 'utf8') !== '';
    expect(isRunning()).toBe(true);
    child.kill('SIGKILL');
    await done;
    await until(() => !isRunning(), 'rclone ends');
  });

  it('to storage without checksums is verified, and what is wrong repaired by the next one', async () => {
    const { out, copy, args, upload, wrong } = await site('DAV:');
    await upload();
    expect(wrong()).toEqual([]);
    expect((await inProcess(...args, '--verify')).code).toBe(0);
    const file = join(copy, 'api/v1/group/3.json');
    // Of the same length.
    writeFileSync(file, readFileSync(file, 'utf8').replace('group 3', 'GROUP 3'));
    writeFileSync(join(copy, 'api/v1/user/1.json'), 'extra');
    rmSync(join(copy, 'snapshot.json'));
    const { code, stdout } = await inProcess(...args, '--verify', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      missing: ['snapshot.json'],
      different: ['api/v1/group/3.json'],
      extra: ['api/v1/user/1.json'],
      untracked: { total: 0, examples: [] },
    });
    forgetRemotes(out);
    // What the user wants to see of rclone's log doesn't matter.
    Object.assign(process.env, { RCLONE_VERBOSE: '1', RCLONE_LOG_LEVEL: 'CRITICAL', RCLONE_STATS: '0' });
    expect((await inProcess(...args)).code).toBe(0);
    for (const name of ['RCLONE_VERBOSE', 'RCLONE_LOG_LEVEL', 'RCLONE_STATS']) delete process.env[name];
    expect(wrong()).toEqual([]);
  });
});
