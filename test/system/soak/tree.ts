import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

import { ERRORS, HEADERS, LIMITS } from '../../support/snapshot.js';

/** A small tree with everything that may be read, and canaries wherever something may not. */

export interface HostileTree {
  readonly dist: string;
  /** Every body a 200 may have, and that a 206 may have a part of. */
  readonly published: readonly Buffer[];
  /** Texts that must never be sent. */
  readonly canaries: readonly string[];
}

const JSON_TYPE = 'application/json; charset=utf-8';
const ID = [{ name: 'id', in: 'path', type: 'id' }];
const TREE = { name: 'tree', in: 'path', type: 'tree' };
const LIMIT = [{ name: 'limit', in: 'query', type: 'integer', minimum: 1, maximum: 3, default: 2 }];
const route = (name: string, path: string, file: string, more: object): object => ({
  name,
  path,
  file,
  bucket: 'api',
  type: JSON_TYPE,
  ...more,
});
const ROUTES = [
  route('index', '/api/v1', 'api/v1.json', { class: 'summary' }),
  route('group', '/api/v1/group/{id}', 'api/v1/group/{id}.json', { class: 'record', parameters: ID }),
  route('largest', '/api/v1/largest', 'api/v1/largest/{limit}.json', { class: 'summary', parameters: LIMIT }),
  route('history', '/group/{id}/history.json', 'group/{id}/history.json', {
    class: 'record',
    parameters: ID,
  }),
  route('csv', '/downloads/groups.csv', 'downloads/groups.csv', {
    class: 'download',
    bucket: 'download',
    type: 'text/csv; charset=utf-8; header=present',
  }),
  route('checkpoint', '/log/{tree}/checkpoint', 'log/{tree}/checkpoint', {
    class: 'checkpoint',
    bucket: 'page',
    type: 'text/plain',
    parameters: [TREE],
  }),
  route('tile', '/log/{tree}/tile/{path}', 'log/{tree}/tile/{path}', {
    class: 'tile',
    bucket: 'page',
    type: 'application/octet-stream',
    parameters: [TREE, { name: 'path', in: 'path', type: 'path' }],
  }),
  route('front', '/', 'index.html', { class: 'page', bucket: 'page', type: 'text/html; charset=utf-8' }),
];

/** Bytes of the download: more than is kept in memory, so that it is streamed. */
const DOWNLOAD_BYTES = 3_000_000;

/** Places a request might reach by mistake, relative to the tree. */
const FORBIDDEN = [
  '../canary.txt',
  '../other/canary.txt',
  '.env',
  '.gitignore',
  '.snapshot/ledger.json',
  '.snapshot/stage/api/v1/group/7.json',
  '.well-known/.hidden',
  'secret.json',
  'api/v1/group/secret.json',
  'api/v1/group/7',
  'api/v1/group/.json',
  'api/v1/largest/4.json',
  'group/7/.history.json',
  'log/efd62e2505583bf5/secret',
  'log/efd62e2505583bf5/tile/.hidden',
  'log/efd62e2505583bf5/tile/.hidden.p/5',
  'log/efd62e2505583bf/checkpoint',
  'log/secret/tile/0/000',
];

/** @param folder an empty one; the tree is `dist` in it */
export function makeTree(folder: string): HostileTree {
  const dist = join(folder, 'dist');
  const published: Buffer[] = [];
  const canaries: string[] = [];
  const write = (file: string, content: string | Buffer): void => {
    mkdirSync(dirname(join(dist, file)), { recursive: true });
    writeFileSync(join(dist, file), content);
  };
  const publish = (file: string, content: string | Buffer): void => {
    write(file, content);
    published.push(Buffer.from(content));
  };
  publish('api/v1.json', '{"name":"The Example Register"}');
  publish('api/v1/group/7.json', '{"id":7}');
  publish('group/7/history.json', '{"id":7,"members":[]}');
  publish('index.html', '<!doctype html><title>x</title>');
  publish('downloads/groups.csv', Buffer.alloc(DOWNLOAD_BYTES, 'id,name\r\n7,"x"\r\n'));
  publish('log/efd62e2505583bf5/checkpoint', 'a checkpoint');
  publish('log/efd62e2505583bf5/tile/0/000.p/5', Buffer.alloc(160, 'a tile; '));
  for (const limit of [1, 2, 3]) publish(`api/v1/largest/${limit}.json`, `{"limit":${limit}}`);
  const long = JSON.stringify({ id: 8, members: Array.from({ length: 500 }, (_, index) => index * index) });
  publish('api/v1/group/8.json', long);
  publish('api/v1/group/8.json.br', brotliCompressSync(long));
  publish('api/v1/group/8.json.gz', gzipSync(long));

  for (const [index, file] of FORBIDDEN.entries()) {
    const canary = `canary-${index}-in-the-mine`;
    canaries.push(canary);
    write(file, canary);
  }
  // Names that routes do name, but that lead out of the tree.
  symlinkSync('../../../../canary.txt', join(dist, 'api/v1/group/666.json'));
  symlinkSync('/etc/passwd', join(dist, 'api/v1/group/667.json'));
  symlinkSync('../../../..', join(dist, 'log/efd62e2505583bf5/tile/out'));
  // Of what lies anywhere else: /etc/passwd, stack traces, this folder's path.
  canaries.push('root:x:0:0', 'node:internal', '    at ', folder);

  write(
    'snapshot.json',
    JSON.stringify({
      format: 4,
      sequence: 1,
      as_of: null,
      built_at: '2026-11-20T09:00:00Z',
      service: {
        base_url: 'https://register.example',
        docs: '/developers',
        description: '/api/v1/openapi.json',
        licence: { url: 'https://licence.example/' },
      },
      limits: LIMITS,
      headers: HEADERS,
      errors: ERRORS,
      compressed_from: 1_000,
      routes: ROUTES,
    }),
  );
  return { dist, published, canaries };
}
