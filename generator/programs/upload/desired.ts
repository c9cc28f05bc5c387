/**
 * The files that a remote should hold, in sets: the documents of a route, or a single one of the
 * files that are no documents. Compressed siblings are not among them: no remote chooses between
 * forms.
 */
import { existsSync, lstatSync } from 'node:fs';
import { Failure } from '../../base/errors.js';
import { ifExists } from '../../base/files.js';
import { OwnFolder } from '../../base/links.js';
import type { Headers } from '../../routes/headers.js';
import { isLeftOut } from '../../routes/exports.js';
import { hasFiles, type CacheClass } from '../../routes/route.js';
import { keyForm, templatePattern, textPattern } from '../../routes/keys.js';
import { locator, namesOfDocuments } from '../../tree/locate.js';
import type { State } from '../../state/state.js';
import { NO_HASH, measure } from '../../tree/measure.js';
import { isRendered } from '../../tree/published-routes.js';
import { filesBelow } from '../../tree/scan.js';
import { parseSnapshot, type Manifest, type SnapshotRoute } from '../../tree/snapshot-json.js';
import type { Tree } from '../../tree/tree.js';

/** How the files of a route are sent. */
interface Sent {
  /** The template under which the record of a remote keeps the mark. */
  readonly group: string;
  /**
   * The headers, and the hash of a file that no commit lists. If the mark changes, all files of the
   * group are sent again.
   */
  readonly mark: string;
  readonly class: CacheClass;
  readonly headers: Headers;
}

export interface FileSet extends Sent {
  /** The template of the files' names; for a single file its name, with 0 as the only key. */
  readonly template: string;
  /** Number of files. */
  readonly size: number;
  readonly keys: () => Iterable<number>;
  readonly has: (key: number) => boolean;
  /**
   * The size of a file that is to be written.
   * @throws Failure invalid: it isn't there, which rclone would skip, or has another size than the
   * state says
   */
  readonly bytesOf: (key: number, file: string) => number;
}

/** Where a file of a remote belongs. */
export interface Location {
  readonly template: string;
  readonly key: number;
  readonly group: string;
  /** Whether the remote should hold it. */
  readonly isDesired: boolean;
}

/** Whether a template is the name of a file. */
export const isSingle = (template: string): boolean => !template.includes('{');

/** Whether the parameter of a template, if it has one, is a key. */
const hasKeys = (template: string): boolean =>
  [...template.matchAll(/\{(\w+)\}/g)].every(([, name = '']) => textPattern(name) === keyForm(name).pattern);

/** `a/7.json.0a1b2c3d.partial`: what a killed rclone leaves of `a/7.json`, from its version 1.63 on. */
const PARTIAL = /\.\w{1,8}\.partial$/;

/** Whether a file is the checkpoint of a signed log. */
export const isCheckpoint = (file: string): boolean => /^log\/[0-9a-f]{16}\/checkpoint$/.test(file);

const patternOf = (template: string): RegExp => new RegExp(`^${templatePattern(template, textPattern)}$`);

type Locate = ReturnType<typeof locator>;

export class DesiredFiles {
  readonly sets: readonly FileSet[];
  /** Number of files. */
  readonly total: number;
  /** Those that are no documents and the tree lacks. */
  readonly missing: string[] = [];
  /** The marks of all sets, by group. */
  readonly marks: Readonly<Record<string, string>>;
  readonly #out: string;
  readonly #own: OwnFolder;
  readonly #byTemplate: ReadonlyMap<string, FileSet>;
  readonly #keyed: Locate;
  /** The groups of files whose names have no key. */
  readonly #patterns: readonly (readonly [group: string, pattern: RegExp])[];

  /** @param recorded groups of files that were uploaded */
  constructor(tree: Tree, state: State, manifest: Manifest, recorded: readonly string[]) {
    const snapshot = parseSnapshot(manifest, `"${tree.manifest}"`);
    this.#out = tree.out;
    this.#own = new OwnFolder(tree.out);
    const sentOf = ({ file, class: cacheClass, type, attachment }: SnapshotRoute): Sent => {
      const headers: Headers = {
        'Content-Type': type,
        'Cache-Control': snapshot.headers.content[cacheClass]?.['Cache-Control'] ?? '',
        ...(attachment !== undefined && { 'Content-Disposition': `attachment; filename="${attachment}"` }),
      };
      const group = file.replace('{tree}', snapshot.tree.id);
      return { group, mark: JSON.stringify(headers), class: cacheClass, headers };
    };
    const described = state.newest?.described ?? {};
    const routes = snapshot.routes.filter((route) => hasFiles(route) && !isLeftOut(described, route));
    const documents = locator(routes.filter(isRendered));
    const sets = routes.flatMap((route) =>
      isRendered(route)
        ? this.#documentsIn(state, route.name, sentOf(route))
        : [...this.#ownSets(sentOf(route), documents)],
    );
    this.sets = sets.filter(({ size }) => size > 0);
    this.total = this.sets.reduce((sum, { size }) => sum + size, 0);
    this.marks = Object.fromEntries(this.sets.map(({ group, mark }) => [group, mark]));
    this.#byTemplate = new Map(this.sets.map((set) => [set.template, set]));
    const groups = [...routes.map((route) => sentOf(route).group), ...recorded];
    const others = locator(
      groups.filter(hasKeys).map((file) => ({ name: '', path: '', file, class: 'page' as const })),
    );
    this.#keyed = (file) => documents(file) ?? others(file);
    this.#patterns = groups.filter((group) => !hasKeys(group)).map((group) => [group, patternOf(group)]);
  }

  #documentsIn(state: State, name: string, sent: Sent): readonly FileSet[] {
    const id = state.idOf(name);
    const keys = function* (): Generator<number> {
      for (const { key } of state.documents(id)) yield key;
    };
    const find = state.finder(id);
    const has = (key: number): boolean => find(key) !== undefined;
    const bytesOf = (key: number, file: string): number => {
      const [bytes, entry] = [this.#sizeOf(file), find(key)];
      if (bytes !== entry?.bytes || entry.hash.equals(NO_HASH)) throw damaged(file);
      return bytes;
    };
    const { documents: size } = state.summary(id);
    return [{ ...sent, template: sent.group, size, keys, has, bytesOf }];
  }

  /** The files of a route that are no documents. */
  *#ownSets(sent: Sent, documents: Locate): Generator<FileSet> {
    const { group } = sent;
    const one = { ...sent, size: 1, keys: () => [0], has: () => true };
    const bytesOf = (_: number, file: string): number => this.#sizeOf(file);
    if (isSingle(group)) {
      const found = ifExists(() => measure(this.#own.pathOf(group)));
      if (found === undefined) this.missing.push(group);
      const mark = `${sent.mark} ${found?.bytes} ${found?.hash.toString('hex')}`;
      yield { ...one, template: group, mark, bytesOf };
      return;
    }
    const [folder, pattern] = [group.slice(0, group.indexOf('/{')), patternOf(group)];
    if (!existsSync(this.#own.readable(folder))) return;
    for (const template of filesBelow(this.#out, folder))
      if (pattern.test(template) && documents(template) === undefined) yield { ...one, template, bytesOf };
  }

  /** @throws Failure invalid: it isn't there, or no file; environment: a folder in its path is a symbolic link */
  #sizeOf(file: string): number {
    const found = lstatSync(this.#own.pathOf(file), { throwIfNoEntry: false });
    if (found?.isFile() !== true) throw damaged(file);
    return found.size;
  }

  setOf(template: string): FileSet | undefined {
    return this.#byTemplate.get(template);
  }

  /** Finds what a file of a remote is. @returns undefined if it is none of ours */
  locate(file: string): Location | undefined {
    const single = { template: file, key: 0, isDesired: false };
    const own = isSingle(file) ? this.setOf(file) : undefined;
    if (own !== undefined) return { ...single, group: own.group, isDesired: true };
    const place = this.#keyed(file);
    if (place !== undefined) {
      const template = place.route.file + place.suffix;
      const isDesired = this.setOf(template)?.has(place.key) ?? false;
      return { template, key: place.key, group: template, isDesired };
    }
    for (const [name, suffix] of namesOfDocuments(file)) {
      const [group] = this.#patterns.find(([, pattern]) => pattern.test(name)) ?? [];
      if (group !== undefined) return { ...single, group: group + suffix };
    }
    return PARTIAL.test(file) && this.locate(file.replace(PARTIAL, '')) !== undefined
      ? { ...single, group: file }
      : undefined;
  }
}

const damaged = (file: string): Failure =>
  Failure.invalid(
    `"${file}" of the tree is missing or damaged, expected what the state says: ` +
      '"verify --repair" repairs it',
  );
