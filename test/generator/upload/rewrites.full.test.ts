/** The rule of docs/publishing.md for nginx in front of a bucket, run as it stands there. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serving } from '../../system/contract/servers.js';
import { ROWS, filesByUrl, temporary } from '../publish/support.js';
import { published } from '../../support/build.js';
import { PROJECT } from '../../support/folder.js';
import { has } from '../../support/programs.js';
import { writeRegister } from '../../support/register.js';
import { freePort } from '../../support/ports.js';

const path = temporary();
const out = path('dist');
const HAS_NGINX = has('nginx in front of a bucket', 'nginx');

/** What the bucket received, each as its whole text. */
const received: string[] = [];
let port = 0;
const stops: (() => void)[] = [];

beforeAll(async () => {
  if (!HAS_NGINX) return;
  await published({ register: writeRegister(path('register.sqlite'), ROWS), out });
  const bucket = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.setEncoding('latin1').on('data', (text: string) => {
      received.push(text);
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    });
  });
  const behind = await freePort();
  bucket.listen(behind, '127.0.0.1');
  stops.push(() => void bucket.close());
  port = await freePort();
  const folder = path('nginx');
  mkdirSync(folder);
  const page = readFileSync(join(PROJECT, 'docs/publishing.md'), 'utf8');
  const [, rule = ''] = /```nginx\n(map .*?)```/s.exec(page) ?? [];
  const here = rule
    .replace('listen 80', `listen 127.0.0.1:${port}`)
    .replace('http://storage.example/', `http://127.0.0.1:${behind}/`)
    .replace(/resolver .*/, '');
  const temporaries = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; worker_processes 1; pid ${folder}/pid; events { }
    http { access_log off; ${temporaries.join(' ')} ${here} }`,
  );
  const nginx = await serving(port, spawn('nginx', ['-e', 'stderr', '-c', file], { stdio: 'pipe' }));
  stops.push(() => void nginx.stop());
});

afterAll(() => {
  for (const stop of stops) stop();
});

/** Sends a target as it is, which clients would change. @returns the response */
function send(target: string): Promise<string> {
  return new Promise((settle, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`GET ${target} HTTP/1.1\r\nHost: register.example\r\nConnection: close\r\n\r\n`);
    });
    socket.setEncoding('latin1').on('data', (part: string) => (text += part));
    socket.on('error', reject).on('close', () => settle(text));
  });
}

/** The target of the one request that the bucket got for one. */
async function askedOf(target: string): Promise<string> {
  received.length = 0;
  await send(target);
  expect(received).toHaveLength(1);
  const [head = ''] = received;
  expect(head.match(/^Host: .*$/gim)).toEqual(['Host: storage.example']);
  expect(head.match(/ HTTP\/1/g)).toHaveLength(1);
  return head.split('\r\n')[0] ?? '';
}

describe.runIf(HAS_NGINX)('nginx in front of a bucket', () => {
  it('finds the file of every URL', async () => {
    for (const [url, file] of filesByUrl(out)) {
      expect(await askedOf(url), url).toBe(`GET /bucket/prefix${file} HTTP/1.0`);
    }
  });

  it.each([
    '/x.css%20HTTP/1.1%0d%0aHost:%20other-bucket%0d%0a%0d%0a',
    '/x.css%20HTTP/1.1%0d%0aX:%20',
    '/%3flist-type=2',
    '/x.css%3flist-type=2',
    '/api/v1%3flist-type=2',
    '/api/v1/group/7%0d%0aX:y.json',
    '/api/v1/group/7%20',
    '/x.css%0a',
    '/x%0a',
    '/x%0d',
    '/x%09y.css',
    '/x%23y.css',
    '/x%26y.css',
    '/%252e%252e/other.css',
    '/%c3%a4.css',
    '/a;b=c.css',
  ])('asks for nothing if sent %s', async (target) => {
    expect(await askedOf(target)).toBe('GET /bucket/prefix/invalid/ HTTP/1.0');
  });

  it('drops the parameters', async () => {
    expect(await askedOf('/x.css?list-type=2')).toBe('GET /bucket/prefix/x.css HTTP/1.0');
    for (const limit of ['../x', '5%20', '5%0d%0aX:%20y', '5/../x', '']) {
      expect(await askedOf(`/api/v1/largest?limit=${limit}`)).toMatch(
        /^GET \/bucket\/prefix\/api\/v1\/largest(\/100)?\.json HTTP\/1\.0$/,
      );
    }
  });

  it('stays below the prefix', async () => {
    received.length = 0;
    expect(await send('/../other/x.css')).toContain(' 400 ');
    expect(await send('/a/..%2f..%2fx.css')).toContain(' 400 ');
    expect(received).toEqual([]);
  });
});
