/** The published tree as a folder: whose it is, and where its own bookkeeping lies. */
import { chmodSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, asFailure, codeOf } from '../errors.js';
import { makeFolder } from './files.js';
import { readManifest } from './manifest.js';

/** Bookkeeping of the tree, on the same file system so that renaming is atomic; never served. */
export const STATE = '.snapshot';
/** What may lie in an output folder without making it somebody else's: a clone keeps its empty dist with it. */
export const HARMLESS: ReadonlySet<string> = new Set(['.gitignore', STATE]);

/** The paths of an output folder. */
export class Tree {
  readonly out: string;
  readonly state: string;
  /** The file a commit ends with: where it is, there is a snapshot. */
  readonly manifest: string;
  readonly lock: string;
  readonly ledger: string;
  readonly stage: string;
  /** What the last commit replaced. */
  readonly previous: string;
  /** What commits did since the last build that ended well. */
  readonly unreported: string;
  /** Whether the folder was not there before. */
  readonly #isNew: boolean;

  private constructor(out: string, isNew = false) {
    this.out = out;
    this.#isNew = isNew;
    this.state = join(out, STATE);
    this.manifest = join(out, 'snapshot.json');
    this.lock = join(this.state, 'lock');
    this.ledger = join(this.state, 'ledger');
    this.stage = join(this.state, 'stage');
    this.previous = join(this.state, 'previous');
    this.unreported = join(this.state, 'unreported');
  }

  /** The paths of a folder, whatever is there. */
  static at(out: string): Tree {
    return new Tree(out);
  }

  /**
   * An output folder to publish into, created if it is missing.
   * @throws Failure environment: it is somebody else's, no folder, or not writable
   */
  static prepare(out: string): Tree {
    const tree = new Tree(out, !existsSync(out));
    try {
      makeFolder(out);
      const found = readdirSync(out);
      const strange = found.find((name) => !HARMLESS.has(name));
      const ours = found.includes('snapshot.json') || existsSync(tree.lock);
      if (strange !== undefined && !ours) {
        throw Failure.environment(
          `output folder "${out}" is not empty and holds no snapshot.json (found "${strange}"), ` +
            `expected an empty folder or a published tree`,
        );
      }
      readManifest(tree.manifest);
      makeFolder(tree.state);
      // It keeps what was replaced, also of records that are withheld by now.
      chmodSync(tree.state, 0o700);
    } catch (error) {
      // Somebody else's folder, as far as a builder can tell.
      if (error instanceof Failure) throw Failure.environment(error.message);
      throw asFailure(error, `output folder "${out}"`);
    }
    return tree;
  }

  /** Leaves nothing behind where nothing was before. */
  vacate(): void {
    // Who was in a hurry has left the rest of the stage to the next build.
    if (this.#isNew && this.isEmpty() && !existsSync(this.stage))
      rmSync(this.out, { recursive: true, force: true });
  }

  /** Whether there is nothing but bookkeeping. */
  isEmpty(): boolean {
    return readdirSync(this.out).every((name) => HARMLESS.has(name));
  }

  /**
   * A folder that holds a published tree.
   * @throws Failure environment: there is none
   */
  static published(out: string): Tree {
    const tree = new Tree(out);
    let found: string[];
    try {
      found = readdirSync(out);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw asFailure(error, `output folder "${out}"`);
      throw Failure.environment(`output folder "${out}" does not exist`);
    }
    if (!found.includes('snapshot.json') && !found.includes(STATE)) {
      throw Failure.environment(`"${out}" holds no published tree (no snapshot.json)`);
    }
    return tree;
  }
}
