/** A published tree: the folder that is served, and its private state next to it. */
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  opendirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { Failure, asFailure, codeOf, writing } from '../base/errors.js';
import { readChangeIndex } from './changes.js';
import { ifExists, liesIn, makeFolder, namesIn, readText, realPath, requireNoLink } from '../base/files.js';
import { makePrivate } from '../base/modes.js';
import { readSnapshot } from './snapshot.js';

/** Renamed from the state into the tree, to check that both are on one file system. */
const PROBE = '.probe';
/** Names an empty output folder may contain: a clone keeps its dist with a .gitignore. */
const HARMLESS: ReadonlySet<string> = new Set(['.gitignore', PROBE]);

/** What earlier versions kept in the state, which names what is withheld. */
const OF_EARLIER = /^(previous|index|changed|unreported-\d+|uploads|mirror|state\.sqlite(-\w+)?)$/;

/** The state's record of its tree: a path relative to the state. */
const TREE_NAME = 'tree';

/** Identifies a tree for as long as it lives: 64 random bits in hex. */
export const newTreeId = (): string => randomBytes(8).toString('hex');

/** The paths of a tree, which need not exist. */
export class Tree {
  /** Without symbolic links: however a tree is named, it has one lock and one state. */
  readonly out: string;
  /** A private folder, since it names what is withheld; on the tree's file system, for atomic renames. */
  readonly state: string;
  /** snapshot.json, which a commit writes last: if it exists, there is a snapshot. */
  readonly snapshotFile: string;
  /** Always next to the tree, wherever the state is, so that a tree has exactly one lock. */
  readonly lock: string;
  /** What is published (see publish/lists.ts). */
  readonly lists: string;
  /** What else the next build must know (see publish/state.ts). */
  readonly stateFile: string;
  /** Where a build prepares a commit, and the commit once it is complete. */
  readonly stage: string;
  readonly commit: string;
  /** The changes since a build last wrote lists for operators. */
  readonly unreported: string;
  /** Whether `prepare` created the folders. */
  #isNew = false;
  #isStateNew = false;

  /** @param state `.NAME-state` next to the tree by default */
  constructor(out: string, state?: string) {
    const real = realPath(out);
    // Messages show the path as it was typed, if it leads there without links.
    this.out = real === resolve(out) ? out : real;
    this.state = state ?? nextTo(real, 'state');
    this.snapshotFile = join(this.out, 'snapshot.json');
    this.lock = nextTo(real, 'lock');
    this.lists = join(this.state, 'lists');
    this.stateFile = join(this.state, 'state.json');
    this.stage = join(this.state, 'stage');
    this.commit = join(this.state, 'commit');
    this.unreported = join(this.state, 'unreported');
  }

  /**
   * Creates the output folder and the state, if missing.
   * @throws Failure environment: one has a link, is not ours, not writable, or on another file system
   */
  prepare(): void {
    const { out } = this;
    this.requireNoLinks();
    this.#isNew = !existsSync(out);
    try {
      makeFolder(out);
      this.requireOurs();
      readSnapshot(this.snapshotFile);
    } catch (error) {
      // For a builder, an unreadable snapshot.json means that the folder is not a tree.
      if (error instanceof Failure) throw Failure.environment(error.message);
      throw asFailure(error, `output folder "${out}"`);
    }
    try {
      this.prepareState();
    } catch (error) {
      this.removeIfEmpty();
      throw error;
    }
  }

  /**
   * Requires that the output folder is empty or a tree, perhaps one that lost its snapshot.json. A state proves
   * nothing: the tree may have been deleted since, and its path be another folder's.
   * @throws Failure environment: it is not
   */
  requireOurs(): void {
    const { out } = this;
    const found = readdirSync(out);
    const foreign = found.find((name) => !HARMLESS.has(name));
    if (foreign === undefined || found.includes('snapshot.json') || readChangeIndex(this) !== undefined)
      return;
    throw Failure.environment(
      `output folder "${out}" is not empty and holds no snapshot.json (found "${foreign}"), ` +
        'expected an empty folder or a published tree: if an interrupted first build has left this, ' +
        `delete "${out}" and build again, otherwise choose another --out`,
    );
  }

  /**
   * Creates the state's folder, if missing.
   * @throws Failure environment: it is another tree's, not writable, or on another file system
   */
  prepareState(): void {
    writing(`state folder "${this.state}"`, () => this.#prepareState());
  }

  #prepareState(): void {
    const { out, state } = this;
    if (liesIn(resolve(state), resolve(out))) {
      throw Failure.environment(`state folder "${state}" lies in the tree "${out}", expected it outside`);
    }
    this.#isStateNew = !existsSync(state);
    makeFolder(state);
    // The state names what is withheld, and the files that had it.
    makePrivate(state);
    const other = this.#otherTree();
    if (other !== undefined) {
      throw Failure.environment(
        `state folder "${state}" is of the tree "${other}": choose another with --state`,
      );
    }
    const name = relative(realpathSync(state), realpathSync(out));
    if (this.#treeName() !== name) writeFileSync(join(state, TREE_NAME), name);
    const probe = join(state, PROBE);
    writeFileSync(probe, '');
    try {
      renameSync(probe, join(out, PROBE));
    } catch (error) {
      // Another process that begins at the same time has just renamed the probe.
      if (codeOf(error) === 'ENOENT' && existsSync(out)) return;
      if (codeOf(error) !== 'EXDEV') throw error;
      if (this.#isStateNew) rmSync(state, { recursive: true });
      throw Failure.environment(
        `state folder "${state}" is on another file system than "${out}" (EXDEV): choose one on the same with --state`,
      );
    }
    rmSync(join(out, PROBE), { force: true });
  }

  /** Deletes what an earlier version kept in the state. */
  removeEarlier(): void {
    for (const name of readdirSync(this.state))
      if (OF_EARLIER.test(name)) rmSync(join(this.state, name), { recursive: true, force: true });
  }

  /**
   * Requires that nothing in the first level of the tree and of the state is a symbolic link, whose target would
   * be read or written in its place.
   * @throws Failure environment: names a link
   */
  requireNoLinks(): void {
    for (const folder of [this.out, this.state])
      for (const name of namesIn(folder)) requireNoLink(join(folder, name));
  }

  /** The path of its tree that the state has; undefined in a new one, or while another process writes the path. */
  #treeName(): string | undefined {
    return readText(join(this.state, TREE_NAME)) || undefined;
  }

  /** The tree that the state belongs to, if that is a different one that still exists. */
  #otherTree(): string | undefined {
    const name = this.#treeName();
    if (name === undefined) return undefined;
    // Otherwise the tree was moved.
    return ifExists(() => {
      const named = resolve(realpathSync(this.state), name);
      return realpathSync(named) === realpathSync(this.out) ? undefined : named;
    });
  }

  /** Deletes the folders that `prepare` created, if nothing was published. */
  removeIfEmpty(): void {
    // A stage that could not be deleted in time, or a commit, is left to the next build.
    if (!this.#isNew || !this.isEmpty() || existsSync(this.stage) || existsSync(this.commit)) return;
    rmSync(this.out, { recursive: true, force: true });
    if (this.#isStateNew) rmSync(this.state, { recursive: true, force: true });
  }

  /** Whether nothing is published. */
  isEmpty(): boolean {
    return readdirSync(this.out).every((name) => HARMLESS.has(name));
  }

  /** @throws Failure environment: there is no published tree */
  requirePublished(): void {
    let found: string[];
    try {
      found = readdirSync(this.out);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw asFailure(error, `output folder "${this.out}"`);
      // The state may hold an interrupted commit, which can be completed.
      if (existsSync(this.state)) return;
      throw Failure.environment(`output folder "${this.out}" does not exist`);
    }
    if (!found.includes('snapshot.json') && !existsSync(this.state)) {
      throw Failure.environment(`"${this.out}" holds no published tree (no snapshot.json)`);
    }
  }
}

/** `/a/dist` -> `/a/.dist-state`. */
const nextTo = (path: string, what: string): string => join(dirname(path), `.${basename(path)}-${what}`);

/** The files below a folder of a tree, by their names below the tree. */
export function* filesBelow(root: string, folder: string): Generator<string, void, undefined> {
  const directory = opendirSync(join(root, folder));
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (folder === '' && HARMLESS.has(entry.name)) continue;
      if (entry.isDirectory()) yield* filesBelow(root, path);
      else yield path;
    }
  } finally {
    directory.closeSync();
  }
}
