/** upload.sh by the real rclone to object storage, seen by the requests that arrive. */
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join, relative } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readPublished } from '../../generator/programs/edge/published.js';
import { Tree } from '../../generator/tree/tree.js';
import { until } from '../support/cli.js';
import { PROJECT, newFolder, temporary } from '../support/folder.js';
import { listening } from '../support/ports.js';
import { has } from '../support/programs.js';
import { hashesOf, sha256 } from '../support/published.js';
import { changeRegister } from '../support/register.js';
import { STEP, buildWith, site, type Site } from '../support/site.js';
import { differing, isSibling } from '../support/tree.js';
import { DEPLOY, DONE, run, type Ended } from './run.js';

const path = temporary();
const PROGRAM = join(PROJECT, 'node_modules/s3rver/bin/s3rver.js');
const BUCKET = 'bucket';
const OBJECT = '._S3rver_object';

/** Nothing of the user's own configuration is read or written. */
const CONFIGURATION = { RCLONE_CONFIG: '/dev/null' };

/** Object storage on this machine: s3rver as a process, reached through a server that notes the requests. */
async function storage() {
  const root = newFolder(path('s3'));
  const server = spawn(
    process.execPath,
    [PROGRAM, '-d', root, '-a', '127.0.0.1', '-p', '0', '--configure-bucket', BUCKET],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const behind = await new Promise<number>((resolve) => {
    server.stdout.setEncoding('utf8').on('data', (text: string) => {
      const [, found] = /listening on 127\.0\.0\.1:(\d+)/.exec(text) ?? [];
      if (found !== undefined) resolve(Number(found));
    });
  });
  const requests: string[] = [];
  const proxy = createServer((incoming, response) => {
    const { method = '', url = '', headers } = incoming;
    const key = decodeURIComponent(url.split('?')[0] ?? '').slice(`/${BUCKET}/`.length);
    if (key !== '' && (method === 'PUT' || method === 'DELETE')) requests.push(`${method} ${key}`);
    const outgoing = request({ port: behind, host: '127.0.0.1', method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    incoming.on('error', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  const port = await listening(proxy);
  onTestFinished(() => {
    proxy.close();
    server.kill();
  });
  const objects = join(root, BUCKET);
  return {
    name: `STORAGE:${BUCKET}`,
    environment: {
      ...CONFIGURATION,
      RCLONE_CONFIG_STORAGE_TYPE: 's3',
      RCLONE_CONFIG_STORAGE_PROVIDER: 'Other',
      RCLONE_CONFIG_STORAGE_ENDPOINT: `http://127.0.0.1:${port}`,
      RCLONE_CONFIG_STORAGE_ACCESS_KEY_ID: 'S3RVER',
      RCLONE_CONFIG_STORAGE_SECRET_ACCESS_KEY: 'S3RVER',
      RCLONE_CONFIG_STORAGE_REGION: 'us-east-1',
    },
    /** Name -> SHA-256 of each file at the remote. */
    files: (): Record<string, string> =>
      Object.fromEntries(
        readdirSync(objects, { recursive: true, encoding: 'utf8' })
          .filter((name) => name.endsWith(OBJECT))
          .map((name) => [
            relative(objects, join(objects, name)).slice(0, -OBJECT.length),
            sha256(readFileSync(join(objects, name))),
          ]),
      ),
    /** Puts a file there that is of somebody else. */
    put: (name: string) => {
      writeFileSync(join(objects, name + OBJECT), '');
      writeFileSync(join(objects, `${name}._S3rver_metadata.json`), '{}');
      writeFileSync(join(objects, `${name}._S3rver_object.md5`), '"d41d8cd98f00b204e9800998ecf8427e"');
    },
    /** `PUT api/v1/stats.json`, in order, since the last call. */
    sent: () => requests.splice(0),
    headersOf: async (name: string): Promise<Headers> =>
      (await fetch(`http://127.0.0.1:${port}/${BUCKET}/${name}`, { method: 'HEAD' })).headers,
  };
}

type Remote = Awaited<ReturnType<typeof storage>>;

const upload = (out: string, { name, environment }: Remote, ...lists: string[]): Promise<Ended> =>
  run([join(DEPLOY, 'upload.sh'), out, name, ...lists], environment);

const isSent = (name: string): boolean => !isSibling(name);

const sentOf = (out: string): Record<string, string> =>
  Object.fromEntries(Object.entries(hashesOf(out)).filter(([name]) => isSent(name)));

const linesOf = (list: string): string[] => readFileSync(list, 'utf8').trimEnd().split('\n').filter(isSent);

const isAsset = (line: string): boolean => line.startsWith('PUT assets/');

/** Builds the next snapshot, with lists. @returns them as they are, and their lines */
async function next({ register, out }: Site, sql: string) {
  changeRegister(register, sql);
  const lists = { filesFrom: path('files'), deleteFrom: path('gone') };
  await buildWith({ register, out, ...lists });
  return {
    lists: [lists.filesFrom, lists.deleteFrom],
    put: linesOf(lists.filesFrom),
    gone: linesOf(lists.deleteFrom),
  };
}

describe.runIf(has('uploads', 'rclone', 'jq'))('upload.sh', () => {
  // Under load, the S3 server may say that an object is empty which it has not stored yet; rclone then sends it again.
  it('gives objects headers, sends what is listed, and then deletes', { retry: 1 }, async () => {
    const origin = await site(path);
    const { out } = origin;
    const remote = await storage();
    expect(await upload(out, remote)).toEqual(DONE);
    const names = Object.keys(sentOf(out));
    const puts = remote.sent();
    expect(puts.toSorted()).toEqual(names.map((name) => `PUT ${name}`).toSorted());
    expect(puts.slice(-2)).toEqual(['PUT changes/index.json', 'PUT snapshot.json']);
    expect(puts.findLastIndex(isAsset)).toBe(puts.filter(isAsset).length - 1);
    const { headers, routes } = readPublished(new Tree(out));
    for (const name of names) {
      const route = routes.find(({ file }) => patternOf(file).test(name));
      const found = await remote.headersOf(name);
      const expected = [route?.type, headers.content[route?.class ?? 'page']['Cache-Control']];
      expect([name, found.get('content-type'), found.get('cache-control')]).toEqual([name, ...expected]);
    }
    const { lists, put, gone } = await next(origin, STEP);
    expect(gone.length).toBeGreaterThan(0);
    expect(await upload(out, remote, ...lists)).toEqual(DONE);
    const sent = remote.sent();
    expect(sent.slice(0, put.length).toSorted()).toEqual(put.map((name) => `PUT ${name}`).toSorted());
    expect(sent[put.length - 1]).toBe('PUT snapshot.json');
    expect(sent.slice(put.length).toSorted()).toEqual(gone.map((name) => `DELETE ${name}`).toSorted());
    const before = remote.files();
    expect(differing(before, sentOf(out))).toEqual([]);

    // Interrupted, it has deleted nothing and published no snapshot, and is repeated with all.
    const later = await next(
      origin,
      `UPDATE groups SET description = 'other'; DELETE FROM items WHERE id = 7`,
    );
    const command = spawn(join(DEPLOY, 'upload.sh'), [out, remote.name], {
      env: { PATH: process.env['PATH'], ...remote.environment },
      detached: true,
      stdio: 'ignore',
    });
    const ended = new Promise((settle) => command.once('close', settle));
    const seen: string[] = [];
    await until(() => {
      seen.push(...remote.sent());
      return seen.length > 3;
    }, 'objects arrive');
    process.kill(-(command.pid ?? 0), 'SIGTERM');
    expect(await ended).not.toBe(0);
    const now = remote.files();
    for (const name of ['snapshot.json', ...later.gone]) expect(now[name]).toBe(before[name]);
    // What edge headers writes stays, and nothing else.
    for (const name of ['_headers', 'of-somebody-else']) remote.put(name);
    expect(await upload(out, remote)).toEqual(DONE);
    const { _headers: own, ...files } = remote.files();
    expect(own).toBeDefined();
    expect(differing(files, sentOf(out))).toEqual([]);
  });

  it('ends with 3, and changes nothing, where the remote can’t be compared', async () => {
    const { out } = await site(path);
    const ended = await run([join(DEPLOY, 'upload.sh'), out, 'NOWHERE:bucket'], CONFIGURATION);
    expect(ended.code).toBe(3);
    expect(ended.output).toMatch(/find section[^]*\nupload: NOWHERE:bucket could not be compared with /);
  });
});

const patternOf = (file: string): RegExp =>
  new RegExp(`^${file.replaceAll('.', String.raw`\.`).replaceAll(/\{\w+\}/g, String.raw`[\w-]+`)}$`);
