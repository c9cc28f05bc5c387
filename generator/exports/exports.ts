/** Which exports a build writes anew, and when: as soon as anything they hold is known to have changed. */
import type { Job } from '../jobs.js';
import { follow } from '../progress.js';
import type { Progress } from '../progress.js';
import type { Makings } from '../publish/inputs.js';
import type { Publisher } from '../publish/publisher.js';
import type { HistoryCounts, Overview } from '../register/published.js';
import { EXPORT_FORMATS, exportRoute } from '../export-routes.js';
import type { ExportFormat } from '../export-routes.js';
import type { Pool } from '../threads/pool.js';
import type { Hear } from '../threads/thread.js';
import { asWritten, progressOf } from './messages.js';
import { EXPORTS, costliestFirst } from './tables.js';
import type { Export } from './tables.js';
import type { Files, Written } from './write.js';

/** An export as it is published. */
export interface Exported {
  readonly table: Export;
  readonly rows: number;
  readonly files: Files;
  /** Whether this build wrote it; otherwise it is that of the last snapshot. */
  readonly written: boolean;
}

/**
 * What the files of the exports are made of, beside what the documents say: by which code, since another may
 * write the same values in another way, and of which places in the histories, which no document tells.
 */
export const makings = (overview: Overview, code: string): Makings =>
  new Map(
    EXPORTS.flatMap((table) =>
      EXPORT_FORMATS.map(({ format }) => [
        exportRoute(table.name, format),
        `${code} ${countsOf(table, overview)?.places ?? ''}`,
      ]),
    ),
  );

export class Exports {
  readonly #pool: Pool<Job>;
  readonly #publisher: Publisher;
  readonly #overview: Overview;
  /** In this order they are begun. */
  readonly #tables: readonly Export[];
  readonly #changed: ReadonlySet<string> | undefined;
  readonly #due = new Map<Export, Promise<Written>>();
  /** Written so far, in all exports. */
  #rows = 0;

  /**
   * Begins to write what is known to have changed.
   * @param changed the tables of the register in which something changed, where that is known
   */
  constructor(pool: Pool<Job>, publisher: Publisher, overview: Overview, changed?: ReadonlySet<string>) {
    this.#pool = pool;
    this.#publisher = publisher;
    this.#overview = overview;
    this.#tables = costliestFirst((table) => rowsOf(table, overview));
    this.#changed = changed;
    for (const table of this.#tables)
      if (changed !== undefined && this.#differs(table, changed)) this.#begin(table);
  }

  /** Nothing is published yet, so all are written. */
  beginAll(): void {
    for (const table of this.#tables) this.#begin(table);
  }

  /** A document of this route is new or changed, and with it what says the same, unless more is known of that. */
  noteChanged(route: string): void {
    if (this.#changed !== undefined) return;
    for (const table of EXPORTS) if (table.route === route) this.#begin(table);
  }

  /** By the tables it is made of, where these are known, else by the documents that say the same. */
  #differs(table: Export, changed = this.#changed): boolean {
    return changed === undefined
      ? this.#publisher.differs(table.route)
      : tablesOf(table).some((name) => changed.has(name));
  }

  #begin(table: Export): void {
    if (this.#due.has(table)) return;
    const job = { do: 'write', table: table.name, folder: this.#publisher.scratch } as const;
    const hear: Hear = (said) => {
      this.#rows += progressOf(said);
    };
    const writing = this.#pool.run(job, hear).then(asWritten);
    // Who asks for it later is told, too; until then nobody listens.
    writing.catch(() => undefined);
    this.#due.set(table, writing);
  }

  /** No more documents: waits for what is being written, publishes it, and takes the rest over. */
  async finish(progress: Progress): Promise<Exported[]> {
    for (const table of this.#tables) {
      const isWhole = filesOf(table, (route) => this.#publisher.published(route)) !== undefined;
      if (!isWhole || this.#differs(table)) this.#begin(table);
    }
    if (this.#due.size > 0) await this.#wait(progress);
    const exported: Exported[] = [];
    for (const table of EXPORTS) exported.push(await this.#publish(table, rowsOf(table, this.#overview)));
    return exported;
  }

  async #wait(progress: Progress): Promise<void> {
    const total = [...this.#due.keys()].reduce((sum, table) => sum + rowsOf(table, this.#overview), 0);
    progress.start('exporting', total, 'rows');
    const written = Promise.all(this.#due.values());
    await follow(written, () => this.#rows, progress);
    progress.finish();
  }

  async #publish(table: Export, rows: number): Promise<Exported> {
    const written = await this.#due.get(table);
    if (written === undefined) {
      const files = filesOf(table, (route) => this.#publisher.published(route));
      if (files === undefined) throw new TypeError(`"${table.name}" is neither published nor written`);
      for (const { format } of EXPORT_FORMATS) this.#publisher.carry(exportRoute(table.name, format), 0);
      return { table, rows, files, written: false };
    }
    if (written.rows !== rows) {
      // Two connections that see one state of the register can't come to this.
      throw new TypeError(`${written.rows} rows of "${table.name}" were written, expected ${rows}`);
    }
    for (const { format } of EXPORT_FORMATS) {
      this.#publisher.putStaged(exportRoute(table.name, format), written.files[format]);
    }
    return { table, rows, files: written.files, written: true };
  }
}

/** All files of an export, or undefined where one is missing. */
function filesOf(
  { name }: Export,
  find: (route: string) => Files[ExportFormat] | undefined,
): Files | undefined {
  const [csv, gzip, parquet] = (['csv', 'csv.gz', 'parquet'] as const).map((format) =>
    find(exportRoute(name, format)),
  );
  return csv && gzip && parquet && { csv, 'csv.gz': gzip, parquet };
}

/** The tables of the register that an export is made of: its own, and the histories of which something is computed. */
const tablesOf = ({ name, resource, history }: Export): readonly string[] =>
  history === undefined ? [name, ...resource.histories.map(({ table }) => table)] : [name];

/** How many rows an export has. */
function rowsOf(table: Export, overview: Overview): number {
  if (table.history !== undefined) return countsOf(table, overview)?.entries ?? 0;
  return overview.populations.find(({ resource }) => resource === table.resource)?.records ?? 0;
}

const countsOf = ({ history }: Export, { populations }: Overview): HistoryCounts | undefined =>
  populations.flatMap(({ histories }) => histories).find((counted) => counted.history === history);
