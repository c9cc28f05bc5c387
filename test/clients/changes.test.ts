/** Following changes: of real trees through the real proxy, and of a server that lies. */
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { StartOverError, changesSince } from '../../clients/typescript/changes.js';
import type { Change, Position } from '../../clients/typescript/changes.js';
import type { Document, RegisterClient } from '../../clients/typescript/client.js';
import {
  ROWS,
  STEP,
  digestOf,
  indexOf,
  manifestOf,
  mirrorOf,
  sha256,
  temporary,
} from '../generator/publish/support.js';
import { published } from '../support/build.js';
import { changeRegister, writeRegister } from '../support/register.js';
import { site } from '../support/site.js';
import { endsProxies, proxied, rejectionOf, served } from './support.js';

const path = temporary();
endsProxies();

async function changesOf(client: RegisterClient, position: Position): Promise<Change[]> {
  const changes: Change[] = [];
  for await (const change of changesSince(client, position)) changes.push(change);
  return changes;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : '');

describe('changes of a real tree', () => {
  const out = path('dist');
  /** What a copy has at each snapshot: URL -> SHA-256. */
  const copies = new Map<number, ReadonlyMap<string, string>>();
  const positions = new Map<number, Position>();

  const at = (sequence: number): Position => positions.get(sequence)!;

  beforeAll(async () => {
    const register = writeRegister(path('register.sqlite'), ROWS);
    for (let sequence = 1; sequence <= 5; sequence += 1) {
      if (sequence === 3) changeRegister(register, STEP);
      else if (sequence > 1)
        changeRegister(
          register,
          `UPDATE groups SET description = 'ünï 🦊 ${sequence}' WHERE id = ${sequence};
           UPDATE users SET display_name = '${sequence}' WHERE id = 1007;`,
        );
      await published({ register, out, acceptRemovals: true });
      const { tree, digest } = indexOf(out);
      positions.set(sequence, { tree, sequence, digest });
      copies.set(sequence, mirrorOf(out));
    }
  });

  it.each([1, 2, 3, 4])('bring a copy of snapshot %i to the published one', async (start) => {
    const { client, paths } = await proxied(out);
    const copy = new Map(copies.get(start));
    const changes = await changesOf(client, at(start));
    for (const change of changes) {
      if (change.kind === 'put') copy.set(change.path, sha256(change.body));
      else if (change.kind === 'fetch') copy.set(change.path, change.sha256);
      else if (change.kind === 'deleted') copy.delete(change.path);
    }
    // The list of the largest has two URLs at its default, of which changes name one.
    expect(copy).toEqual(copies.get(5));
    const steps = [2, 3, 4, 5].slice(start - 1);
    expect(changes.filter(({ kind }) => kind === 'reached')).toEqual(
      steps.map((sequence) => ({ kind: 'reached', ...at(sequence) })),
    );
    expect(paths).toEqual(['/changes/index.json', ...steps.map((to) => `/changes/${to}.ndjson.gz`)]);
    expect(digestOf(copy, manifestOf(out).routes)).toBe(at(5).digest);
  });

  it('of a copy that is up to date are none, and cost an empty response', async () => {
    const { client, paths, statuses } = await proxied(out);
    for (let times = 0; times < 2; times += 1) expect(await changesOf(client, at(5))).toEqual([]);
    expect(statuses).toEqual([200, 304]);
    // Nor are there any if a cache still has the index of an earlier snapshot than the copy.
    expect(await changesOf(client, { ...at(5), sequence: 6, digest: 'of a later one' })).toEqual([]);
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
    ['other content', () => ({ ...at(3), digest: at(4).digest }), /snapshot 3 has the digest/],
    ['other content at the end', () => ({ ...at(5), digest: at(4).digest }), /snapshot 5 has the digest/],
  ])('are refused to a copy of %s', async (_, position, message) => {
    const { client, paths } = await proxied(out);
    const error = await rejectionOf(changesOf(client, position()));
    expect(error).toBeInstanceOf(StartOverError);
    expect(messageOf(error)).toMatch(message);
    expect(paths).toEqual(['/changes/index.json']);
  });

  it('are refused to a copy older than a takedown', async () => {
    const made = await site(path);
    const { tree, sequence, digest } = indexOf(made.out);
    for (const id of [5, 6])
      await made.build(`INSERT INTO withheld VALUES ('group', ${id}, '2026-11-20T08:00:00Z')`);
    const { client } = await proxied(made.out);
    const position = { tree, sequence, digest };
    expect(await rejectionOf(changesOf(client, position))).toBeInstanceOf(StartOverError);
  });
});

const TREE = 'abcdef0123456789';
const DIGESTS = ['1', '2', '3'].map((content) => sha256(content));
const [FIRST = '', SECOND = '', THIRD = ''] = DIGESTS;

const header = (from: number) => ({
  tree: TREE,
  from,
  to: from + 1,
  from_digest: DIGESTS[from - 1],
  to_digest: DIGESTS[from],
});
const put = (at: string, body: string, hash = sha256(body)) => ({
  path: at,
  sha256: hash,
  bytes: Buffer.byteLength(body),
  body,
});
const lines = (...all: readonly object[]): string => all.map((line) => `${JSON.stringify(line)}\n`).join('');

const described = (sequence: number, bundle: Buffer, hash = sha256(bundle)) => ({
  sequence,
  from: sequence - 1,
  from_digest: DIGESTS[sequence - 2] ?? null,
  digest: DIGESTS[sequence - 1] ?? '',
  as_of: null,
  built_at: '2026-11-20T08:00:00Z',
  counts: {},
  file: `/changes/${sequence}.json`,
  bytes: 1,
  sha256: FIRST,
  bundle: { file: `/changes/${sequence}.ndjson.gz`, bytes: bundle.length, sha256: hash },
});

/** What a tree of two changes publishes, and what a test has it publish instead. */
async function lying(second: Buffer, change: { readonly sha256?: string; readonly status?: number } = {}) {
  const first = gzipSync(lines(header(1), put('/a', 'one')));
  const index: Document<'/changes/index.json'> = {
    tree: TREE,
    sequence: 3,
    digest: THIRD,
    oldest: 1,
    changes: [described(3, second, change.sha256), described(2, first)],
  };
  const bundles: Readonly<Record<string, Buffer>> = {
    '/changes/2.ndjson.gz': first,
    '/changes/3.ndjson.gz': second,
  };
  return served(({ url = '' }, response) => {
    if (url === '/changes/index.json')
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(index));
    else response.writeHead(bundles[url] === second ? (change.status ?? 200) : 200).end(bundles[url]);
  });
}

const START: Position = { tree: TREE, sequence: 1, digest: FIRST };

describe('a bundle', () => {
  it('may have lines without a body', async () => {
    const text = Buffer.from(
      lines(
        header(2),
        put('/b', '{"name":"ü🦊"}'),
        { path: '/c', sha256: FIRST, bytes: 7 },
        { path: '/d', deleted: true },
      ),
    );
    const { client } = await lying(gzipSync(text));
    expect(await changesOf(client, START)).toEqual([
      { kind: 'put', path: '/a', sha256: sha256('one'), body: 'one' },
      { kind: 'reached', tree: TREE, sequence: 2, digest: SECOND },
      { kind: 'put', path: '/b', sha256: sha256('{"name":"ü🦊"}'), body: '{"name":"ü🦊"}' },
      { kind: 'fetch', path: '/c', sha256: FIRST },
      { kind: 'deleted', path: '/d' },
      { kind: 'reached', tree: TREE, sequence: 3, digest: THIRD },
    ]);
  });

  const good = gzipSync(lines(header(2), put('/b', 'two')));
  it.each([
    ['other bytes than the index says', good, { sha256: FIRST }, /3\.ndjson\.gz: expected the SHA-256/],
    [
      'a body of another hash',
      gzipSync(lines(header(2), put('/b', 'two', FIRST))),
      {},
      /^\/b in .*expected the SHA-256/,
    ],
    ['another tree', gzipSync(lines({ ...header(2), tree: 'other' })), {}, /expected tree abc.*got other/],
    ['another start', gzipSync(lines({ ...header(2), from_digest: FIRST })), {}, /expected from_digest/],
    ['another end', gzipSync(lines({ ...header(2), to_digest: FIRST })), {}, /expected to_digest/],
    ['other numbers', gzipSync(lines({ ...header(2), to: 4 })), {}, /expected to 3, got 4/],
    ['no lines', gzipSync(''), {}, /expected lines/],
    [
      'half a line',
      gzipSync(lines(header(2), put('/b', 'two')).slice(0, -1)),
      {},
      /3\.ndjson\.gz: expected a line break/,
    ],
    ['a cut', good.subarray(0, -9), {}, /3\.ndjson\.gz: expected a whole gzip file/],
    ['no path', gzipSync(lines(header(2), { sha256: FIRST })), {}, /expected a path/],
    ['a 404', good, { status: 404 }, /404/],
  ])('with %s is an error, after the changes before it', async (_, second, change, message) => {
    const { client } = await lying(second, change);
    const seen: Change[] = [];
    const work = (async () => {
      for await (const each of changesSince(client, START)) seen.push(each);
    })();
    const error = await rejectionOf(work);
    expect(messageOf(error)).toMatch(message);
    expect(error).not.toBeInstanceOf(StartOverError);
    expect(seen.map(({ kind }) => kind).filter((kind) => kind !== 'put')).toEqual(['reached']);
  });
});
