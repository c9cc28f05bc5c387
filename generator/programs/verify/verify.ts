/** Checks every file of a tree against the published lists, and compressed siblings against their documents. */
import { hash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { codeOf, unlessFailure } from '../../base/errors.js';
import { hasSum, ifExists } from '../../base/files.js';
import { Lock } from '../../base/lock.js';
import type { Progress } from '../../base/progress.js';
import { FORMER_LIST } from '../../publish/assets.js';
import { listedFiles, listedRoutes, type Listed, type ListedRoute } from '../../publish/lists.js';
import { isSnapshotOf, readKnown } from '../../publish/state.js';
import { CODINGS, namesOf, siblingsFrom, type Coding } from '../../tree/codings.js';
import { aliasPatterns, folderPatterns, locator, namesOfDocuments } from '../../tree/locate.js';
import { readSnapshot } from '../../tree/snapshot.js';
import { isAlias, type PublishedRoute } from '../../tree/published-routes.js';
import type { PublishedSnapshot } from '../../tree/snapshot-json.js';
import { filesBelow, type Tree } from '../../tree/tree.js';

export interface Damage {
  readonly file: string;
  /**
   * `copied` is a compressed file whose time is not that of its document, as in a copy without times: the proxy
   * doesn't serve it. Only the first such file is shown.
   */
  readonly what: 'missing' | 'altered' | 'extra' | 'interrupted' | 'copied';
}

export interface VerifyReport {
  readonly sequence: number | null;
  /** Files checked against the lists. */
  readonly files: number;
  /** At most `SHOWN_DAMAGE`. */
  readonly damage: readonly Damage[];
  readonly total: number;
  /** How many compressed files have another time than their documents. */
  readonly copied: number;
  /** Files that no route leads to, which are no damage. `files` has at most `SHOWN_DAMAGE`. */
  readonly untracked: { readonly files: readonly string[]; readonly total: number };
}

export const SHOWN_DAMAGE = 100;

/** What a repair needs of a check. */
export interface Checked {
  readonly report: VerifyReport;
  /** Listed files that are to be written again. */
  readonly damaged: readonly string[] | 'all';
  /** Files to which a route leads, though they are not published. */
  readonly extra: readonly string[];
  readonly untracked: readonly string[];
}

/** If more files are damaged, all are written again. */
const MOST_DAMAGED = 10_000;

/** A part of the state, as findings name it: `.dist-state/lists`. */
const nameOf = (path: string): string => join(basename(dirname(path)), basename(path));

/** The damage that a commit is which was not completed. */
export const interruption = ({ commit }: Tree): Damage => ({ file: nameOf(commit), what: 'interrupted' });

/**
 * Checks a tree.
 * @throws Failure busy: another process is at work on the tree; environment: a file or folder of ours
 * is a symbolic link
 */
export async function verify(tree: Tree, progress: Progress): Promise<Checked> {
  tree.requireNoLinks();
  const lock = Lock.takeIfWritable(tree.lock);
  try {
    return await new Check(tree, progress).run();
  } finally {
    lock?.release();
  }
}

/** A check, with what it has found so far. */
class Check {
  readonly #tree: Tree;
  readonly #progress: Progress;
  readonly #damage: Damage[] = [];
  readonly #damaged: string[] = [];
  readonly #extra: string[] = [];
  readonly #untracked: string[] = [];
  #total = 0;
  #copied = 0;
  #files = 0;
  /** The keys of listed files, by the name of the route with the suffix of siblings. */
  readonly #keys = new Map<string, ReadonlySet<number>>();
  /** Marks of the names of aliases and of their siblings. */
  readonly #aliases = new Set<number>();

  constructor(tree: Tree, progress: Progress) {
    this.#tree = tree;
    this.#progress = progress;
  }

  async run(): Promise<Checked> {
    const tree = this.#tree;
    if (existsSync(tree.commit)) this.#add(interruption(tree).file, 'interrupted');
    const published = unlessFailure(() => readSnapshot(tree.snapshotFile));
    if (published === undefined) {
      this.#add('snapshot.json', existsSync(tree.snapshotFile) ? 'altered' : 'missing');
      return this.#checked(null, 'all');
    }
    const { lists, state } = await this.#progress.blocking(
      () => readKnown(tree),
      'reading the lists of what is published',
    );
    if (lists === null) {
      const isOfAnother = state?.sequence !== published.sequence;
      if (state !== undefined && !isOfAnother && !isSnapshotOf(tree, state))
        this.#add('snapshot.json', 'altered');
      else {
        const path = isOfAnother ? tree.stateFile : tree.lists;
        this.#add(nameOf(path), existsSync(path) ? 'altered' : 'missing');
      }
      return this.#checked(published.sequence, 'all');
    }
    await this.#checkListed(published, lists);
    return this.#checked(published.sequence, this.#damaged.length > MOST_DAMAGED ? 'all' : this.#damaged);
  }

  /** @param document the listed file to be written again */
  #add(file: string, what: Damage['what'], document?: string): void {
    this.#total += 1;
    if (what === 'copied') this.#copied += 1;
    const isShown = what === 'copied' ? this.#copied === 1 : this.#damage.length < SHOWN_DAMAGE;
    if (isShown) this.#damage.push({ file, what });
    if (what === 'extra') this.#extra.push(file);
    if (document !== undefined && this.#damaged.length <= MOST_DAMAGED) this.#damaged.push(document);
  }

  #checked(sequence: number | null, damaged: Checked['damaged']): Checked {
    const untracked = this.#untracked;
    return {
      report: {
        sequence,
        files: this.#files,
        damage: this.#damage,
        total: this.#total,
        copied: this.#copied,
        untracked: { files: untracked.slice(0, SHOWN_DAMAGE), total: untracked.length },
      },
      damaged,
      extra: this.#extra,
      untracked,
    };
  }

  async #checkListed(published: PublishedSnapshot, lists: string): Promise<void> {
    const routes = listedRoutes(published.routes).filter(({ name }) => existsSync(join(lists, name)));
    const former = [...listedFiles(lists, FORMER_LIST)];
    const assets = former.map(({ file }): ListedRoute => ({
      name: file,
      path: `/${file}`,
      file,
      class: 'asset',
      pages: [],
    }));
    // Routes without a list have no files, and what is in the place of one would be served.
    const files = new Set(['snapshot.json', ...routes.map(({ file }) => file)]);
    const unlisted = published.routes
      .filter((route) => !files.has(route.file) && !isAlias(route))
      .map((route): ListedRoute => ({ ...route, pages: [] }));
    const all = [...routes, ...assets, ...unlisted];
    this.#progress.start('verifying', published.tree.files, 'files');
    for (const route of all) {
      const listed = assets.includes(route)
        ? former.filter(({ file }) => file === route.file)
        : listedFiles(lists, route);
      for (const _ of this.#checkRoute(route, listed)) {
        this.#files += 1;
        const pause = this.#progress.advance(1);
        if (pause !== undefined) await pause;
      }
    }
    this.#progress.finish();
    await this.#findOthers([...all, ...published.routes.filter(isAlias)]);
  }

  /** Checks the listed files of a route with their siblings, and notes their names; yields after each. */
  *#checkRoute(route: ListedRoute, listed: Iterable<Listed>): Generator<void, void, undefined> {
    const { out } = this.#tree;
    const kept = [undefined, ...CODINGS].map((coding) => ({ coding, keys: new Set<number>() }));
    for (const { coding, keys } of kept) this.#keys.set(route.name + (coding?.suffix ?? ''), keys);
    for (const { key, sum, file, alias } of listed) {
      const document = statOf(join(out, file));
      const bytes = document?.isFile() === true ? document.size : 0;
      const compressedFrom = siblingsFrom(route, key);
      const names = namesOf(file, bytes, compressedFrom);
      for (const [index, name] of names.entries()) {
        const { coding, keys } = kept[index] ?? {};
        keys?.add(key);
        const what = damageOf(join(out, name), sum, document, coding);
        if (what !== undefined) this.#add(name, what, file);
      }
      if (alias !== undefined) {
        const own = statOf(join(out, alias));
        for (const [index, name] of namesOf(alias, bytes, compressedFrom).entries()) {
          this.#aliases.add(markOf(name));
          const coding = CODINGS[index - 1];
          const what = isSameFile(join(out, name), join(out, names[index] ?? file))
            ? undefined
            : damageOf(join(out, name), sum, own, coding);
          // The document is written again, and its alias with it.
          if (what !== undefined) this.#add(name, what, file);
        }
      }
      yield;
    }
  }

  /**
   * Finds the files that no list names. Extra are those to which a route leads, siblings of snapshot.json, and files
   * in the place of a folder of documents.
   */
  async #findOthers(routes: readonly PublishedRoute[]): Promise<void> {
    const locate = locator(routes);
    const folders = folderPatterns(routes);
    const isAliasName = aliasPatterns(routes);
    const extra: string[] = [];
    this.#progress.start('looking through the tree', 0, 'files');
    for (const name of filesBelow(this.#tree.out, '')) {
      const place = locate(name);
      const isOfAlias = place === undefined && isAliasName(name);
      const isKnown =
        place !== undefined
          ? this.#keys.get(place.route.name + place.suffix)?.has(place.key) === true
          : isOfAlias
            ? this.#aliases.has(markOf(name))
            : name === 'snapshot.json';
      if (!isKnown) {
        const isExtra =
          place !== undefined ||
          isOfAlias ||
          isOfSnapshot(name) ||
          folders.some((folder) => folder.test(name));
        (isExtra ? extra : this.#untracked).push(name);
      }
      const pause = this.#progress.advance(1);
      if (pause !== undefined) await pause;
    }
    this.#progress.finish();
    for (const file of extra.toSorted()) this.#add(file, 'extra');
    this.#untracked.sort();
  }
}

/** A number of 52 bits for a name, which takes a tenth of its memory. */
const markOf = (name: string): number => Number.parseInt(hash('sha256', name).slice(0, 13), 16);

/** Whether a file is snapshot.json, which is in no list, or would be a sibling of it. */
const isOfSnapshot = (name: string): boolean =>
  namesOfDocuments(name).some(([file]) => file === 'snapshot.json');

/** Whether two paths are hard links to one file, so that both are as they should be if one is. */
function isSameFile(path: string, other: string): boolean {
  const [one, two] = [statOf(path), statOf(other)];
  return one?.isFile() === true && one.ino === two?.ino && one.dev === two.dev;
}

const statOf = (path: string): Stats | undefined => ifExists(() => lstatSync(path));

/** What is wrong with a file, if anything. @param coding of a sibling, whose document is `of` */
function damageOf(
  path: string,
  sum: string,
  of: Stats | undefined,
  coding: Coding | undefined,
): Damage['what'] | undefined {
  try {
    const found = statOf(path);
    if (found === undefined || found.isDirectory()) return 'missing';
    // A symbolic link could lead anywhere, and reading a pipe might never end.
    if (!found.isFile()) return 'altered';
    if (coding === undefined) return hasSum(path, sum) ? undefined : 'altered';
    if (hash('sha256', coding.decode(readFileSync(path), of?.size ?? 0)) !== sum) return 'altered';
    return Math.trunc(found.mtimeMs) === Math.trunc(of?.mtimeMs ?? 0) ? undefined : 'copied';
  } catch (error) {
    // An unreadable or undecodable file counts as altered: this is how a failing disk shows.
    if (codeOf(error) === undefined) throw error;
    return 'altered';
  }
}
