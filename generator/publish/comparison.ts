/** A build's files held against the last snapshot's ledger, route by route. */
import { hash } from 'node:crypto';
import { LedgerReader } from './ledger.js';
import type { LedgerWriter } from './ledger.js';
import type { Manifest, PublishedRoute } from './manifest.js';
import { Series, compressedFrom } from './series.js';
import type { Changes, Gone, Noted } from './series.js';
import type { Tree } from './tree.js';

/** What the files of a build come to. */
export interface Outcome {
  readonly changes: Readonly<Changes>;
  readonly byRoute: ReadonlyMap<string, Readonly<Changes>>;
  readonly files: number;
  readonly bytes: number;
  /** The lowest key of each route that has files. */
  readonly firstKeys: ReadonlyMap<string, number>;
  /** Documents that lie elsewhere than they did, or in other codings, with the same content. */
  readonly moved: number;
}

/** What a file is beside the last snapshot's. */
export interface Compared extends Noted {
  readonly series: Series;
  readonly bytes: number;
  readonly hash: Buffer;
}

/** Files of the publisher's own, which follow from a commit instead of from the register. */
const OWN = new Set(['snapshot', 'changes', 'change-list', 'feed-snapshots', 'feed-snapshots-json']);
export const isRendered = ({ name }: PublishedRoute): boolean => !OWN.has(name);

const isSame = (one: PublishedRoute, other: PublishedRoute): boolean =>
  one.name === other.name && one.path === other.path;

export class Comparison {
  readonly routes: readonly PublishedRoute[];
  readonly #series: ReadonlyMap<string, Series>;
  readonly #forgotten: readonly Series[];

  /**
   * @param routes all routes of the next snapshot; those of the publisher's own files are passed over
   * @param nextLedger makes the ledger of a route that stays; a dry run makes none
   */
  constructor(
    tree: Tree,
    previous: Manifest | undefined,
    routes: readonly PublishedRoute[],
    onRemoved: (route: PublishedRoute, gone: Gone) => void,
    nextLedger?: (route: PublishedRoute) => LedgerWriter,
  ) {
    this.routes = routes.filter(isRendered);
    const from = previous?.compressed_from ?? Number.POSITIVE_INFINITY;
    const old = (previous?.routes ?? []).filter(isRendered);
    const open = (route: PublishedRoute, before?: PublishedRoute, next?: LedgerWriter): Series =>
      new Series(
        route,
        before && LedgerReader.open(tree.ledger, route.name),
        next,
        compressedFrom(before ?? route, from),
        (gone) => onRemoved(route, gone),
      );
    this.#series = new Map(
      this.routes.map((route) => {
        const before = old.find((candidate) => isSame(candidate, route));
        return [route.name, open(route, before, nextLedger?.(route))];
      }),
    );
    // What the last snapshot had at other URLs goes, also if a route of that name is somewhere else now.
    this.#forgotten = old
      .filter((route) => !this.routes.some((candidate) => isSame(candidate, route)))
      .map((route) => open(route, route));
  }

  series(routeName: string): Series {
    const series = this.#series.get(routeName);
    if (series === undefined) throw new TypeError(`no route is named "${routeName}"`);
    return series;
  }

  /** Compares a rendered file. */
  note(routeName: string, key: number, body: string): Compared {
    return this.noteHash(routeName, key, Buffer.byteLength(body), hash('sha256', body, 'buffer'));
  }

  /** Compares a file whose content is known by its hash. */
  noteHash(routeName: string, key: number, bytes: number, sha256: Buffer): Compared {
    const series = this.series(routeName);
    return { series, ...series.note({ key, bytes, hash: sha256 }), bytes, hash: sha256 };
  }

  get #all(): readonly Series[] {
    return [...this.#forgotten, ...this.#series.values()];
  }

  /** What all files come to; after `seal`, or where there is no ledger to seal. */
  outcome(): Outcome {
    const all = this.#all;
    const sum = (count: (series: Series) => number): number =>
      all.reduce((total, series) => total + count(series), 0);
    const changes: Changes = {
      added: sum((series) => series.changes.added),
      changed: sum((series) => series.changes.changed),
      removed: sum((series) => series.changes.removed),
      unchanged: sum((series) => series.changes.unchanged),
    };
    return {
      changes,
      byRoute: new Map(all.map((series) => [series.route.name, series.changes])),
      files: changes.added + changes.changed + changes.unchanged,
      bytes: sum((series) => series.bytes),
      firstKeys: new Map(
        all.flatMap(({ route, firstKey }) => (firstKey === undefined ? [] : [[route.name, firstKey]])),
      ),
      moved: sum((series) => series.moved),
    };
  }

  /** No more files: what the last snapshot still has is removed. */
  finish(): void {
    for (const series of this.#all) series.finish();
  }

  /** No more files: ends the ledgers. Their checksums, by route. */
  seal(): Record<string, string> {
    this.finish();
    const sums: Record<string, string> = {};
    for (const series of this.#all) {
      const sum = series.seal();
      if (sum !== undefined) sums[series.route.name] = sum;
    }
    return sums;
  }

  close(): void {
    for (const series of this.#all) series.close();
  }
}
