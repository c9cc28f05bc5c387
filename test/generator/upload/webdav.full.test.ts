/** Uploads by the real rclone to storage that has folders, and no checksums. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { has } from '../../support/programs.js';
import { inState } from '../../support/tree.js';
import { hashesOf, inProcess, temporary } from '../publish/support.js';
import { realSite } from './real.js';

const path = temporary();
const folder = path('webdav');
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
    RCLONE_CONFIG_DAV_TYPE: 'webdav',
    RCLONE_CONFIG_DAV_VENDOR: 'other',
    RCLONE_CONFIG_DAV_URL: url,
    RCLONE_TRANSFERS: '16',
  });
  delete process.env['AWS_CA_BUNDLE'];
});
afterAll(() => {
  stop();
  process.env = before;
});

let prefixes = 0;

async function site() {
  const prefix = `p${(prefixes += 1)}`;
  const copy = join(folder, prefix);
  return { ...(await realSite(path, `DAV:${prefix}`, () => hashesOf(copy))), copy };
}

describe.runIf(has('uploads to WebDAV', 'rclone'))('an upload to storage without checksums', () => {
  it('notices and repairs a document of another content and the same length', async () => {
    const { out, copy, args, upload, wrong } = await site();
    await upload();
    expect(wrong()).toEqual([]);
    expect((await inProcess(...args, '--verify')).code).toBe(0);
    const file = join(copy, 'api/v1/group/3.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('group 3', 'GROUP 3'));
    const { code, stdout } = await inProcess(...args, '--verify', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ different: ['api/v1/group/3.json'], missing: [], extra: [] });
    rmSync(inState(out, 'uploads'), { recursive: true });
    // What the user wants to see of rclone's log doesn't matter.
    Object.assign(process.env, { RCLONE_VERBOSE: '1', RCLONE_LOG_LEVEL: 'CRITICAL', RCLONE_STATS: '0' });
    expect((await inProcess(...args)).code).toBe(0);
    for (const name of ['RCLONE_VERBOSE', 'RCLONE_LOG_LEVEL', 'RCLONE_STATS']) delete process.env[name];
    expect(wrong()).toEqual([]);
  });
});
