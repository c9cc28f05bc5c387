/** What tests of the scripts in Python share: a site that goes on, servers in between, other constants. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import * as z from 'zod';
import { writeSample } from '../../data/sample.js';
import { PROJECT } from '../support/folder.js';
import { listenOn } from '../support/ports.js';
import { startProxy, type RunningProxy } from '../support/proxy.js';
import { documentsOf, hashesOf, snapshotOf } from '../support/published.js';
import { WITH_PLATFORM_IDS, rowsOf } from '../support/register.js';
import { Site, copies } from '../support/site.js';

type Path = (name: string) => string;

export const PYTHON = '/usr/bin/python3';

export const scriptOf = (name: string): string => join(PROJECT, 'clients/python', name);

/** The id of one of the records that are not withheld. */
export const nth = (table: string, offset: number): string =>
  `(SELECT id FROM ${table} WHERE id NOT IN (SELECT id FROM withheld WHERE kind || 's' = '${table}')
    ORDER BY id LIMIT 1 OFFSET ${offset})`;

export const later = (hour: number): string => `'2026-11-30T0${hour}:00:00Z'`;

export const WITHHOLD = (kind: string, hour: number, id: string): string =>
  `INSERT INTO withheld SELECT '${kind}', ${id}, ${later(hour)};`;

/** Changes documents of most kinds, and adds and removes some. */
export const CHANGE = `UPDATE groups SET description = 'ünï 🦊 "''', measured_at = ${later(1)} WHERE id = ${nth('groups', 4)};
  UPDATE items SET price = NULL, measured_at = ${later(1)} WHERE id = ${nth('items', 2)};
  UPDATE items SET description = 'with \u2028 and' || char(10) WHERE id = ${nth('items', 3)};
  UPDATE users SET display_name = '' WHERE id = ${nth('users', 7)};
  DELETE FROM group_member_readings WHERE group_id = ${nth('groups', 1)};
  CREATE TEMP TABLE another AS SELECT * FROM items LIMIT 1;
  UPDATE another SET id = 900000001, platform_id = NULL, name = 'another', measured_at = ${later(1)};
  INSERT INTO items SELECT * FROM another;`;

const builtAt = async ({ get }: RunningProxy): Promise<string> =>
  z.looseObject({ built_at: z.string() }).parse(await (await get('/snapshot.json')).json()).built_at;

async function sample(path: Path): Promise<Site> {
  const site = new Site(path('first.sqlite'), path('first'));
  await writeSample({ file: site.register, records: 150, seed: 4 });
  await site.build(WITH_PLATFORM_IDS, { at: '2026-12-01T00:00:00Z' });
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

const tableShape = z.array(z.array(z.union([z.string(), z.number(), z.null()])));

/** The rows of each table but that in which follow.py keeps its place. */
export function tablesIn(file: string): Record<string, z.infer<typeof tableShape>> {
  const named = rowsOf(file, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'copied'`);
  return Object.fromEntries(
    named.map((name) => {
      return [String(name), tableShape.parse(rowsOf(file, `SELECT * FROM "${String(name)}" ORDER BY 1, 2`))];
    }),
  );
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
