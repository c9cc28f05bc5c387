/** Object storage on this machine: s3rver as a process, reached through a server that notes the requests. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join, relative } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { PROJECT } from '../../../support/folder.js';
import { listening } from '../../../support/ports.js';
import { sha256 } from '../../publish/support.js';

const PROGRAM = join(PROJECT, 'node_modules/s3rver/bin/s3rver.js');
const OBJECT = '._S3rver_object';

/** The name of the remote, which the environment configures for all programs started from here. */
export const REMOTE = 'STORAGE';
export const BUCKET = 'bucket';

/** For the tests of a file. @param folder where the objects are */
export function storage(folder: string) {
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
