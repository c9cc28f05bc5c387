/** Checks every file of a tree against the published lists, and compressed siblings against their documents. */
import { hash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { cursorOver, seek } from '../../base/cursor.js';
import { codeOf, unlessFailure } from '../../base/errors.js';
import { hasSum, ifExists } from '../../base/files.js';
import { Lock } from '../../base/lock.js';
import type { Progress } from '../../base/progress.js';
import { FORMER_LIST } from '../../publish/assets.js';
import { linesOf, listedRoutes, type Listed, type ListedRoute } from '../../publish/lists.js';
import { isManifestOf, readKnown } from '../../publish/state.js';
import { filler } from '../../routes/route.js';
import { CODINGS, namesOf, siblingsFrom, type Coding } from '../../tree/codings.js';
import { aliasPatterns } from '../../tree/locate.js';
import { readManifest } from '../../tree/manifest.js';
import type { PublishedRoute } from '../../tree/published-routes.js';
import { filesBelow, scan } from '../../tree/scan.js';
import type { Manifest } from '../../tree/snapshot-json.js';
import type { Tree } from '../../tree/tree.js';

export interface Damage {
  readonly file: string;
  /**
   * `copied` is a compressed file whose time is not that of its document, as in a copy without times: the proxy
   * doesn't serve it. It stands for all of them.
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

/** What a check found, for a repair. */
export interface Checked {
  readonly report: VerifyReport;
  /** Listed files that are to be written again. */
  readonly damaged: readonly string[] | 'all';
  /** Files to which a route leads, though they are not published. */
  readonly extra: readonly string[];
  readonly untracked: readonly string[];
}

/** With more damaged files, all are written again. */
const MOST_DAMAGED = 10_000;

/** A part of the state, as findings name it: `.dist-state/lists`. */
const nameOf = (path: string): string => join(basename(dirname(path)), basename(path));

/** What is said of a commit that is to be completed. */
export const interruption = ({ commit }: Tree): Damage => ({ file: nameOf(commit), what: 'interrupted' });

class Findings {
  readonly #damage: Damage[] = [];
  readonly damaged: string[] = [];
  readonly extra: string[] = [];
  untracked: readonly string[] = [];
  isUnknown = false;
  total = 0;
  copied = 0;
  files = 0;

  /** @param document the listed file to be written again */
  add(file: string, what: Damage['what'], document?: string): void {
    this.total += 1;
    if (what === 'copied') this.copied += 1;
    const isShown = what === 'copied' ? this.copied === 1 : this.#damage.length < SHOWN_DAMAGE;
    if (isShown) this.#damage.push({ file, what });
    if (what === 'extra') this.extra.push(file);
    if (document !== undefined && this.damaged.length <= MOST_DAMAGED) this.damaged.push(document);
  }

  checked(sequence: number | null): Checked {
    const { damaged, extra, untracked, total, copied, files, isUnknown } = this;
    return {
      report: {
        sequence,
        files,
        damage: this.#damage,
        total,
        copied,
        untracked: { files: untracked.slice(0, SHOWN_DAMAGE), total: untracked.length },
      },
      damaged: isUnknown || damaged.length > MOST_DAMAGED ? 'all' : damaged,
      extra,
      untracked,
    };
  }
}

/**
 * Checks a tree.
 * @throws Failure busy: another process is at work on the tree; environment: a file or folder of ours
 * is a symbolic link
 */
export async function verify(tree: Tree, progress: Progress): Promise<Checked> {
  tree.requireNoLinks();
  const lock = Lock.takeIfWritable(tree.lock);
  try {
    const found = new Findings();
    if (existsSync(tree.commit)) found.add(interruption(tree).file, 'interrupted');
    const manifest = unlessFailure(() => readManifest(tree.manifest));
    if (manifest === undefined) {
      found.add('snapshot.json', existsSync(tree.manifest) ? 'altered' : 'missing');
      found.isUnknown = true;
      return found.checked(null);
    }
    const { lists, state } = await progress.blocking(
      () => readKnown(tree),
      'reading the lists of what is published',
    );
    if (lists === null) {
      const isOfAnother = state?.sequence !== manifest.sequence;
      if (state !== undefined && !isOfAnother && !isManifestOf(tree, state))
        found.add('snapshot.json', 'altered');
      else {
        const path = isOfAnother ? tree.stateFile : tree.lists;
        found.add(nameOf(path), existsSync(path) ? 'altered' : 'missing');
      }
      found.isUnknown = true;
      return found.checked(manifest.sequence);
    }
    await checkFiles(tree, manifest, lists, found, progress);
    return found.checked(manifest.sequence);
  } finally {
    lock?.release();
  }
}

async function checkFiles(
  tree: Tree,
  manifest: Manifest,
  lists: string,
  found: Findings,
  progress: Progress,
): Promise<void> {
  const routes = listedRoutes(lists).filter(({ name }) => name !== FORMER_LIST.name);
  const former = [...linesOf(lists, FORMER_LIST)];
  const assets = former.map(({ file }): ListedRoute => ({
    name: file,
    path: `/${file}`,
    file,
    class: 'asset',
    pages: [],
  }));
  // What those lead to is served, though it is in no list.
  const files = new Set(['snapshot.json', ...routes.map(({ file }) => file)]);
  const unlisted = manifest.routes
    .filter((route) => !files.has(route.file) && !isAlias(route))
    .map((route): ListedRoute => ({ ...route, pages: [] }));
  const all = [...routes, ...assets, ...unlisted];
  const { keys, extra, untracked } = await scan(tree, [...all, ...manifest.routes.filter(isAlias)], progress);
  for (const file of extra) found.add(file, 'extra');
  found.untracked = untracked;
  progress.start('verifying', manifest.tree.files, 'files');
  const aliases: number[] = [];
  for (const route of all) {
    const lines = assets.includes(route)
      ? former.filter(({ file }) => file === route.file)
      : linesOf(lists, route);
    for (const _ of checkRoute(tree.out, route, lines, keys, aliases, found)) {
      found.files += 1;
      const pause = progress.advance(1);
      if (pause !== undefined) await pause;
    }
  }
  progress.finish();
  await findAliases(tree, manifest.routes.filter(isAlias), aliases, found, progress);
}

const isAlias = ({ aliases }: PublishedRoute): boolean => aliases !== undefined;

/** A number for a name, of 52 bits, which takes 8 bytes of memory. */
const markOf = (name: string): number => Number.parseInt(hash('sha256', name).slice(0, 13), 16);

/** Whether ascending numbers have one of them, by halving. */
function holds(numbers: Float64Array, number: number): boolean {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < number) low = middle + 1;
    else high = middle;
  }
  return numbers[low] === number;
}

/** Looks for further names that no list has. @param listed the marks of those that are listed, with siblings */
async function findAliases(
  tree: Tree,
  routes: readonly PublishedRoute[],
  listed: readonly number[],
  found: Findings,
  progress: Progress,
): Promise<void> {
  const isAliasName = aliasPatterns(routes);
  const marks = Float64Array.from(listed).toSorted();
  progress.start('looking through further names', 0, 'files');
  for (const { file } of routes) {
    const folder = dirname(file);
    if (statOf(join(tree.out, folder))?.isDirectory() !== true) continue;
    for (const name of filesBelow(tree.out, folder)) {
      if (isAliasName(name) && !holds(marks, markOf(name))) found.add(name, 'extra');
      const pause = progress.advance(1);
      if (pause !== undefined) await pause;
    }
  }
  progress.finish();
}

/** Merges a route's lines with the files that were found, in order of their keys; yields after each line. */
function* checkRoute(
  out: string,
  route: ListedRoute,
  lines: Iterable<Listed>,
  keys: ReadonlyMap<string, Float64Array>,
  aliases: number[],
  found: Findings,
): Generator<void, void, undefined> {
  const fileOf = filler(route.file);
  const cursors = [undefined, ...CODINGS].map((coding) => {
    const suffix = coding?.suffix ?? '';
    const scanned = cursorOver((keys.get(route.name + suffix) ?? []).values(), (key) => key);
    const onPassed = (key: number): void => found.add(fileOf(key) + suffix, 'extra');
    return { coding, scanned, moveTo: (key: number) => seek(scanned, key, onPassed) === key };
  });
  for (const { key, sum, file, alias } of lines) {
    const path = join(out, file);
    const before = statOf(path);
    const bytes = before?.isFile() === true ? before.size : 0;
    const names = namesOf(file, bytes, siblingsFrom(route));
    for (const [index, { coding, scanned, moveTo }] of cursors.entries()) {
      const isThere = moveTo(key);
      const name = names[index];
      // A small document has no siblings: the next move passes one that is there.
      if (name === undefined) continue;
      if (isThere) scanned.next();
      const what = !isThere ? 'missing' : damageOf(join(out, name), sum, before, coding);
      if (what !== undefined) found.add(name, what, file);
    }
    if (alias !== undefined) {
      const own = statOf(join(out, alias));
      for (const [index, name] of namesOf(alias, bytes, siblingsFrom(route)).entries()) {
        aliases.push(markOf(name));
        const what = aliasDamage(
          join(out, name),
          join(out, names[index] ?? file),
          sum,
          own,
          CODINGS[index - 1],
        );
        // Its document is written again, and with it all of its names.
        if (what !== undefined) found.add(name, what, file);
      }
    }
    yield;
  }
  for (const { moveTo } of cursors) moveTo(Number.POSITIVE_INFINITY);
}

/** What is wrong with a further name, if anything: one that is a link to its document is as that is. */
function aliasDamage(
  path: string,
  document: string,
  sum: string,
  of: Stats | undefined,
  coding: Coding | undefined,
): Damage['what'] | undefined {
  const [own, other] = [statOf(path), statOf(document)];
  if (own === undefined) return 'missing';
  if (own.isFile() && own.ino === other?.ino && own.dev === other.dev) return undefined;
  return damageOf(path, sum, of, coding);
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
    const found = lstatSync(path);
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
