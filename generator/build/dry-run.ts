/** Compares rendered documents with a published tree, without writing: counts and examples. */
import { hash } from 'node:crypto';
import { basename, join } from 'node:path';
import { readText } from '../files.js';
import { parseJson } from '../portable.js';
import type { Entry } from '../tree/hash-file.js';
import { PatchWriter } from '../tree/patch.js';
import type { KeyRange } from '../tree/patch.js';
import type { Index } from '../tree/index-json.js';
import { urlsOf } from '../publish/index-route.js';
import type { Changes } from '../publish/index-route.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import { filler } from '../routes/index.js';
import type { Sink, SinkOf } from './workers/shard.js';

/** A member in which two JSON documents differ. */
export type FieldChange =
  /** A value is undefined if the member is missing. */
  | { readonly field: string; readonly from: unknown; readonly to: unknown }
  /** For a list: the entries that only one of the documents has. */
  | { readonly field: string; readonly removed: readonly unknown[]; readonly added: readonly unknown[] };

export interface Example {
  readonly what: 'added' | 'changed' | 'removed';
  readonly url: string;
  /** Set for a changed document. */
  readonly fields?: readonly FieldChange[];
}

const EXAMPLES = 3;

export class DryRun {
  /** At most `EXAMPLES` of each sort for each route. */
  readonly examples: Example[] = [];
  /** Removed documents whose records are withheld, by route. */
  readonly withheld = new Map<string, number>();
  readonly #out: string;
  readonly #indexes: ReadonlyMap<PublishedRoute, string | undefined>;
  readonly #withheldKeys: ReadonlyMap<string, ReadonlySet<number>>;
  readonly #counts: Map<string, Record<Example['what'], number>>;

  /**
   * @param out the tree's folder
   * @param indexes the routes to compare, each with its published index, if any
   * @param withheldKeys the keys of withheld records, by route of their documents
   */
  constructor(
    out: string,
    indexes: ReadonlyMap<PublishedRoute, string | undefined>,
    withheldKeys: ReadonlyMap<string, ReadonlySet<number>>,
  ) {
    this.#out = out;
    this.#indexes = indexes;
    this.#withheldKeys = withheldKeys;
    this.#counts = new Map(
      [...indexes.keys()].map(({ name }) => [name, { added: 0, changed: 0, removed: 0 }]),
    );
  }

  /**
   * Compares what is rendered. In the sinks' ranges, documents neither put nor kept are removed.
   */
  compare(render: (sinkOf: SinkOf) => void): void {
    const open = new Map<string, { readonly sink: Sink; readonly patch: PatchWriter }>();
    try {
      render((route, range) => {
        const found = open.get(route) ?? this.#open(route, range);
        open.set(route, found);
        return found.sink;
      });
      for (const { patch } of open.values()) patch.finish();
    } finally {
      for (const { patch } of open.values()) patch.close();
    }
  }

  #open(
    routeName: string,
    range: KeyRange | undefined,
  ): { readonly sink: Sink; readonly patch: PatchWriter } {
    const [route, old] = [...this.#indexes].find(([{ name }]) => name === routeName) ?? [];
    if (route === undefined) throw new TypeError(`no route is named "${routeName}"`);
    const fileOf = filler(route.file);
    const urls = urlsOf(route);
    const note = (what: Example['what'], key: number, body: string): void =>
      this.#note(routeName, what, urls(key)[0], join(this.#out, fileOf(key)), body);
    const onGone = ({ key }: Entry): void => {
      if (this.#withheldKeys.get(routeName)?.has(key) === true)
        this.withheld.set(routeName, 1 + (this.withheld.get(routeName) ?? 0));
      note('removed', key, '');
    };
    const patch = new PatchWriter({ old, onGone, ...(range && { range }) });
    const put = (key: number, body: string | Buffer): void => {
      const entry = { key, bytes: Buffer.byteLength(body), hash: hash('sha256', body, 'buffer') };
      const verdict = patch.put(entry);
      if (verdict !== 'unchanged') note(verdict, key, String(body));
    };
    const sink = {
      put,
      keep: (key: number) => void patch.keep(key),
      keepBelow: (key: number) => patch.keepBelow(key),
      remove: (key: number) => void patch.remove(key),
    };
    return { sink, patch };
  }

  #note(route: string, what: Example['what'], url: string, file: string, body: string): void {
    const counts = this.#counts.get(route);
    if (counts === undefined) return;
    counts[what] += 1;
    if (counts[what] > EXAMPLES) return;
    const fields = what === 'changed' ? { fields: fieldChanges(readText(file) ?? '', body) } : {};
    this.examples.push({ what, url, ...fields });
  }

  /** The changes to the documents of each route. */
  changes(index: Index | undefined): ReadonlyMap<string, Readonly<Changes>> {
    return new Map(
      [...this.#indexes].map(([{ name }, old]) => {
        const counts = this.#counts.get(name) ?? { added: 0, changed: 0, removed: 0 };
        // Under the name that the last snapshot has for the route.
        const before = old === undefined ? 0 : (index?.routes[basename(old)]?.documents ?? 0);
        return [name, { ...counts, unchanged: before - counts.changed - counts.removed }];
      }),
    );
  }
}

/** The members in which two JSON objects differ. */
function fieldChanges(before: string, after: string): FieldChange[] {
  const [old, next] = [members(before), members(after)];
  return [...new Set([...old.keys(), ...next.keys()])].flatMap((field): FieldChange[] => {
    const [from, to] = [old.get(field), next.get(field)];
    if (JSON.stringify(from) === JSON.stringify(to)) return [];
    if (!Array.isArray(from) || !Array.isArray(to)) return [{ field, from, to }];
    const [removed, added] = [entriesOnlyIn(from, to), entriesOnlyIn(to, from)];
    // Only the order differs: both lists are shown whole.
    return removed.length + added.length === 0 ? [{ field, from, to }] : [{ field, removed, added }];
  });
}

function entriesOnlyIn(list: readonly unknown[], other: readonly unknown[]): readonly unknown[] {
  const known = new Set(other.map((entry) => JSON.stringify(entry)));
  return list.filter((entry) => !known.has(JSON.stringify(entry)));
}

/** The members of a JSON object. */
function members(json: string): ReadonlyMap<string, unknown> {
  // A feed is not JSON, and a published file may have been altered.
  const value = parseJson(json);
  return new Map(typeof value === 'object' && value !== null ? Object.entries(value) : []);
}
