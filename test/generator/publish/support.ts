/** What the tests of publishing have in common: registers that differ a little, trees held against each other. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { Command, CommanderError } from 'commander';
import { expect } from 'vitest';
import { z } from 'zod';
import type { Effects, Published, Refused } from '../../../generator/build/build.js';
import { addBuild } from '../../../generator/commands/build.js';
import { addCheck } from '../../../generator/commands/check.js';
import { addDiff } from '../../../generator/commands/diff.js';
import { addEdge } from '../../../generator/commands/edge.js';
import { addKeygen } from '../../../generator/commands/keygen.js';
import { addMirror } from '../../../generator/commands/mirror.js';
import { addProve } from '../../../generator/commands/prove.js';
import { addSign } from '../../../generator/commands/sign.js';
import { addStatus } from '../../../generator/commands/status.js';
import { addRollback } from '../../../generator/commands/rollback.js';
import type { Terminal } from '../../../generator/commands/terminal.js';
import { addSample } from '../../../generator/commands/sample.js';
import { addScaffold } from '../../../generator/commands/scaffold.js';
import { addUpload } from '../../../generator/commands/upload.js';
import { addVerify } from '../../../generator/commands/verify.js';
import { addVerifyProof } from '../../../generator/commands/verify-proof.js';
import { buildConfig } from '../../../generator/config/config.js';
import { EXIT, Failure } from '../../../generator/errors.js';
import type { Progress } from '../../../generator/progress.js';
import { Tree } from '../../../generator/tree/tree.js';
import { verify } from '../../../generator/verify/verify.js';
import type { Damage } from '../../../generator/verify/verify.js';
import { buildAndSign, OPERATOR, effectsAt, published, quiet } from '../../support/build.js';
import type { Options } from '../../support/build.js';
import { buildArgs } from '../../support/cli.js';
import { PROJECT } from '../../support/folder.js';
import { InlinePool } from '../../support/inline-pool.js';
import { Killed } from './faults.js';
import { writeRegister } from '../../support/register.js';
import type { Rows } from '../../support/register.js';
import { differing, inState, isDownload, isOfTheBuild, isSibling } from '../../support/tree.js';

export { temporary } from '../../support/folder.js';

/** Documents from 4 KiB on have compressed siblings. */
const LONG = 'a long description, '.repeat(300);

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/** 20 groups, 20 users, 11 games and 12 items with some history, and some documents that have compressed siblings. */
export const ROWS: Rows = {
  groups: range(20).map((id) => ({ id, name: `group ${id}`, member_count: id % 3 === 0 ? null : id * 10 })),
  group_member_readings: range(20).map((id) => ({
    group_id: id,
    measured_at: '2026-11-20T08:00:00Z',
    member_count: id * 10,
  })),
  users: range(20).map((id) => ({ id: id * 1000 + 7, username: `user${id}` })),
  games: range(11).map((id) => ({
    id,
    name: `game ${id}`,
    visits: id * 100,
    description: id === 4 ? LONG : null,
  })),
  items: range(12).map((id) => ({
    id,
    name: `item ${id}`,
    price: id,
    description: id === 5 || id === 8 ? LONG : null,
  })),
};

/**
 * Adds, changes, removes and withholds a few, and lets compressed siblings change, come and go; the lists of the
 * largest stay.
 */
export const STEP = `
  UPDATE users SET username = 'renamed' WHERE id = 7007;
  UPDATE groups SET description = 'changed' WHERE id = 3;
  INSERT INTO group_member_readings VALUES (6, '2026-11-19T08:00:00Z', 59);
  UPDATE groups SET description = '${LONG}' WHERE id = 6;
  UPDATE items SET price = 99 WHERE id = 5;
  UPDATE items SET description = NULL WHERE id = 8;
  INSERT INTO items (id, name, first_measured_at, measured_at, measurements)
    VALUES (77, 'new', '2026-11-01T08:00:00Z', '2026-11-20T08:00:00Z', 2);
  INSERT INTO users (id, username, first_measured_at, measured_at, measurements)
    VALUES (500007, 'newcomer', '2026-11-01T08:00:00Z', '2026-11-20T08:00:00Z', 2);
  DELETE FROM games WHERE id = 4;
  DELETE FROM users WHERE id = 9007;
  DELETE FROM items WHERE id = 6;`;

/** 40 groups of 5,000 readings each: soon rendered, and a second's work for the thread that writes the downloads. */
export function slowToExport(file: string): string {
  return writeRegister(
    file,
    `INSERT INTO items (id, first_measured_at, measured_at, measurements)
       VALUES (1, '2026-11-01T08:00:00Z', '2026-11-20T08:00:00Z', 2);
     WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 40)
       INSERT INTO groups (id, member_count, first_measured_at, measured_at, measurements)
       SELECT id, 4999, '2026-01-01T00:00:00Z', '2026-11-20T08:00:00Z', 5000 FROM n;
     WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 4999)
       INSERT INTO group_member_readings
       SELECT id, strftime('%Y-%m-%dT%H:%M:%SZ', 1767225600 + 3600 * i, 'unixepoch'), i FROM groups, n`,
  );
}

/** Where a file waits in the bookkeeping that takes the place of a published one, or is kept that gave way. */
export const flat = (route: string, file: string): string => `${route}/${encodeURIComponent(file)}`;

/** Whether a build into a tree with another item 1 has rendered all records of such a register and waits for the thread. */
export const waitsForExports = (out: string): boolean =>
  existsSync(inState(out, `stage/replacing/${flat('item', 'api/v1/item/1.json')}`)) &&
  existsSync(inState(out, 'stage/scratch/downloads/group_member_readings.csv'));

/** Two registers that lead to each other by `STEP`, and the tree of each as a first build gives it. */
export interface Pair {
  readonly registers: readonly [string, string];
  readonly trees: readonly [Record<string, string>, Record<string, string>];
}

export async function pair(path: (name: string) => string, step = STEP): Promise<Pair> {
  const a = writeRegister(path('a.sqlite'), ROWS);
  const b = writeRegister(path('b.sqlite'), ROWS);
  const { openDatabase } = await import('../../../generator/sqlite/index.js');
  const database = openDatabase(b);
  database.pragma('synchronous = OFF');
  database.exec(step);
  database.close();
  return { registers: [a, b], trees: [await fresh(a, path('fresh')), await fresh(b, path('fresh'))] };
}

/** The lasting part of the tree that a first build of a register gives. */
export async function fresh(
  register: string,
  out: string,
  options: Partial<Options> = {},
): Promise<Record<string, string>> {
  await published({ register, out, ...options });
  return contentOf(out);
}

/** Every published file, the compressed siblings too, with its hash and with what tells whether it was touched. */
export function filesOf(out: string): Map<string, { readonly hash: string; readonly stamp: string }> {
  const files = readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(out, join(entry.parentPath, entry.name)));
  return new Map(
    files.toSorted().map((file) => {
      const { ino, mtimeNs } = statSync(join(out, file), { bigint: true });
      return [file, { hash: sha256(readFileSync(join(out, file))), stamp: `${ino} ${mtimeNs}` }];
    }),
  );
}

/** Path -> SHA-256 of all published files. */
export const hashesOf = (out: string): Record<string, string> =>
  Object.fromEntries([...filesOf(out)].map(([file, { hash }]) => [file, hash]));

/** Path -> SHA-256 of everything that follows from the register. */
export const contentOf = (out: string): Record<string, string> =>
  Object.fromEntries(Object.entries(hashesOf(out)).filter(([file]) => !isOfTheBuild(file)));

/** All that is published with inodes and times: the same only if nobody touched anything. */
export const stateOf = (out: string): Record<string, string> =>
  Object.fromEntries([...filesOf(out)].map(([file, { stamp, hash }]) => [file, `${stamp} ${hash}`]));

/** Everything in a folder, empty folders too, with content, inode and times. */
export function wholeOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const { ino, mtimeNs } = lstatSync(path, { bigint: true });
      const content = entry.isFile()
        ? createHash('sha256').update(readFileSync(path)).digest('hex')
        : 'folder';
      return [relative(folder, path), `${content} ${ino} ${mtimeNs}`];
    }),
  );
}

const AT_REST = new Set(['changed', 'checkpoint', 'index', 'mirror', 'previous', 'tree', 'uploads']);

/** What lies in the state of a tree at rest and should not. */
export const leftovers = (out: string): string[] =>
  readdirSync(inState(out)).filter((name) => !AT_REST.has(name));

/** What is wrong with a tree. */
export async function damageOf(out: string): Promise<readonly Damage[]> {
  return (await verify(new Tree(out), quiet())).damage;
}

const CHECKSUMS = 'downloads/SHA256SUMS';

/** Where the downloads are not what SHA256SUMS says, read as `sha256sum -c` does; nothing may lie beside them. */
function downloadsThatDisagree(out: string): string[] {
  const lines = readFileSync(join(out, CHECKSUMS), 'utf8').split('\n').slice(0, -1);
  const said = lines.map((line): [string, string] => [`downloads/${line.slice(66)}`, line.slice(0, 64)]);
  const found = Object.entries(hashesOf(out)).filter(
    ([file]) => isDownload(file) && !isSibling(file) && file !== CHECKSUMS,
  );
  return differing(Object.fromEntries(found), Object.fromEntries(said));
}

/** The tree is whole, the downloads by their own account too, and nothing lies about. */
export async function expectAtRest(out: string): Promise<void> {
  expect(leftovers(out)).toEqual([]);
  expect(downloadsThatDisagree(out)).toEqual([]);
  expect(await damageOf(out)).toEqual([]);
}

type Flags = Options & { readonly purgeList?: string; readonly filesFrom?: string };

/** Builds with removals accepted, and with whatever flag and progress the test wants. */
export function buildWith(
  { at = '2026-12-01T00:00:00Z', ...flags }: Flags,
  effects: Partial<Effects> = {},
): Promise<Published | Refused> {
  const config = buildConfig({ operator: OPERATOR, acceptRemovals: true, ...flags });
  return buildAndSign(config, { ...effectsAt(at), ...effects });
}

/** Progress that does something at each step of a phase: what it throws, stops the work. */
export function progressThat(
  title: string,
  atStep: (step: number) => void,
): { readonly progress: Progress; readonly steps: () => number } {
  let [now, step] = ['', 0];
  const progress: Progress = {
    start: (phase) => {
      now = phase;
    },
    // oxlint-disable-next-line promise/prefer-await-to-then
    advance: () => {
      if (now !== title) return undefined;
      step += 1;
      try {
        atStep(step);
        return undefined;
      } catch (error) {
        return Promise.reject(error instanceof Error ? error : new Error(String(error)));
      }
    },
    blocking: async (work) => work(),
    note: () => undefined,
    finish: () => undefined,
    stop: () => undefined,
  };
  return { progress, steps: () => step };
}

/** A build that dies within its commit. */
export async function interruptCommit(flags: Flags, atStep = 3): Promise<void> {
  const { progress } = progressThat('committing', (step) => {
    if (step === atStep) throw new Killed('dead within the commit');
  });
  await expect(buildWith(flags, { progress })).rejects.toThrow(Killed);
  expect(existsSync(inState(flags.out, 'stage/COMMIT'))).toBe(true);
}

/** The expected failure of some work; anything else fails the test. */
export async function failureOf(work: Promise<unknown>): Promise<Failure> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error('expected a failure, but it went well');
}

/** The command line in this process: as quick as a function, with exit code and output as a process has them. */
export async function inProcess(...args: string[]): Promise<Omit<Ended, 'signal'>> {
  const ended = { code: 0, stdout: '', stderr: '' };
  const warn = (line: string): void => {
    ended.stderr += `${line}\n`;
  };
  const terminal: Terminal = {
    say: (line) => {
      ended.stdout += `${line}\n`;
    },
    warn,
    progress: quiet,
    startPool: (register, notMeasured) => new InlinePool(register, notMeasured),
    effects: () => ({ ...effectsAt('2026-12-24T00:00:00Z'), warn }),
    cost: () => ({ seconds: 0, peakMemoryBytes: 0 }),
    exitWith: (code) => {
      ended.code = code;
    },
  };
  const writeErr = (text: string): void => {
    ended.stderr += text;
  };
  const writeOut = (text: string): void => {
    ended.stdout += text;
  };
  const program = new Command('register-api').exitOverride().configureOutput({ writeErr, writeOut });
  const commands = [
    addBuild,
    addCheck,
    addDiff,
    addEdge,
    addKeygen,
    addMirror,
    addProve,
    addVerifyProof,
    addRollback,
    addSign,
    addStatus,
    addSample,
    addScaffold,
    addUpload,
    addVerify,
  ];
  for (const add of commands) add(program, terminal);
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      // It has written its message.
      ended.code = error.exitCode === 0 ? EXIT.done : EXIT.usage;
      return ended;
    }
    if (!(error instanceof Failure)) throw error;
    warn(`error: ${error.message}`);
    ended.code = error.exitCode;
  }
  return ended;
}

const CLI = join(PROJECT, 'build/generator/cli.js');

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts the command line as a process that can be signalled. */
export function start(args: readonly string[]) {
  const child = spawn(process.execPath, [CLI, ...args], { cwd: PROJECT, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const done = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, ...output }));
  });
  return { child, done, output, pid: child.pid ?? 0 };
}

/** `build` as a process, with removals accepted. */
export const startBuild = (register: string, out: string, ...more: string[]) =>
  start(buildArgs(register, out, ...more));

/** Waits until something is so. */
export async function until(condition: () => boolean, what: string, ms = 20_000): Promise<void> {
  const end = performance.now() + ms;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`waited ${ms} ms in vain until ${what}`);
    await sleep(1);
  }
}

/** The lines of a message that are not progress. */
export const errorsOf = ({ stderr }: Pick<Ended, 'stderr'>): string[] =>
  stderr.split('\n').filter((line) => line.startsWith('error: '));

const count = z.strictObject({ added: z.int(), changed: z.int(), removed: z.int() });

const file = { file: z.string(), bytes: z.int(), sha256: z.string() };

const indexSchema = z.strictObject({
  tree: z.string().regex(/^[0-9a-f]{16}$/),
  sequence: z.int(),
  digest: z.string(),
  oldest: z.int(),
  downloads: z.strictObject({ sequence: z.int(), digest: z.string() }).optional(),
  changes: z.array(
    z.strictObject({
      sequence: z.int(),
      from: z.int().nullable(),
      from_digest: z.string().nullable(),
      digest: z.string(),
      as_of: z.string().nullable(),
      built_at: z.string(),
      counts: z.strictObject({ groups: count, users: count, games: count, items: count }),
      file: z.string().nullable(),
      bytes: z.int().nullable(),
      sha256: z.string().nullable(),
      bundle: z.strictObject(file).nullable(),
    }),
  ),
});

const step = {
  tree: z.string(),
  from: z.int(),
  to: z.int(),
  from_digest: z.string(),
  to_digest: z.string(),
};

const listSchema = z.strictObject({
  ...step,
  put: z.array(
    z.strictObject({
      path: z.string(),
      documents: z.int().optional(),
      sha256: z.string(),
      bytes: z.int(),
    }),
  ),
  delete: z.array(z.string()),
});

const bundleSchema = z.tuple(
  [z.strictObject(step)],
  z.union([
    z.strictObject({ path: z.string(), sha256: z.string(), bytes: z.int(), body: z.string().optional() }),
    z.strictObject({ path: z.string(), deleted: z.literal(true) }),
  ]),
);

const manifestSchema = z.looseObject({
  sequence: z.int(),
  as_of: z.string().nullable(),
  built_at: z.string(),
  digest: z.string(),
  tree: z.looseObject({ id: z.string() }),
  service: z.looseObject({ base_url: z.string() }).default({ base_url: '' }),
  counts: z.unknown(),
  routes: z.array(
    z.looseObject({
      name: z.string(),
      path: z.string(),
      file: z.string(),
      parameters: z.array(z.looseObject({ name: z.string(), in: z.enum(['path', 'query']) })).optional(),
      requires: z.string().optional(),
    }),
  ),
});

const read = (out: string, file: string): unknown => JSON.parse(readFileSync(join(out, file), 'utf8'));
export const indexOf = (out: string) => indexSchema.parse(read(out, 'changes/index.json'));
export const listOf = (out: string, sequence: number) =>
  listSchema.parse(read(out, `changes/${sequence}.json`));
/** The lines of a bundle: the first is about itself. @param name below /changes */
export const bundleOf = (out: string, name: string) =>
  bundleSchema.parse(
    gunzipSync(readFileSync(join(out, `changes/${name}.ndjson.gz`)))
      .toString()
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line)),
  );
export const manifestOf = (out: string) => manifestSchema.parse(read(out, 'snapshot.json'));

/** The URL path of a file of a tree, by the route table that the tree publishes; undefined if nothing leads to it. */
export function urlsOf(out: string): (file: string) => string | undefined {
  const patterns = manifestOf(out)
    .routes.filter(({ path }) => !path.startsWith('/log/{tree}/'))
    .toSorted((a, b) => (a.parameters?.length ?? 0) - (b.parameters?.length ?? 0))
    .map(({ path, file, parameters: [parameter] = [] }) => {
      const escaped = file.replaceAll(/[.*+?^$()[\]\\|]/g, String.raw`\$&`);
      const pattern = escaped.replaceAll(/\{\w+\}/g, '(?<value>[^/]+)');
      const query = parameter?.in === 'query' ? `?${parameter.name}={${parameter.name}}` : '';
      return { pattern: new RegExp(`^${pattern}$`), url: path + query };
    });
  return (file) => {
    for (const { pattern, url } of patterns) {
      const match = pattern.exec(file);
      if (match !== null) return url.replace(/\{\w+\}/, match.groups?.['value'] ?? '');
    }
    return undefined;
  };
}

/** The files of a tree that are no compressed siblings. */
export const documentsOf = (content: Readonly<Record<string, string>>): string[] =>
  Object.keys(content).filter((file) => !isSibling(file));

/** URL -> file, of everything published; the list of the largest has two URLs at its default. */
export function filesByUrl(out: string): [url: string, file: string][] {
  const urlOf = urlsOf(out);
  const urls = documentsOf(hashesOf(out)).map((file): [string, string] => [urlOf(file) ?? '', `/${file}`]);
  const pages = urls.flatMap(([url]): [string, string][] => {
    const [, kind, id] = /^\/api\/v1\/(group|user|game|item)\/(\d+)$/.exec(url) ?? [];
    return kind === undefined ? [] : [[`/${kind}/${id}`, `/${kind}.html`]];
  });
  return [...urls, ...pages, ['/api/v1/largest', '/api/v1/largest/100.json']];
}

/** URL path -> SHA-256 of all that change lists speak of, which is not the log. */
export function mirrorOf(out: string): Map<string, string> {
  const urlOf = urlsOf(out);
  const content = contentOf(out);
  const files = documentsOf(content).filter((file) => !/^log\/[0-9a-f]{16}\//.test(file));
  return new Map(
    files.map((file) => {
      const url = urlOf(file);
      if (url === undefined) throw new Error(`no route leads to "${file}"`);
      return [url, content[file] ?? ''];
    }),
  );
}

export const sha256 = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex');

/** Routes of which the digest says nothing. */
export const OUTSIDE: ReadonlySet<string> = new Set([
  'snapshot',
  'changes',
  'change-list',
  'change-bundle',
  'feed-snapshots',
  'feed-snapshots-json',
  'log-checkpoint',
  'log-tile',
  'log-index',
]);

interface DigestRoute {
  readonly name: string;
  readonly path: string;
  readonly parameters?: readonly { readonly name: string; readonly in: 'path' | 'query' }[] | undefined;
  /** On routes that serve the file of another one, of which the digest says nothing either. */
  readonly requires?: string | undefined;
}

/** The digest of a mirror, computed from its documentation with no code of the generator's. */
export function digestOf(mirror: ReadonlyMap<string, string>, routes: readonly DigestRoute[]): string {
  const lines = routes
    .filter(
      ({ name, requires }) => !OUTSIDE.has(name) && !name.startsWith('former-') && requires === undefined,
    )
    .map((route) => {
      const documents = [...mirror].flatMap(([url, hash]) => {
        const key = keyIn(url, route);
        return key === undefined ? [] : [{ key, line: `${hash}  ${url}\n` }];
      });
      const chunks: string[] = [];
      for (const { key, line } of documents.toSorted((a, b) => Number(a.key - b.key))) {
        if (chunks.length === 0 || endsChunk(key)) chunks.push(line);
        else chunks.push(`${chunks.pop()}${line}`);
      }
      return `${route.name} ${documents.length} ${treeHead(chunks).toString('base64')}\n`;
    });
  return sha256(lines.join(''));
}

/** The number in a URL of a route: 0 where it has none; undefined if it is no URL of the route. */
export function keyIn(url: string, { path, parameters: [parameter] = [] }: DigestRoute): bigint | undefined {
  const query = parameter?.in === 'query' ? `?${parameter.name}={${parameter.name}}` : '';
  const [before = '', after] = (path + query).split(/\{\w+\}/);
  if (after === undefined) return url === before ? 0n : undefined;
  if (!url.startsWith(before) || !url.endsWith(after)) return undefined;
  const value = url.slice(before.length, url.length - after.length);
  if (parameter?.name === 'prefix') return /^[0-9a-f]+$/.test(value) ? BigInt(`0x1${value}`) : undefined;
  const [, year, month, part] = /^(\d{4})-(\d\d)(?:-(\d{5}))?$/.exec(value) ?? [];
  if (year !== undefined) return BigInt(`${year}${month}${part ?? '99999'}`);
  return /^\d+$/.test(value) ? BigInt(value) : undefined;
}

export function endsChunk(key: bigint): boolean {
  const prime = 67_108_859n;
  const mixed = ((key % prime) * 41_475_557n + (key / prime) * 25_214_903n) % prime;
  return (mixed ** 3n % prime) % 256n === 0n;
}

/** RFC 6962, section 2.1, as it is written there. */
export function treeHead(leaves: readonly string[]): Buffer {
  const digest = createHash('sha256');
  const [leaf] = leaves;
  if (leaf === undefined) return digest.digest();
  if (leaves.length === 1)
    return digest
      .update(Buffer.from([0]))
      .update(leaf)
      .digest();
  let half = 1;
  while (half * 2 < leaves.length) half *= 2;
  const children = Buffer.concat([treeHead(leaves.slice(0, half)), treeHead(leaves.slice(half))]);
  return digest
    .update(Buffer.from([1]))
    .update(children)
    .digest();
}

export const bytesOf = (file: string): number => statSync(file).size;
