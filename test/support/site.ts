/** Registers and the trees that are built from them. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, type Effects, type Published, type Refused } from '../../generator/pipeline/build.js';
import { buildConfig } from '../../generator/config/config.js';
import { Failure } from '../../generator/base/errors.js';
import { OPERATOR, effectsAt, published, type Options } from './build.js';
import { inputs, type Run } from './cli.js';
import { inProcess } from './in-process.js';
import { contentOf } from './published.js';
import { changeRegister, writeRegister, type Rows } from './register.js';
import { copyTree } from './tree.js';

/** Documents from 4 KiB on have compressed siblings. */
const LONG = 'a long description, '.repeat(300);

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/** 20 groups, 20 users, 11 games and 12 items with some history, and some documents that have compressed siblings. */
export const ROWS: Rows = {
  groups: range(20).map((id) => ({
    id,
    name: `group ${id}`,
    member_count: id % 3 === 0 ? null : id * 10,
    // Paths by these come, change and go as well.
    platform_id: id < 7 ? `club-${id}` : null,
  })),
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
  UPDATE groups SET platform_id = NULL WHERE id = 5;
  UPDATE groups SET platform_id = 'club-10' WHERE id = 10;
  UPDATE items SET price = 99 WHERE id = 5;
  UPDATE items SET description = NULL WHERE id = 8;
  INSERT INTO items (id, name, first_measured_at, measured_at, measurements)
    VALUES (77, 'new', '2026-11-01T08:00:00Z', '2026-11-20T08:00:00Z', 2);
  INSERT INTO users (id, username, first_measured_at, measured_at, measurements)
    VALUES (500007, 'newcomer', '2026-11-01T08:00:00Z', '2026-11-20T08:00:00Z', 2);
  DELETE FROM games WHERE id = 4;
  DELETE FROM users WHERE id = 9007;
  DELETE FROM items WHERE id = 6;`;

const ACCEPTED = { acceptRemovals: true, acceptRepublished: true, acceptRenumbered: true };

/** Builds with all accepted, and with whatever flag and progress the test wants. */
export function buildWith(
  { at = '2026-12-01T00:00:00Z', ...flags }: Options,
  effects: Partial<Effects> = {},
): Promise<Published | Refused> {
  const config = buildConfig({ operator: OPERATOR, ...ACCEPTED, ...flags });
  return build(config, { ...effectsAt(at), ...effects });
}

/** The lasting part of the tree that a first build of a register gives. */
export async function fresh(register: string, out: string, options: Partial<Options> = {}) {
  await published({ register, out, ...options });
  return contentOf(out);
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

/** A register and the tree that was built from it. */
export class Site {
  readonly register: string;
  readonly out: string;

  constructor(register: string, out: string) {
    this.register = register;
    this.out = out;
  }

  /** Changes the register, builds with all accepted, and expects to publish. */
  async build(sql = '', options: Partial<Options> = {}): Promise<Published> {
    if (sql !== '') changeRegister(this.register, sql);
    return published({ register: this.register, out: this.out, ...ACCEPTED, ...options });
  }

  /** A command of the command line about both, with --quiet. */
  command(name: string, ...options: readonly string[]): Promise<Run> {
    return inProcess(name, '--quiet', ...inputs(this.register, this.out), ...options);
  }
}

type Path = (name: string) => string;

export function copyOf(site: Pick<Site, 'register' | 'out'>, path: Path): Site {
  const copy = new Site(path('register.sqlite'), path('dist'));
  cpSync(site.register, copy.register);
  copyTree(site.out, copy.out);
  return copy;
}

/** For each call a copy of a site that is made once. */
export function copies(path: Path, make: () => Promise<Site>): () => Promise<Site> {
  let first: Promise<Site> | undefined;
  return async () => copyOf(await (first ??= make()), path);
}

/** For each call a site of its own with these rows, which are built once. */
export const sites = (path: Path, rows: Rows | string): (() => Promise<Site>) =>
  copies(path, () => siteOf(path, rows));

/** A register of these rows, and its tree. */
export async function siteOf(path: Path, rows: Rows | string, options: Partial<Options> = {}): Promise<Site> {
  const made = new Site(writeRegister(path('register.sqlite'), rows), path('dist'));
  await published({ register: made.register, out: made.out, ...options });
  return made;
}

/** Two registers that lead to each other by `STEP`, and the tree of each as a first build gives it. */
export interface Pair {
  readonly registers: readonly [string, string];
  readonly trees: readonly [Readonly<Record<string, string>>, Readonly<Record<string, string>>];
  /** A new copy of the tree of the first one. */
  readonly tree: () => string;
}

/** Built once for all test files that a process runs. */
let both: Promise<readonly [Site, Site]> | undefined;

async function buildBoth(): Promise<readonly [Site, Site]> {
  const folder = mkdtempSync(join(tmpdir(), 'register-pair-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const inFolder = (name: string): string => join(folder, name);
  const first = await siteOf(inFolder, ROWS);
  const second = writeRegister(inFolder('b.sqlite'), ROWS);
  changeRegister(second, `PRAGMA synchronous = OFF; ${STEP}`);
  await published({ register: second, out: inFolder('b') });
  return [first, new Site(second, inFolder('b'))];
}

export async function pair(path: Path): Promise<Pair> {
  const [first, second] = await (both ??= buildBoth());
  const copies = [copyOf(first, path), copyOf(second, path)] as const;
  return {
    registers: [copies[0].register, copies[1].register],
    trees: [contentOf(first.out), contentOf(second.out)],
    tree: () => copyOf(first, path).out,
  };
}

export async function site(path: Path): Promise<Site> {
  const [first] = await (both ??= buildBoth());
  return copyOf(first, path);
}
