/** What `verify` finds, and reports. */
import { chmodSync, lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writing } from '../../base/errors.js';
import { ifExists } from '../../base/files.js';
import { keepsModes } from '../../base/modes.js';
import type { Tree } from '../../tree/tree.js';

export interface Damage {
  readonly file: string;
  readonly what: 'missing' | 'altered' | 'extra' | 'interrupted';
}

export interface VerifyReport {
  readonly sequence: number | null;
  /** Documents checked against the state. */
  readonly files: number;
  /** At most `SHOWN_DAMAGE`. */
  readonly damage: readonly Damage[];
  readonly total: number;
  /** Files that no route leads to, which are no damage. `files` has at most `SHOWN_DAMAGE`. */
  readonly untracked: { readonly files: readonly string[]; readonly total: number };
  /** How many files and folders others can't read, or could not before a repair, with an example. */
  readonly closed: { readonly total: number; readonly example: string | null };
}

export const SHOWN_DAMAGE = 100;

export class DamageReport {
  readonly damage: Damage[] = [];
  total = 0;
  /** Set once the tree was scanned. */
  untracked: readonly string[] = [];
  /** Set to have the modes of what is published looked at. */
  closed: ClosedFiles | undefined;
  readonly #onDamage: (damage: Damage) => void;

  /** @param onDamage called with each damage */
  constructor(onDamage: (damage: Damage) => void = () => undefined) {
    this.#onDamage = onDamage;
  }

  add(file: string, what: Damage['what']): void {
    this.total += 1;
    if (this.damage.length < SHOWN_DAMAGE) this.damage.push({ file, what });
    this.#onDamage({ file, what });
  }

  report(sequence: number | null, files: number): VerifyReport {
    const { damage, total, untracked, closed } = this;
    return {
      sequence,
      files,
      damage,
      total,
      untracked: { files: untracked.slice(0, SHOWN_DAMAGE), total: untracked.length },
      closed: { total: closed?.total ?? 0, example: closed?.example ?? null },
    };
  }
}

const READ_FILE = 0o444;
/** To list it, and to open what is in it. */
const READ_FOLDER = 0o555;
const OTHERS = 0o077;

/** What of a tree others can't read, though builds let them: files are 0644 and folders 0755, whatever the umask. */
export class ClosedFiles {
  readonly #tree: Tree;
  readonly #opens: boolean;
  /** The folder of the last file, and those above it. */
  #folder = '.';
  /** Known once something is closed: a file system without modes shows the same ones for everything. */
  #keepsModes: boolean | undefined;
  total = 0;
  /** A path below the tree. */
  example: string | null = null;

  /** @param opens whether to let others read it */
  constructor(tree: Tree, opens: boolean) {
    this.#tree = tree;
    this.#opens = opens;
  }

  /** Looks at a file, and at the folders that the file before was not in. Files come folder by folder. */
  look(file: string): void {
    this.#look(file);
    const last = `${this.#folder}/`;
    this.#folder = dirname(file);
    for (let at = this.#folder; at !== '.' && !last.startsWith(`${at}/`); at = dirname(at)) this.#look(at);
  }

  #look(name: string): void {
    const path = join(this.#tree.out, name);
    const found = ifExists(() => lstatSync(path));
    if (found?.isFile() !== true && found?.isDirectory() !== true) return;
    const wanted = found.isDirectory() ? READ_FOLDER : READ_FILE;
    if ((found.mode & wanted) === wanted) return;
    this.#keepsModes ??= keepsModes(this.#tree.state);
    if (!this.#keepsModes) return;
    this.total += 1;
    this.example ??= name;
    if (this.#opens) writing(`mode of "${path}"`, () => chmodSync(path, found.mode | wanted));
  }

  /** Looks at the tree's own folder. An operator may have closed it, but then what is in it is open. */
  finish(): void {
    if (this.total > 0 && (lstatSync(this.#tree.out).mode & OTHERS) === 0) this.#look('.');
  }
}
