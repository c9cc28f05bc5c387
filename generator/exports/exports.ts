/** Rewrites the parts of the downloads whose data changed, and keeps the others. */
import { join } from 'node:path';
import { follow, type Progress } from '../base/progress.js';
import type { Described } from '../state/schema.js';
import type { Publisher } from '../publish/publisher.js';
import { populationOf, type Overview } from '../register/overview.js';
import { BULK_FILES, exportRoute, type BulkFile, type ExportFormat } from '../routes/exports.js';
import { isMeasured } from '../routes/routes.js';
import type { Measured } from '../schema/measured.js';
import type { WrittenFile } from '../publish/gzip.js';
import type { Content } from '../tree/sink.js';
import { describedDownloads, type KeptDownloads, type KeptSnapshot } from './kept.js';
import { EXPORTS, exportsOf, type Export } from './tables.js';
import type { DownloadFile, DownloadJob, ExportPool } from './parts.js';

/** `kept` files are older than the register; `unchanged` ones are the same as before. */
type State = 'written' | 'unchanged' | 'kept';

/** The published files of a table. */
export interface Exported {
  readonly table: Export;
  readonly rows: number;
  readonly files: Readonly<Record<ExportFormat, Content>>;
  readonly state: State;
  /** The newest measurement in a table of records; null if it has none, or holds a history. */
  readonly asOf: string | null;
}

/** A published file that holds more than one table. */
export interface BulkExported extends WrittenFile {
  readonly file: BulkFile;
  readonly state: State;
}

/** The published bulk downloads, all from one state of the register. */
export interface Downloads {
  /** The newest measurement in that state; null if the register was empty. */
  readonly asOf: string | null;
  /** The snapshot of that state; undefined if it is the one being built. */
  readonly kept: KeptSnapshot | undefined;
  readonly tables: readonly Exported[];
  readonly bulk: readonly BulkExported[];
}

type PublishedFile = WrittenFile & { readonly state: State };

/** The part of a build's report that covers the bulk downloads. */
export interface DownloadsSummary {
  /** The tables and other files of the downloads, and whether this build wrote them. */
  readonly exports: Readonly<Record<string, { readonly rows: number; readonly written: boolean }>>;
  /** The newest measurement in the downloads, and those kept although they are outdated. */
  readonly downloads: { readonly asOf: string | null; readonly kept: readonly string[] };
}

export function summaryOf({ asOf, tables, bulk }: Downloads): DownloadsSummary {
  const all = [
    ...tables.map(({ table: { name }, rows, state }) => ({ name, rows, state })),
    ...bulk.map(({ file: { name }, rows, state }) => ({ name, rows, state })),
  ];
  return {
    exports: Object.fromEntries(
      all.map(({ name, rows, state }) => [name, { rows, written: state === 'written' }]),
    ),
    downloads: { asOf, kept: all.filter(({ state }) => state === 'kept').map(({ name }) => name) },
  };
}

export class Exports {
  readonly #pool: ExportPool;
  readonly #publisher: Publisher;
  readonly #changed: ReadonlySet<string> | undefined;
  /** The description of the downloads, if none is rewritten. */
  readonly #kept: KeptDownloads | undefined;
  /** All parts, with the job that writes those that are due. */
  readonly #parts = new Map<DownloadJob, Promise<readonly WrittenFile[]> | undefined>();
  /** Rows written so far. */
  #rows = 0;

  /**
   * @param changed the changed tables of the register, if known
   * @param keep leave all downloads as they are, unless damaged
   */
  constructor(
    pool: ExportPool,
    publisher: Publisher,
    changed: ReadonlySet<string> | undefined,
    measured: Measured,
    keep: boolean,
  ) {
    this.#pool = pool;
    this.#publisher = publisher;
    this.#changed = changed;
    this.#kept = keep ? describedDownloads(publisher, measured) : undefined;
  }

  /** Starts to write those parts that are due; the largest first, so that threads end together. */
  start(parts: readonly DownloadJob[]): void {
    const folder = this.#publisher.paths.scratch;
    const onProgress = (rows: number): void => void (this.#rows += rows);
    for (const part of parts.toSorted((a, b) => b.cells - a.cells)) {
      const isWritten = this.#kept === undefined && !this.#publisher.isDryRun && this.#isDue(part);
      const writing = isWritten ? part.write(this.#pool, folder, onProgress) : undefined;
      // Avoids an unhandled rejection; the error surfaces where the promise is awaited.
      writing?.catch(() => undefined);
      this.#parts.set(part, writing);
    }
  }

  /** The tables and other files of which parts are due, in the order of the documentation. */
  get due(): readonly string[] {
    const due = this.#kept === undefined ? [...this.#parts.keys()].filter((part) => this.#isDue(part)) : [];
    const names = new Set(due.flatMap(({ files }) => files.map(({ name }) => name)));
    return [...EXPORTS, ...BULK_FILES].map(({ name }) => name).filter((name) => names.has(name));
  }

  #isDue(part: DownloadJob): boolean {
    return (
      isDue(part, this.#changed, this.#publisher.last) ||
      part.files.some(({ route }) => this.#publisher.writer.route(route).published(0) === undefined)
    );
  }

  /** Publishes the files once they are written, and keeps the others. */
  async finish({ asOf, populations, measured }: Overview, progress: Progress): Promise<Downloads> {
    await this.#wait(progress);
    const published = new Map<string, PublishedFile>();
    for (const [part, writing] of this.#parts) {
      const written = await writing;
      const state = written !== undefined ? 'written' : this.#isDue(part) ? 'kept' : 'unchanged';
      for (const [index, file] of part.files.entries()) {
        const content = written === undefined ? this.#keep(file, state) : this.#publish(file, written[index]);
        published.set(file.route, { ...content, state });
      }
      // Kept parts are rewritten by the next build in any case.
      if (state !== 'kept') this.#noteKey(part);
    }
    const publishedAt = (route: string): PublishedFile => {
      const file = published.get(route);
      if (file === undefined) throw new TypeError(`no part of the downloads has "${route}"`);
      return file;
    };
    const newest = ({ history, resource }: Export, { state }: PublishedFile): string | null => {
      if (history !== undefined) return null;
      if (state === 'kept') return this.#kept?.newest.get(resource.plural) ?? null;
      return populationOf(populations, resource).measuredAt;
    };
    const kept = [...published.values()].some(({ state }) => state === 'kept') ? this.#kept : undefined;
    return {
      asOf: kept === undefined ? asOf : kept.asOf,
      kept: kept?.snapshot,
      tables: exportsOf(measured).map((table) => {
        const file = (format: ExportFormat): PublishedFile => publishedAt(exportRoute(table.name, format));
        const csv = file('csv');
        const files = { csv, 'csv.gz': file('csv.gz'), parquet: file('parquet') };
        return { table, rows: csv.rows, files, state: csv.state, asOf: newest(table, csv) };
      }),
      bulk: BULK_FILES.filter((file) => isMeasured(file, measured)).map((file) => ({
        file,
        ...publishedAt(file.route),
      })),
    };
  }

  async #wait(progress: Progress): Promise<void> {
    const due = [...this.#parts].flatMap(([part, writing]) =>
      writing === undefined ? [] : [{ part, writing }],
    );
    if (due.length === 0) return;
    const total = due.reduce((sum, { part: { steps } }) => sum + steps, 0);
    progress.start('writing the downloads', total, 'rows');
    const written = Promise.all(due.map(({ writing }) => writing));
    await follow(written, () => this.#rows, progress);
    progress.finish();
  }

  #keep({ route, rows }: DownloadFile, state: State): WrittenFile {
    const content = this.#publisher.writer.route(route).published(0);
    if (content === undefined) throw new TypeError(`"${route}" is neither published nor written`);
    this.#publisher.writer.route(route).keep(0);
    return { ...content, rows: (state === 'kept' ? this.#kept?.rows.get(route) : undefined) ?? rows };
  }

  #publish({ route, file, rows }: DownloadFile, written: WrittenFile | undefined): WrittenFile {
    if (written?.rows !== rows) {
      // Impossible if all connections see the same state.
      throw new TypeError(`${written?.rows} rows of "${file}" were written, expected ${rows}`);
    }
    const entry = { key: 0, bytes: written.bytes, hash: Buffer.from(written.sha256, 'hex') };
    this.#publisher.writer.route(route).putFile(entry, () => join(this.#publisher.paths.scratch, file));
    return written;
  }

  #noteKey({ name, key }: DownloadJob): void {
    const { described } = this.#publisher;
    this.#publisher.described = { ...described, exports: { ...described.exports, [name]: key } };
  }
}

/**
 * Whether a part must be rewritten.
 * @param changed the changed tables of the register, if known
 * @param last the previous snapshot
 */
const isDue = (
  { name, tables, key }: DownloadJob,
  changed: ReadonlySet<string> | undefined,
  last: Described | undefined,
): boolean => tables.some((table) => changed?.has(table) ?? true) || last?.exports[name] !== key;
