/** Following changes: of real trees through the real proxy, and of a server that lies. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  StartOverError,
  changesSince,
  type Change,
  type Position,
} from '../../clients/typescript/changes.js';
import { RegisterClient } from '../../clients/typescript/client.js';
import { temporary } from '../support/folder.js';
import { ended, listening } from '../support/ports.js';
import { bundleOf, digestOf, indexOf, snapshotOf, mirrorOf, sha256 } from '../support/published.js';
import { STEP, site } from '../support/site.js';
import { isOfTheBuild } from '../support/tree.js';
import { matching } from '../support/values.js';
import { endsProxies, proxied, rejectionOf } from './support.js';

const path = temporary();
endsProxies();

async function changesOf(client: RegisterClient, position: Position): Promise<Change[]> {
  const changes: Change[] = [];
  for await (const change of changesSince(client, position)) changes.push(change);
  return changes;
}

/** Whether a document is of one build, which `mirrorOf` leaves out. */
const namesTheBuild = (path: string): boolean => path === '/downloads' || isOfTheBuild(path.slice(1));

/** A tree of three snapshots. */
const origin = await site(path);
const { out } = origin;
/** What a copy of the first has: URL -> SHA-256. */
const copy = mirrorOf(out);
const positions: Position[] = [];
const at = (sequence: number): Position => positions[sequence - 1]!;

for (const sql of ['', STEP, `UPDATE groups SET description = 'ünï 🦊' WHERE id = 2`]) {
  if (sql !== '') await origin.build(sql);
  const { tree, sequence, digest } = indexOf(out);
  positions.push({ tree, sequence, digest });
}

describe('changes of a real tree', () => {
  it('bring a copy to the published snapshot', async () => {
    const { client, paths } = await proxied(out);
    const changes = await changesOf(client, at(1));
    for (const change of changes) {
      if (change.kind === 'reached' || namesTheBuild(change.path)) continue;
      if (change.kind === 'put') copy.set(change.path, sha256(change.body));
      else if (change.kind === 'same') copy.set(change.path, copy.get(change.as) ?? '');
      else if (change.kind === 'fetch') copy.set(change.path, change.sha256);
      else copy.delete(change.path);
    }
    // The list of the largest has two URLs at its default, of which changes name one.
    expect(copy).toEqual(mirrorOf(out));
    const reached = changes.filter(({ kind }) => kind === 'reached');
    expect(reached).toEqual([2, 3].map((sequence) => ({ kind: 'reached', ...at(sequence) })));
    expect(paths).toEqual(['/changes/index.json', '/changes/2.ndjson.gz', '/changes/3.ndjson.gz']);
    expect(digestOf(copy, snapshotOf(out).routes)).toBe(at(3).digest);
  });

  it('of a copy that is up to date are none, and cost an empty response', async () => {
    const { client, paths, statuses } = await proxied(out);
    for (let times = 0; times < 2; times += 1) expect(await changesOf(client, at(3))).toEqual([]);
    expect(statuses).toEqual([200, 304]);
    // Nor are there any if a cache still has the index of an earlier snapshot than the copy.
    expect(await changesOf(client, { ...at(3), sequence: 4, digest: 'of a later one' })).toEqual([]);
    expect(new Set(paths)).toEqual(new Set(['/changes/index.json']));
  });

  it('stop at an abort', async () => {
    const { client } = await proxied(out);
    const controller = new AbortController();
    const seen: string[] = [];
    const work = (async () => {
      for await (const { kind } of changesSince(client, at(1), { signal: controller.signal })) {
        seen.push(kind);
        if (kind === 'reached') controller.abort();
      }
    })();
    expect(await rejectionOf(work)).toMatchObject({ name: 'AbortError' });
    expect(seen.filter((kind) => kind === 'reached')).toHaveLength(1);
  });

  it.each([
    ['another tree', (): Position => ({ ...at(2), tree: '0'.repeat(16) }), /the tree is "[0-9a-f]{16}"/],
    ['other content', () => ({ ...at(2), digest: at(1).digest }), /snapshot 2 has the digest/],
  ])('are refused to a copy of %s', async (_, position, message) => {
    const { client, paths } = await proxied(out);
    const error = await rejectionOf(changesOf(client, position()));
    expect(error).toMatchObject({ name: 'StartOverError', message: matching(message) });
    expect(paths).toEqual(['/changes/index.json']);
  });
});

const longer = (content: Buffer): Buffer => Buffer.concat([content, Buffer.alloc(1)]);
const zipped = (lines: readonly object[]): Buffer =>
  gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));

describe('a bundle', () => {
  const BUNDLE = '/changes/3.ndjson.gz';
  const INDEX = '/changes/index.json';
  /** The responses, by path: the real ones, which a test spoils. */
  const files = new Map<string, Buffer>();
  const server = createServer(({ url = '' }, response) => {
    const body = files.get(url);
    const type = url.endsWith('.json') ? 'application/json' : 'application/gzip';
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': type }).end(body);
  });
  let base = '';
  let step: object;
  beforeAll(async () => {
    base = `http://127.0.0.1:${await listening(server)}`;
    [step] = bundleOf(out, 3);
  });
  afterAll(() => ended(server));
  beforeEach(() => {
    for (const url of [INDEX, '/changes/2.ndjson.gz', BUNDLE]) files.set(url, readFileSync(join(out, url)));
  });

  const OTHER = sha256('other');
  const LAST = { path: '/b', file: 'b.json', sha256: sha256('ü🦊'), bytes: 6, body: 'ü🦊' };
  /** Has the index say something else of the bundle. */
  const indexed = (bundle: ReturnType<typeof indexOf>['changes'][number]['bundle']): void => {
    const { changes, ...rest } = indexOf(out);
    const spoilt = changes.with(0, { ...changes[0]!, bundle });
    files.set(INDEX, Buffer.from(JSON.stringify({ ...rest, changes: spoilt })));
  };
  const put = (content: Buffer): Buffer => {
    files.set(BUNDLE, content);
    indexed({ file: BUNDLE, bytes: content.length, sha256: sha256(content) });
    return content;
  };
  /** Has the bundle have these lines. @param header what its first says instead */
  const bundled = (lines: readonly object[], header: object = {}): Buffer =>
    put(zipped([{ ...step, ...header }, ...lines]));

  it('that is not kept means that everything is fetched again', async () => {
    indexed(null);
    const message = 'there is no bundle from snapshot 2 to 3';
    const error = await rejectionOf(changesOf(new RegisterClient(base), at(2)));
    expect(error).toMatchObject({ name: 'StartOverError', message });
  });

  it('may have lines without a body, and long ones', async () => {
    // In pieces that are joined again and again, it would take many minutes.
    const long = { ...LAST, path: '/a', body: 'ß. '.repeat(15_000_000) };
    bundled([
      { ...long, sha256: sha256(long.body) },
      LAST,
      { path: '/c', sha256: OTHER, bytes: 7 },
      { path: '/d', deleted: true },
    ]);
    const [first, ...others] = await changesOf(new RegisterClient(base), at(2));
    expect(first !== undefined && 'body' in first && first.body === long.body).toBe(true);
    expect(others).toEqual([
      { kind: 'put', path: LAST.path, sha256: LAST.sha256, body: LAST.body },
      { kind: 'fetch', path: '/c', sha256: OTHER },
      { kind: 'deleted', path: '/d' },
      { kind: 'reached', ...at(3) },
    ]);
  });

  it.each<[string, () => unknown, RegExp]>([
    ['other bytes', () => files.set(BUNDLE, zipped([])), /3\.ndjson\.gz: expected the SHA-256/],
    ['a body of another hash', () => bundled([{ ...LAST, sha256: OTHER }]), /^\/b in .*expected the SHA-256/],
    ['another tree', () => bundled([LAST], { tree: 'other' }), /expected tree [0-9a-f]{16}.*got other/],
    ['another start', () => bundled([LAST], { from_digest: OTHER }), /expected from_digest/],
    ['another end', () => bundled([LAST], { to_digest: OTHER }), /expected to_digest/],
    ['no lines', () => put(zipped([])), /expected lines/],
    ['a half', () => put(gzipSync(gunzipSync(bundled([LAST])).subarray(0, -1))), /expected a line break/],
    ['a byte too much', () => files.set(BUNDLE, longer(bundled([LAST]))), /expected \d+ bytes, got more/],
    [
      'a line without an end',
      () => put(gzipSync(Buffer.alloc(65 * 1024 * 1024, ' '), { level: 1 })),
      /expected lines of/,
    ],
    ['a cut', () => put(bundled([LAST]).subarray(0, -9)), /expected a whole gzip file/],
    ['no path', () => bundled([{ sha256: OTHER }]), /expected a path/],
    ['a path leading out', () => bundled([{ ...LAST, path: '/a/../../b' }]), /has no "\.\.", got "\/a\/\.\./],
    ['a 404', () => files.delete(BUNDLE), /404/],
  ])('with %s is an error, after the changes before it', async (_, spoil, message) => {
    spoil();
    const seen: Change[] = [];
    const work = (async () => {
      for await (const each of changesSince(new RegisterClient(base), at(1))) seen.push(each);
    })();
    const error = await rejectionOf(work);
    expect(error).not.toBeInstanceOf(StartOverError);
    expect(error).toMatchObject({ message: matching(message) });
    const reached = seen.findIndex(({ kind }) => kind === 'reached');
    expect(seen[reached]).toEqual({ kind: 'reached', ...at(2) });
    expect(seen.slice(reached + 1).filter(({ kind }) => kind !== 'put')).toEqual([]);
  });
});
