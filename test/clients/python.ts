/** What tests of the scripts in Python share: a site that goes on, servers in between, other constants. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import * as z from 'zod';
import { writeSample } from '../../data/sample.js';
import { PROJECT } from '../support/folder.js';
import { freePort, listenOn } from '../support/ports.js';
import { startProxy, type RunningProxy } from '../support/proxy.js';
import { documentsOf, hashesOf, snapshotOf } from '../support/published.js';
import { Site, copies } from '../support/site.js';
import { serve, temporariesIn, type EdgeServer } from '../system/contract/servers.js';

type Path = (name: string) => string;

export const PYTHON = '/usr/bin/python3';

export const scriptOf = (name: string): string => join(PROJECT, 'clients/python', name);

/** The id of one of the records that are not withheld. */
export const nth = (table: string, offset: number): string =>
  `(SELECT id FROM ${table} WHERE id NOT IN (SELECT id FROM withheld WHERE kind || 's' = '${table}')
    ORDER BY id LIMIT 1 OFFSET ${offset})`;
const later = (hour: number): string => `'2026-11-30T${String(hour).padStart(2, '0')}:00:00Z'`;

export const WITHHOLD = (kind: string, hour: number, id: string): string =>
  `INSERT INTO withheld SELECT '${kind}', ${id}, ${later(hour)};`;

/** From one snapshot to the next. */
interface Change {
  readonly sql: string;
  /** Whether the downloads stay what they were. */
  readonly keeps?: true;
  readonly isFollowed?: false;
  /** Whether bundles no longer lead on from the copy. */
  readonly startsOver?: true;
}

/** What changes from each snapshot to the next. */
export const STEPS: readonly [Change, ...Change[]] = [
  {
    sql: `UPDATE groups SET description = 'ünï 🦊 "''', measured_at = ${later(1)} WHERE id = ${nth('groups', 4)};
      UPDATE items SET price = NULL, measured_at = ${later(1)} WHERE id = ${nth('items', 2)};
      UPDATE items SET description = 'with \u2028 and' || char(10) WHERE id = ${nth('items', 3)};
      UPDATE users SET display_name = '' WHERE id = ${nth('users', 7)};
      DELETE FROM group_member_readings WHERE group_id = ${nth('groups', 1)};
      CREATE TEMP TABLE another AS SELECT * FROM items LIMIT 1;
      UPDATE another SET id = 900000001, name = 'another', measured_at = ${later(1)};
      INSERT INTO items SELECT * FROM another;`,
  },
  {
    keeps: true,
    sql: `INSERT INTO group_member_readings SELECT ${nth('groups', 3)}, ${later(2)}, 77;
      UPDATE groups SET member_count = 77, measured_at = ${later(2)} WHERE id = ${nth('groups', 3)};
      UPDATE games SET visits = 0, measured_at = ${later(2)} WHERE id = ${nth('games', 3)};`,
  },
  {
    keeps: true,
    isFollowed: false,
    sql: `DELETE FROM games WHERE id = ${nth('games', 5)}; DELETE FROM items WHERE id = ${nth('items', 5)};`,
  },
  {
    sql: `UPDATE items SET name = 'renamed', measured_at = ${later(4)} WHERE id = ${nth('items', 1)};
      UPDATE users SET state = 'deleted', measured_at = ${later(4)} WHERE id = ${nth('users', 9)};`,
  },
  // The owner of the most groups: their documents change as well.
  {
    sql: WITHHOLD(
      'user',
      5,
      `(SELECT owner_id FROM groups WHERE owner_id IN (SELECT id FROM users)
        AND owner_id NOT IN (SELECT id FROM withheld WHERE kind = 'user')
        GROUP BY owner_id ORDER BY count(*) DESC LIMIT 1)`,
    ),
  },
  {
    isFollowed: false,
    sql: `UPDATE games SET genre = 'another', measured_at = ${later(6)} WHERE id = ${nth('games', 1)};`,
  },
  { startsOver: true, sql: WITHHOLD('group', 7, nth('groups', 6)) },
];

const builtAt = async ({ get }: RunningProxy): Promise<string> =>
  z.looseObject({ built_at: z.string() }).parse(await (await get('/snapshot.json')).json()).built_at;

async function sample(path: Path): Promise<Site> {
  const site = new Site(path('first.sqlite'), path('first'));
  await writeSample({ file: site.register, records: 150, seed: 4 });
  await site.build('', { at: '2026-12-01T00:00:00Z' });
  return site;
}

/** For each call a sample and its tree, which is served, and a function that builds the next snapshot. */
export function following(path: Path) {
  const copy = copies(path, () => sample(path));
  return async () => {
    const site = await copy();
    const proxy = await startProxy(site.out);
    onTestFinished(async () => void (await proxy.stop()));
    let builds = 0;
    const build = async (sql: string, keepDownloads = false): Promise<void> => {
      builds += 1;
      await site.build(sql, { at: `2026-12-01T00:00:0${builds}Z`, keepDownloads });
      // The proxy notices it within a second.
      await expect.poll(() => builtAt(proxy)).toBe(snapshotOf(site.out).built_at);
    };
    return { out: site.out, proxy, build };
  };
}

/** Path -> SHA-256 of all files but compressed siblings. */
export function filesOf(out: string): Record<string, string> {
  const hashes = hashesOf(out);
  return Object.fromEntries(documentsOf(hashes).map((file) => [file, hashes[file] ?? '']));
}

/** @returns what the script says; rejects with what it says of an error */
export async function run(script: string, ...args: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)(PYTHON, [script, ...args])).stdout;
  } catch (error) {
    throw new Error(z.object({ stderr: z.string() }).parse(error).stderr, { cause: error });
  }
}

/** A script with other constants, or with anything else that it is to run first. */
export function scriptWith(path: Path, name: string, constants: string): string {
  const script = path(name);
  writeFileSync(script, readFileSync(scriptOf(name), 'utf8').replace(/^def request/m, `${constants}\n$&`));
  return script;
}

/** A server before another. @param answer whether it has answered by itself */
export async function before(
  { base }: RunningProxy,
  answer: (...of: Parameters<RequestListener>) => boolean,
) {
  const server = createServer((request, response) => {
    if (answer(request, response)) return;
    void (async () => {
      const { method = 'GET', headers } = request;
      const there = await fetch(base + request.url, { method, headers: { accept: headers.accept ?? '' } });
      response.writeHead(there.status, { 'Cache-Control': there.headers.get('cache-control') ?? '' });
      response.end(new Uint8Array(await there.arrayBuffer()));
    })();
  });
  return `http://127.0.0.1:${await listenOn(server)}`;
}

/** A server before another that answers some paths by itself. */
export const instead = (
  proxy: RunningProxy,
  answers: Readonly<Record<string, (response: ServerResponse) => unknown>>,
): Promise<string> =>
  before(proxy, ({ url = '' }, response) => {
    const answer = answers[url.replace(/\?.*/, '')];
    answer?.(response);
    return answer !== undefined;
  });

/** nginx as a cache before a proxy. */
export async function nginxBefore(
  path: Path,
  { port: backend }: RunningProxy,
  key: string,
): Promise<EdgeServer> {
  const [port, folder] = [await freePort(), path('nginx')];
  mkdirSync(folder);
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; pid ${folder}/pid; events {}
     http {
       ${temporariesIn(folder)} access_log off;
       proxy_cache_path ${folder}/cache keys_zone=cache:1m;
       server {
         listen 127.0.0.1:${port};
         proxy_cache cache;
         proxy_cache_key "${key}";
         location / { proxy_pass http://127.0.0.1:${backend}; }
       }
     }`,
  );
  return await serve(port, folder, file);
}
