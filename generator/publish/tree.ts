/** The published tree as a folder: whose it is, and where its own bookkeeping lies. */
import { mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, codeOf, messageOf } from '../errors.js';

/** Bookkeeping of the tree, on the same file system so that renaming is atomic; never served. */
const STATE = '.snapshot';
/** What may lie in an output folder without making it somebody else's: a clone keeps its empty dist with it. */
const HARMLESS = new Set(['.gitignore', STATE]);

/** The version of the tree's layout and of snapshot.json. */
export const FORMAT = 1;

/** The paths of an output folder. */
export class Tree {
  readonly out: string;

  private constructor(out: string) {
    this.out = out;
  }

  /** The file that a tree ends with: there is a snapshot when it is there. */
  get manifest(): string {
    return join(this.out, 'snapshot.json');
  }

  get ledger(): string {
    return join(this.out, STATE, 'ledger');
  }

  get stage(): string {
    return join(this.out, STATE, 'stage');
  }

  /**
   * An output folder to publish into, created if it is missing.
   * @throws Failure environment: it is somebody else's, no folder, or not writable
   */
  static prepare(out: string): Tree {
    const tree = new Tree(out);
    try {
      mkdirSync(out, { recursive: true });
      const found = readdirSync(out);
      const strange = found.find((name) => !HARMLESS.has(name));
      if (strange !== undefined && !found.includes(STATE)) {
        if (!found.includes('snapshot.json')) {
          throw Failure.environment(
            `output folder "${out}" is not empty and holds no snapshot.json (found "${strange}"), ` +
              `expected an empty folder or a published tree`,
          );
        }
        tree.previous();
      }
      rmSync(tree.stage, { recursive: true, force: true });
      mkdirSync(join(tree.stage, 'tree'), { recursive: true });
    } catch (error) {
      throw asFailure(error, `output folder "${out}"`);
    }
    return tree;
  }

  /**
   * What the published snapshot says of itself; undefined where there is none.
   * @throws Failure invalid: snapshot.json is not one of ours, or of another format
   */
  previous(): { readonly sequence: number } | undefined {
    let content: string;
    try {
      content = readFileSync(this.manifest, 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw asFailure(error, `"${this.manifest}"`);
    }
    const value = parse(content);
    const format = property(value, 'format');
    const sequence = property(value, 'sequence');
    if (format !== FORMAT || typeof sequence !== 'number') {
      throw Failure.environment(
        `"${this.manifest}" is not a snapshot this generator wrote (format ${JSON.stringify(format)}, expected ${FORMAT})`,
      );
    }
    return { sequence };
  }
}

function parse(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

const property = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? new Map(Object.entries(value)).get(name) : undefined;

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'a file is in the place of a folder',
  EMFILE: 'too many open files',
  EIO: 'the disk fails',
};

/** A system error as one clear line; anything else stays as it is. */
export function asFailure(error: unknown, what: string): unknown {
  const code = codeOf(error);
  if (error instanceof Failure || code === undefined || !/^E[A-Z]+$/.test(code)) return error;
  return Failure.environment(`${what} can't be written: ${REASONS[code] ?? messageOf(error)} (${code})`);
}
