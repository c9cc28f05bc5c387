/** A published tree: the folder that is served, and the private state that is kept of it beside it. */
import {
  chmodSync,
  existsSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { Failure, asFailure, codeOf } from '../errors.js';
import { liesIn, makeFolder } from './files.js';
import { readManifest } from './snapshot-json.js';

/** Where the state was before format 3: in the published folder. */
const FORMER_STATE = '.snapshot';
/** Moved from the state into the tree and deleted again, to see whether files can be. */
const PROBE = '.probe';
/** What may lie in an output folder without making it somebody else's: a clone keeps its empty dist with it. */
export const HARMLESS: ReadonlySet<string> = new Set(['.gitignore', FORMER_STATE, PROBE]);

const UNREPORTED = 'unreported-';

/** The state's file that says which tree it is of: a path relative to the state. */
const TREE_NAME = 'tree';

/** The paths of a tree, whatever is there. */
export class Tree {
  readonly out: string;
  /** Private: it knows what was published before. On the same file system, so that renaming is atomic. */
  readonly state: string;
  /** The file a commit ends with: where it is, there is a snapshot. */
  readonly manifest: string;
  /** Beside the tree wherever the state is, so that there is one for each tree. */
  readonly lock: string;
  /** What the published files hold, and were made from (see index-json.ts). */
  readonly index: string;
  readonly stage: string;
  /** What the last commit replaced. */
  readonly previous: string;
  /** Whether the folders were not there before `prepare`. */
  #isNew = false;
  #isStateNew = false;

  /** @param state `.NAME-state` beside the tree if left out */
  constructor(out: string, state = beside(out, 'state')) {
    this.out = out;
    this.state = state;
    this.manifest = join(out, 'snapshot.json');
    this.lock = beside(out, 'lock');
    this.index = join(state, 'index');
    this.stage = join(state, 'stage');
    this.previous = join(state, 'previous');
  }

  /**
   * Makes the folders to publish into, where they are missing.
   * @throws Failure environment: one is somebody else's, no folder, not writable, or they are on two file systems
   */
  prepare(): void {
    const { out } = this;
    this.#isNew = !existsSync(out);
    try {
      makeFolder(out);
      const found = readdirSync(out);
      const strange = found.find((name) => !HARMLESS.has(name));
      const ours = found.includes('snapshot.json') || existsSync(this.state) || found.includes(FORMER_STATE);
      if (strange !== undefined && !ours) {
        throw Failure.environment(
          `output folder "${out}" is not empty and holds no snapshot.json (found "${strange}"), ` +
            `expected an empty folder or a published tree`,
        );
      }
      readManifest(this.manifest);
    } catch (error) {
      // Somebody else's folder, as far as a builder can tell.
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
   * Makes the state's folder, where it is missing.
   * @throws Failure environment: it is another tree's, not writable, or on another file system than the tree
   */
  prepareState(): void {
    try {
      this.#prepareState();
    } catch (error) {
      throw asFailure(error, `state folder "${this.state}"`);
    }
  }

  #prepareState(): void {
    const { out, state } = this;
    if (liesIn(resolve(state), resolve(out))) {
      throw Failure.environment(`state folder "${state}" lies in the tree "${out}", expected it outside`);
    }
    this.#isStateNew = !existsSync(state);
    makeFolder(state);
    // It knows what was published before something was withheld.
    chmodSync(state, 0o700);
    const other = this.#otherTree();
    if (other !== undefined) {
      throw Failure.environment(
        `state folder "${state}" is of the tree "${other}": choose another with --state`,
      );
    }
    writeFileSync(join(state, TREE_NAME), relative(realpathSync(state), realpathSync(out)));
    const probe = join(state, PROBE);
    writeFileSync(probe, '');
    try {
      renameSync(probe, join(out, PROBE));
    } catch (error) {
      if (codeOf(error) !== 'EXDEV') throw error;
      if (this.#isStateNew) rmSync(state, { recursive: true });
      throw Failure.environment(
        `state folder "${state}" is on another file system than "${out}" (EXDEV): choose one on the same with --state`,
      );
    }
    unlinkSync(join(out, PROBE));
  }

  /** The tree that the state is of, if that is another one which is still there. */
  #otherTree(): string | undefined {
    try {
      const named = resolve(realpathSync(this.state), readFileSync(join(this.state, TREE_NAME), 'utf8'));
      return realpathSync(named) === realpathSync(this.out) ? undefined : named;
    } catch (error) {
      // A state that is new, or whose tree was moved.
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
      throw error;
    }
  }

  /** Moves the state of an earlier version out of the tree. Idempotent; the caller holds the lock. */
  adoptFormerState(): void {
    const former = join(this.out, FORMER_STATE);
    if (!existsSync(former)) return;
    if (!existsSync(this.index)) {
      for (const part of ['stage', 'previous', 'index']) {
        const [from, to] = [join(former, part), join(this.state, part)];
        rmSync(to, { recursive: true, force: true });
        if (existsSync(from)) renameSync(from, to);
      }
    }
    rmSync(former, { recursive: true });
  }

  /** The folder of the lists of a commit, until a build reports what was done. */
  unreported(sequence: number): string {
    return join(this.state, `${UNREPORTED}${sequence}`);
  }

  /** The folders of the lists of commits since the last build that ended well. */
  allUnreported(): readonly string[] {
    return readdirSync(this.state)
      .filter((name) => name.startsWith(UNREPORTED))
      .map((name) => join(this.state, name));
  }

  /** Leaves nothing behind where nothing was before. */
  removeIfEmpty(): void {
    // What was not deleted in time is left to the next build.
    if (!this.#isNew || !this.isEmpty() || existsSync(this.stage)) return;
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
      // An interrupted commit may still be completed.
      if (existsSync(this.state)) return;
      throw Failure.environment(`output folder "${this.out}" does not exist`);
    }
    if (!found.includes('snapshot.json') && !found.includes(FORMER_STATE) && !existsSync(this.state)) {
      throw Failure.environment(`"${this.out}" holds no published tree (no snapshot.json)`);
    }
  }
}

/** `dist` -> `.dist-state`. */
function beside(out: string, what: string): string {
  const path = resolve(out);
  return join(dirname(path), `.${basename(path)}-${what}`);
}
