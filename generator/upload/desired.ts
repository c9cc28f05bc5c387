/**
 * The files that a remote should hold, in sets: the documents of a route, their compressed siblings
 * of one coding, or a single one of the files that the index leaves out.
 */
import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../errors.js';
import { ifExists } from '../files.js';
import { OwnFolder } from '../links.js';
import type { Headers } from '../routes/headers.js';
import { hasFiles } from '../routes/index.js';
import type { CacheClass } from '../routes/index.js';
import { keyForm, templatePattern, textPattern } from '../routes/keys.js';
import { CODINGS, siblingsFrom } from '../tree/codings.js';
import type { Coding } from '../tree/codings.js';
import { HashFileReader, NO_HASH, entriesIn } from '../tree/hash-file.js';
import { locator, namesOfDocuments } from '../tree/locate.js';
import { isAsIndexed, measure } from '../tree/measure.js';
import { isRendered } from '../tree/published-routes.js';
import { filesBelow } from '../tree/scan.js';
import { parseSnapshot } from '../tree/snapshot-json.js';
import type { Manifest, SnapshotRoute } from '../tree/snapshot-json.js';
import type { Tree } from '../tree/tree.js';

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
  /** Of the objects, if the remote has headers. */
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
   * @throws Failure invalid: it isn't there, or has another size than the index says, or it is a
   * sibling of something else; the programs would skip the one, and publish the other
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

/** `a/.7.json.Xy12Ab`: what a killed rsync leaves of `a/7.json`. */
const TEMPORARY = /^(?<folder>.*\/)?\.(?<name>[^/]+)\.\w{6}$/;

/** Whether a file is the checkpoint of a signed log. */
export const isCheckpoint = (file: string): boolean => /^log\/[0-9a-f]{16}\/checkpoint$/.test(file);

const patternOf = (template: string): RegExp => new RegExp(`^${templatePattern(template, textPattern)}$`);

type Locate = ReturnType<typeof locator>;

export class DesiredFiles {
  readonly sets: readonly FileSet[];
  /** Number of files. */
  readonly total: number;
  /** Those that the index leaves out and the tree lacks. */
  readonly missing: string[] = [];
  /** The marks of all sets, by group. */
  readonly marks: Readonly<Record<string, string>>;
  readonly #out: string;
  readonly #own: OwnFolder;
  readonly #byTemplate: ReadonlyMap<string, FileSet>;
  readonly #keyed: Locate;
  /** The groups of files whose names have no key. */
  readonly #patterns: readonly (readonly [group: string, pattern: RegExp])[];
  readonly #readers: HashFileReader[] = [];

  /**
   * @param isObjects whether the remote has headers and no siblings
   * @param recorded groups of files that were uploaded
   */
  constructor(tree: Tree, manifest: Manifest, isObjects: boolean, recorded: readonly string[]) {
    const snapshot = parseSnapshot(manifest, `"${tree.manifest}"`);
    this.#out = tree.out;
    this.#own = new OwnFolder(tree.out);
    const sentOf = ({ file, class: cacheClass, type, attachment }: SnapshotRoute): Sent => {
      const fields: Headers = {
        'Content-Type': type,
        'Cache-Control': snapshot.headers.content[cacheClass]?.['Cache-Control'] ?? '',
        ...(attachment !== undefined && { 'Content-Disposition': `attachment; filename="${attachment}"` }),
      };
      const headers = isObjects ? fields : {};
      return {
        group: file.replace('{tree}', snapshot.tree.id),
        mark: JSON.stringify(headers),
        class: cacheClass,
        headers,
      };
    };
    const routes = snapshot.routes.filter(hasFiles);
    const documents = locator(routes.filter(isRendered));
    const sets = routes.flatMap((route) => {
      if (!isRendered(route)) return [...this.#ownSets(sentOf(route), isObjects, documents)];
      const least = isObjects ? Number.POSITIVE_INFINITY : siblingsFrom(route, snapshot.compressed_from);
      return this.#documentSets(join(tree.index, route.name), sentOf(route), least);
    });
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

  /** The documents of an index file, and their siblings. @param least the size of the smallest that has any */
  #documentSets(index: string, sent: Sent, least: number): readonly FileSet[] {
    const reader = HashFileReader.open(index, 1);
    if (reader === undefined) return [];
    this.#readers.push(reader);
    const keysFrom = function* (from: number): Generator<number> {
      for (const { key, bytes } of entriesIn(index)) if (bytes >= from) yield key;
    };
    const setOf = (size: number, from: number, coding?: Coding): FileSet => {
      const template = sent.group + (coding?.suffix ?? '');
      const bytesOf = (key: number, file: string): number => {
        const [path, bytes, entry] = [join(this.#out, file), this.#sizeOf(file), reader.find(key)];
        if (entry === undefined || entry.hash.equals(NO_HASH)) throw damaged(file);
        if (coding === undefined ? bytes === entry.bytes : isAsIndexed(path, entry, coding)) return bytes;
        throw damaged(file);
      };
      const has = (key: number): boolean => (reader.find(key)?.bytes ?? -1) >= from;
      return { ...sent, group: template, template, size, keys: () => keysFrom(from), has, bytesOf };
    };
    if (!Number.isFinite(least)) return [setOf(reader.size, 0)];
    let large = 0;
    for (const _ of keysFrom(least)) large += 1;
    return [setOf(reader.size, 0), ...CODINGS.map((coding) => setOf(large, least, coding))];
  }

  /** The files of a route that the index leaves out. */
  *#ownSets(sent: Sent, isObjects: boolean, documents: Locate): Generator<FileSet> {
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
    for (const template of filesBelow(this.#out, folder)) {
      // Only assets have siblings.
      const hasSiblings = sent.class === 'asset' && !isObjects;
      const names = hasSiblings ? namesOfDocuments(template) : [[template, ''] as const];
      const [, suffix] = names.find(([name]) => pattern.test(name)) ?? [];
      if (suffix !== undefined && documents(template) === undefined)
        yield { ...one, group: group + suffix, template, bytesOf };
    }
  }

  /** @throws Failure invalid: it isn't there, or no file; environment: a folder in its path is a symbolic link */
  #sizeOf(file: string): number {
    const found = lstatSync(this.#own.pathOf(file), { throwIfNoEntry: false });
    if (found?.isFile() !== true) throw damaged(file);
    return found.size;
  }

  of(template: string): FileSet | undefined {
    return this.#byTemplate.get(template);
  }

  /** Finds what a file of a remote is. @returns undefined if it is none of ours */
  locate(file: string): Location | undefined {
    const single = { template: file, key: 0, isDesired: false };
    const own = isSingle(file) ? this.of(file) : undefined;
    if (own !== undefined) return { ...single, group: own.group, isDesired: true };
    const place = this.#keyed(file);
    if (place !== undefined) {
      const template = place.route.file + place.suffix;
      const isDesired = this.of(template)?.has(place.key) ?? false;
      return { template, key: place.key, group: template, isDesired };
    }
    for (const [name, suffix] of namesOfDocuments(file)) {
      const [group] = this.#patterns.find(([, pattern]) => pattern.test(name)) ?? [];
      if (group !== undefined) return { ...single, group: group + suffix };
    }
    const { folder = '', name } = TEMPORARY.exec(file)?.groups ?? {};
    return name === undefined || this.locate(folder + name) === undefined
      ? undefined
      : { ...single, group: file };
  }

  close(): void {
    for (const reader of this.#readers) reader.close();
  }
}

const damaged = (file: string): Failure =>
  Failure.invalid(
    `"${file}" of the tree is missing or damaged, expected it as in the index: ` +
      '"verify --repair" repairs it',
  );
