/** What deploy/ has to find the file of a URL in a bucket, functions and a rule for nginx, run as it stands there. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { PROJECT, temporary } from '../../../support/folder.js';
import { freePort, listening } from '../../../support/ports.js';
import { has } from '../../../support/programs.js';
import { isThorough, it, thorough } from '../../../support/thorough.js';
import { sender } from '../../../system/contract/cases.js';
import { serve, temporariesIn, type EdgeServer } from '../../../system/contract/servers.js';
import { filesByUrl } from '../../../support/published.js';
import { site } from '../../../support/site.js';

const path = temporary();
const { out } = await site(path);
const deployed = (name: string): string => readFileSync(join(PROJECT, 'deploy', name), 'utf8');
const [cloudFront, worker] = [deployed('cloudfront.js'), deployed('cloudflare-worker.js')];
/** The function that both have. */
const [common = ''] = /^\/\*\* The file of a URL.*?^\}\n/ms.exec(cloudFront) ?? [];

/** What a call in the documented code gives. */
const evaluate = (code: string, globals: object): unknown => runInNewContext(code, { ...globals });

describe('the rewriting functions', () => {
  it('are one function in two files', () => {
    expect(common).toContain('function fileOf(path, limit)');
    expect(worker).toContain(common);
  });

  it('find the file of every URL in a CloudFront Function', () => {
    const events = filesByUrl(out).map(([url]) => {
      const { pathname, searchParams } = new URL(url, 'https://register.example');
      const querystring = Object.fromEntries([...searchParams].map(([name, value]) => [name, { value }]));
      return { request: { uri: pathname, querystring } };
    });
    const found = evaluate(`${cloudFront}; events.map((event) => handler(event).uri)`, { events });
    expect(found).toEqual(filesByUrl(out).map(([, file]) => file));
    expect(events.length).toBeGreaterThan(300);
  });

  it('find the file of every URL in a Cloudflare Worker', () => {
    const code = `${worker.replace('export default', 'const worker =')}; urls.map((url) => worker.fetch({ url }))`;
    const urls = filesByUrl(out).map(([url]) => `https://register.example${url}`);
    // The request goes to the bucket; here it only says where.
    class Request extends URL {
      constructor(url: URL) {
        super(url.href);
      }
    }
    const globals = { URL, urls, Request, fetch: ({ pathname, search }: URL) => pathname + search };
    expect(evaluate(code, globals)).toEqual(filesByUrl(out).map(([, file]) => file));
  });

  it('send what is no URL of the site nowhere', () => {
    expect(evaluate(`${common}; fileOf('/api/v1/largest', '../../x')`, {})).toBe('/invalid');
    const listings = ['/a.css?list-type=2', '/a.css%3flist-type=2'];
    const others = [...listings, '/a b.css', '/a.css\n', '/api/../../other/a.json'];
    for (const uri of others) expect(evaluate(`${common}; fileOf(uri)`, { uri }), uri).toBe('/invalid');
  });
});

const HAS_NGINX = isThorough && has('nginx in front of a bucket', 'nginx');

/** What the bucket received, each as its whole text. */
const received: string[] = [];
const bucket = createServer((socket) => {
  socket.on('error', () => socket.destroy());
  socket.setEncoding('latin1').on('data', (text: string) => {
    received.push(text);
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
  });
});
let nginx: EdgeServer | undefined;

beforeAll(async () => {
  if (!HAS_NGINX) return;
  const [port, behind, folder] = [await freePort(), await listening(bucket), path('nginx')];
  mkdirSync(folder);
  const here = deployed('nginx-bucket.conf')
    .replace('listen 80', `listen 127.0.0.1:${port}`)
    .replace('http://storage.example/', `http://127.0.0.1:${behind}/`)
    .replace(/resolver .*/, '');
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; worker_processes 1; pid ${folder}/pid; events { }
    http { access_log off; ${temporariesIn('tmp')} ${here} }`,
  );
  nginx = await serve(port, folder, file);
});

afterAll(async () => {
  await nginx?.stop();
  bucket.close();
});

/** The target of the one request that the bucket got for one. */
async function askedOf(target: string): Promise<string> {
  received.length = 0;
  await sender(nginx?.base ?? '')(target);
  expect(received).toHaveLength(1);
  const [head = ''] = received;
  expect(head.match(/^Host: .*$/gim)).toEqual(['Host: storage.example']);
  expect(head.match(/ HTTP\/1/g)).toHaveLength(1);
  return head.split('\r\n')[0] ?? '';
}

describe.runIf(HAS_NGINX)('nginx in front of a bucket', () => {
  thorough('finds the file of every URL', async () => {
    for (const [url, file] of filesByUrl(out)) {
      expect(await askedOf(url), url).toBe(`GET /bucket/prefix${file} HTTP/1.0`);
    }
  });

  thorough('asks for nothing if sent anything else', async () => {
    const targets =
      '/x.css%20HTTP/1.1%0d%0aHost:%20other-bucket%0d%0a%0d%0a /x.css%20HTTP/1.1%0d%0aX:%20 /%3flist-type=2 ' +
      '/x.css%3flist-type=2 /api/v1%3flist-type=2 /api/v1/group/7%0d%0aX:y.json /api/v1/group/7%20 /x.css%0a ' +
      '/x%0a /x%0d /x%09y.css /x%23y.css /x%26y.css /%252e%252e/other.css /%c3%a4.css /a;b=c.css';
    for (const target of targets.split(' '))
      expect(await askedOf(target), target).toBe('GET /bucket/prefix/invalid/ HTTP/1.0');
  });
});
