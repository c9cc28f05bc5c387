/** Rewrites the exports whose data changed, and keeps the others. */
import { join } from 'node:path';
import { follow } from '../progress.js';
import type { Progress } from '../progress.js';
import type { Index } from '../publish/index-json.js';
import type { Publisher } from '../publish/publisher.js';
import type { Overview } from '../register/overview.js';
import { EXPORT_FORMATS, exportFile, exportRoute } from '../routes/exports.js';
import type { Pool } from '../workers/pool.js';
import { describedDownloads } from './kept.js';
import type { Described } from './kept.js';
import { EXPORTS, costliestFirst } from './tables.js';
import type { Export } from './tables.js';
import type { Files, Written } from './write.js';

/** A published export. */
export interface Exported {
  readonly table: Export;
  readonly rows: number;
  readonly files: Files;
  /** `kept` files are older than the register; `unchanged` ones are the same as before. */
  readonly state: 'written' | 'unchanged' | 'kept';
}

/** The published bulk downloads, all from one state of the register. */
export interface Downloads {
  /** The newest measurement in that state; null if the register was empty. */
  readonly asOf: string | null;
  /** The snapshot of that state; undefined if it is the one being built. */
  readonly sequence: number | undefined;
  readonly tables: readonly Exported[];
}

export class Exports {
  readonly #publisher: Publisher;
  readonly #overview: Overview;
  readonly #changed: ReadonlySet<string> | undefined;
  readonly #code: string;
  /** The description of the downloads, if none is rewritten. */
  readonly #kept: Described | undefined;
  readonly #due = new Map<Export, Promise<Written>>();
  /** Rows written so far. */
  #rows = 0;

  /**
   * Starts to write the exports that are due.
   * @param changed the changed tables of the register, if known
   * @param code identifies the code that writes
   * @param keep leave all downloads as they are, unless damaged
   */
  constructor(
    pool: Pool,
    publisher: Publisher,
    overview: Overview,
    changed: ReadonlySet<string> | undefined,
    code: string,
    keep: boolean,
  ) {
    this.#publisher = publisher;
    this.#overview = overview;
    this.#changed = changed;
    this.#code = code;
    this.#kept = keep ? describedDownloads(publisher) : undefined;
    if (this.#kept !== undefined) return;
    const folder = publisher.paths.scratch;
    const onProgress = (rows: number): void => void (this.#rows += rows);
    for (const table of costliestFirst((each) => rowsOf(each, overview))) {
      if (!this.#isDue(table)) continue;
      const writing = pool.run('export', { table: table.name, folder }, { onProgress });
      // Avoids an unhandled rejection; the error surfaces where the promise is awaited.
      writing.catch(() => undefined);
      this.#due.set(table, writing);
    }
  }

  #isDue(table: Export): boolean {
    return (
      isDue(table, this.#changed, this.#publisher.index, this.#code) || this.#published(table) === undefined
    );
  }

  #published({ name }: Export): Files | undefined {
    const [csv, gzip, parquet] = (['csv', 'csv.gz', 'parquet'] as const).map((format) =>
      this.#publisher.published(exportRoute(name, format)),
    );
    return csv && gzip && parquet && { csv, 'csv.gz': gzip, parquet };
  }

  /** Publishes the exports once they are written, and keeps the others. */
  async finish(progress: Progress): Promise<Downloads> {
    if (this.#due.size > 0) await this.#wait(progress);
    const tables: Exported[] = [];
    for (const table of EXPORTS) {
      const rows = rowsOf(table, this.#overview);
      const written = await this.#due.get(table);
      tables.push(written === undefined ? this.#keep(table, rows) : this.#publish(table, rows, written));
    }
    const kept = tables.some(({ state }) => state === 'kept') ? this.#kept : undefined;
    return { asOf: kept === undefined ? this.#overview.asOf : kept.asOf, sequence: kept?.sequence, tables };
  }

  async #wait(progress: Progress): Promise<void> {
    const total = [...this.#due.keys()].reduce((sum, table) => sum + rowsOf(table, this.#overview), 0);
    progress.start('exporting', total, 'rows');
    const written = Promise.all(this.#due.values());
    await follow(written, () => this.#rows, progress);
    progress.finish();
  }

  #keep(table: Export, rows: number): Exported {
    const files = this.#published(table);
    if (files === undefined) throw new TypeError(`"${table.name}" is neither published nor written`);
    const kept = this.#isDue(table) ? this.#kept?.rows.get(table) : undefined;
    for (const { format } of EXPORT_FORMATS) this.#publisher.keep(exportRoute(table.name, format));
    if (kept !== undefined) return { table, rows: kept, files, state: 'kept' };
    this.#noteCode(table);
    return { table, rows, files, state: 'unchanged' };
  }

  #publish(table: Export, rows: number, written: Written): Exported {
    if (written.rows !== rows) {
      // Impossible if both connections see the same state.
      throw new TypeError(`${written.rows} rows of "${table.name}" were written, expected ${rows}`);
    }
    for (const { format } of EXPORT_FORMATS) {
      const { bytes, sha256 } = written.files[format];
      const source = join(this.#publisher.paths.scratch, exportFile(table.name, format));
      const entry = { key: 0, bytes, hash: Buffer.from(sha256, 'hex') };
      this.#publisher.putFile(exportRoute(table.name, format), entry, source);
    }
    this.#noteCode(table);
    return { table, rows, files: written.files, state: 'written' };
  }

  /** Not called for `kept` exports, so the next build rewrites those in any case. */
  #noteCode({ name }: Export): void {
    const { described } = this.#publisher;
    this.#publisher.described = { ...described, exports: { ...described.exports, [name]: this.#code } };
  }
}

/**
 * Whether an export must be rewritten.
 * @param changed the changed tables of the register, if known
 * @param index of the previous snapshot
 * @param code identifies the code that writes
 */
export const isDue = (
  table: Export,
  changed: ReadonlySet<string> | undefined,
  index: Index | undefined,
  code: string,
): boolean =>
  changed === undefined ||
  tablesOf(table).some((name) => changed.has(name)) ||
  index?.exports[table.name] !== code;

/** The register's tables that an export reads: its own, and the histories of derived columns. */
const tablesOf = ({ name, resource, history }: Export): readonly string[] =>
  history === undefined ? [name, ...resource.histories.map(({ table }) => table)] : [name];

function rowsOf({ resource, history }: Export, { populations }: Overview): number {
  const population = populations.find((candidate) => candidate.resource === resource);
  if (history === undefined) return population?.records ?? 0;
  return population?.histories.find((counted) => counted.history === history)?.entries ?? 0;
}
