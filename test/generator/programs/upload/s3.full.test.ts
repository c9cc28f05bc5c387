/** Uploads to object storage by the real rclone, seen by the requests that arrive. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPublished } from '../../../../generator/programs/edge/published.js';
import { Tree } from '../../../../generator/tree/tree.js';
import { PROJECT } from '../../../support/folder.js';
import { listening } from '../../../support/ports.js';
import { has } from '../../../support/programs.js';
import { containing } from '../../../support/values.js';
import { inProcess, sha256, start, temporary, until } from '../../publish/support.js';
import { realSite } from './real.js';

const path = temporary();
const PROGRAM = join(PROJECT, 'node_modules/s3rver/bin/s3rver.js');
const OBJECT = '._S3rver_object';

/** The name of the remote, which the environment configures for all programs started from here. */
const REMOTE = 'STORAGE';
const BUCKET = 'bucket';

/** Object storage on this machine: s3rver as a process, reached through a server that notes the requests. */
function storage() {
  const folder = path('s3');
  let port = 0;
  const requests: string[] = [];
  const stops: (() => void)[] = [];
  beforeAll(async () => {
    mkdirSync(folder);
    const server = spawn(
      process.execPath,
      [PROGRAM, '-d', folder, '-a', '127.0.0.1', '-p', '0', '--configure-bucket', BUCKET],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    stops.push(() => server.kill());
    const behind = await new Promise<number>((resolve) => {
      server.stdout.setEncoding('utf8').on('data', (text: string) => {
        const [, found] = /listening on 127\.0\.0\.1:(\d+)/.exec(text) ?? [];
        if (found !== undefined) resolve(Number(found));
      });
    });
    const proxy = createServer((incoming, response) => {
      const { method = '', url = '', headers } = incoming;
      const key = decodeURIComponent(url.split('?')[0] ?? '').slice(`/${BUCKET}/`.length);
      if (key !== '') requests.push(`${method} ${key}`);
      const outgoing = request({ port: behind, host: '127.0.0.1', method, path: url, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      outgoing.on('error', () => response.destroy());
      incoming.on('error', () => outgoing.destroy());
      incoming.pipe(outgoing);
    });
    port = await listening(proxy);
    stops.push(() => proxy.close());
    configure(port);
  });
  afterAll(() => {
    for (const stop of stops) stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    /** `PUT api/v1/stats.json`, in order, without what asks for the bucket. */
    requests,
    /** Key -> SHA-256 below a prefix. */
    objects: (prefix: string) => objectsIn(join(folder, BUCKET, prefix)),
    /** Does something with an object. */
    send: (method: string, key: string, body?: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}/${BUCKET}/${key}`, { method, ...(body !== undefined && { body }) }),
  };
}

/** Nothing of the user's own configuration is read or written. */
function configure(port: number): void {
  const prefix = `RCLONE_CONFIG_${REMOTE}`;
  Object.assign(process.env, {
    RCLONE_CONFIG: '/dev/null',
    [`${prefix}_TYPE`]: 's3',
    [`${prefix}_PROVIDER`]: 'Other',
    [`${prefix}_ENDPOINT`]: `http://127.0.0.1:${port}`,
    [`${prefix}_ACCESS_KEY_ID`]: 'S3RVER',
    [`${prefix}_SECRET_ACCESS_KEY`]: 'S3RVER',
    [`${prefix}_REGION`]: 'us-east-1',
  });
  // With it, rclone 1.60 refuses to start.
  delete process.env['AWS_CA_BUNDLE'];
}

function objectsIn(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {};
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(({ name }) => name.endsWith(OBJECT))
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((file) => [relative(folder, file).slice(0, -OBJECT.length), sha256(readFileSync(file))]),
  );
}

const { requests, objects, send } = storage();

let prefixes = 0;

/** A tree, and a prefix of its own for it. */
async function site() {
  const prefix = `p${(prefixes += 1)}`;
  const real = await realSite(path, `${REMOTE}:${BUCKET}/${prefix}`, () => objects(prefix));
  return {
    ...real,
    prefix,
    upload: () => {
      requests.length = 0;
      return real.upload();
    },
    /** The keys of requests with a method, in order. */
    sent: (method: string) =>
      requests
        .filter((request) => request.startsWith(`${method} ${prefix}/`))
        .map((request) => request.slice(method.length + prefix.length + 2)),
  };
}

describe.runIf(has('uploads to object storage', 'rclone'))('an upload to object storage', () => {
  it('writes every document with its headers, once, and snapshot.json last', async () => {
    const { out, prefix, upload, wrong, sent } = await site();
    const first = await upload();
    expect(wrong()).toEqual([]);
    const keys = Object.keys(objects(prefix));
    expect(first).toEqual({ written: keys.length, deleted: 0, unchanged: 0, compared: true });
    const puts = sent('PUT');
    expect(puts.toSorted()).toEqual(keys.toSorted());
    expect(puts.slice(-2)).toEqual(['changes/index.json', 'snapshot.json']);
    const { headers, routes } = readPublished(new Tree(out));
    for (const key of keys) {
      const route = routes.find(({ file }) => patternOf(file).test(key))!;
      const { headers: found } = await send('HEAD', `${prefix}/${key}`);
      const { type, class: cacheClass, attachment } = route;
      const disposition = attachment === undefined ? null : `attachment; filename="${attachment}"`;
      const names = ['content-type', 'cache-control', 'content-disposition'];
      const expected = [type, headers.content[cacheClass]?.['Cache-Control'], disposition];
      expect([key, ...names.map((name) => found.get(name))]).toEqual([key, ...expected]);
    }
    requests.length = 0;
    expect(await upload()).toEqual({ written: 0, deleted: 0, unchanged: keys.length, compared: false });
    expect(requests).toEqual([]);
  });

  it('to a remote that is not configured ends with 3 and what rclone says', async () => {
    const { out } = await site();
    const { code, stderr } = await inProcess('upload', '--out', out, '--to', 'NOWHERE:bucket');
    expect(code).toBe(3);
    expect(stderr).toMatch(/^error: rclone failed with 1 while comparing \(NOWHERE:bucket\)[^]*find section/);
  });

  it('stops rclone on SIGTERM, ends with 130, and goes on the next time', async () => {
    const { args, upload, wrong } = await site();
    requests.length = 0;
    const { child, done } = start(args);
    await until(() => requests.length > 40, 'objects arrive');
    child.kill('SIGTERM');
    const stderr = containing('stopped by SIGTERM; the next upload continues from here');
    expect(await done).toMatchObject({ code: 130, stderr });
    expect((await upload()).compared).toBe(true);
    expect(wrong()).toEqual([]);
  });
});

const patternOf = (file: string): RegExp =>
  new RegExp(`^${file.replaceAll('.', String.raw`\.`).replaceAll(/\{\w+\}/g, String.raw`[\da-f-]+`)}$`);
