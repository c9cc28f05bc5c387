import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

import { ROUTES, snapshotJson } from '../../support/snapshot.js';

/** A small tree with everything that may be read, and canaries wherever something may not. */

export interface HostileTree {
  readonly dist: string;
  /** Every body a 200 may have, and that a 206 may have a part of. */
  readonly published: readonly Buffer[];
  /** Texts that must never be sent. */
  readonly canaries: readonly string[];
}

/** Those of which the tree has files; three of the largest. */
const NAMES = new Set('index group largest history csv front'.split(' '));
const LIMIT = { name: 'limit', in: 'query', type: 'integer', minimum: 1, maximum: 3, default: 2 };
const SERVED = ROUTES.filter(({ name }) => NAMES.has(name)).map((route) =>
  route.name === 'largest' ? { ...route, parameters: [LIMIT] } : route,
);

/** Bytes of the download: more than is kept in memory, so that it is streamed. */
const DOWNLOAD_BYTES = 3_000_000;

/** Places a request might reach by mistake, relative to the tree. */
const FORBIDDEN = (
  '../canary.txt ../other/canary.txt .env .gitignore .snapshot/ledger.json .snapshot/stage/api/v1/group/7.json ' +
  '.well-known/.hidden secret.json api/v1/group/secret.json api/v1/group/7 api/v1/group/.json ' +
  'api/v1/largest/4.json group/7/.history.json'
).split(' ');

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
  // Of what lies anywhere else: /etc/passwd, stack traces, this folder's path.
  canaries.push('root:x:0:0', 'node:internal', '    at ', folder);

  write('snapshot.json', JSON.stringify(snapshotJson({ compressed_from: 1_000, routes: SERVED })));
  return { dist, published, canaries };
}
