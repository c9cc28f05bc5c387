/** Which exports a build writes anew, and when: as soon as anything they hold is known to have changed. */
import type { Job } from '../jobs.js';
import { follow } from '../progress.js';
import type { Progress } from '../progress.js';
import type { Publisher } from '../publish/publisher.js';
import type { Overview } from '../register/published.js';
import { EXPORT_FORMATS, exportRoute } from '../export-routes.js';
import type { Pool } from '../threads/pool.js';
import type { Hear } from '../threads/thread.js';
import { asWritten, progressOf } from './messages.js';
import { describedDownloads } from './kept.js';
import type { Described } from './kept.js';
import { EXPORTS, costliestFirst } from './tables.js';
import type { Export } from './tables.js';
import type { Files, Written } from './write.js';

/** An export as it is published. */
export interface Exported {
  readonly table: Export;
  readonly rows: number;
  readonly files: Files;
  /** What this build did with it: what it did not write is that of the last snapshot. `kept` is behind the register. */
  readonly state: 'written' | 'unchanged' | 'kept';
}

/** The bulk downloads as they are published: all of one state of the register. */
export interface Downloads {
  /** The newest measurement in that state; null where the register was empty. */
  readonly asOf: string | null;
  /** The snapshot that had this state; undefined where it is the one that is being built. */
  readonly sequence: number | undefined;
  readonly tables: readonly Exported[];
}

export class Exports {
  readonly #pool: Pool<Job>;
  readonly #publisher: Publisher;
  readonly #overview: Overview;
  /** In this order they are begun. */
  readonly #tables: readonly Export[];
  readonly #changed: ReadonlySet<string> | undefined;
  /** Set where nothing is written: what the downloads say of themselves. */
  readonly #kept: Described | undefined;
  readonly #due = new Map<Export, Promise<Written>>();
  /** Written so far, in all exports. */
  #rows = 0;

  /**
   * Begins to write what is known to be due.
   * @param changed the tables of the register in which something changed, where that is known
   * @param keep leave all downloads as they are, if they are sound; only where it is known what changed, since then the
   *   same is withheld as was when they were written
   */
  constructor(
    pool: Pool<Job>,
    publisher: Publisher,
    overview: Overview,
    changed?: ReadonlySet<string>,
    keep = false,
  ) {
    this.#pool = pool;
    this.#publisher = publisher;
    this.#overview = overview;
    this.#tables = costliestFirst((table) => rowsOf(table, overview));
    this.#changed = changed;
    if (changed === undefined) return;
    this.#kept = keep ? describedDownloads(publisher) : undefined;
    this.#beginDue();
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

  #beginDue(): void {
    if (this.#kept !== undefined) return;
    for (const table of this.#tables) if (this.#isDue(table)) this.#begin(table);
  }

  /** Whether its files are missing, or not what would be written now. */
  #isDue(table: Export): boolean {
    const { reuse } = this.#publisher;
    return (
      this.#published(table) === undefined ||
      !EXPORT_FORMATS.every(({ format }) => reuse.isMadeOfTheSame(exportRoute(table.name, format))) ||
      this.#differs(table)
    );
  }

  /** By the tables it is made of, where these are known, else by the documents that say the same. */
  #differs(table: Export): boolean {
    const changed = this.#changed;
    return changed === undefined
      ? this.#publisher.differs(table.route)
      : tablesOf(table).some((name) => changed.has(name));
  }

  #published({ name }: Export): Files | undefined {
    const [csv, gzip, parquet] = (['csv', 'csv.gz', 'parquet'] as const).map((format) =>
      this.#publisher.published(exportRoute(name, format)),
    );
    return csv && gzip && parquet && { csv, 'csv.gz': gzip, parquet };
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
  async finish(progress: Progress): Promise<Downloads> {
    this.#beginDue();
    if (this.#due.size > 0) await this.#wait(progress);
    const tables: Exported[] = [];
    for (const table of EXPORTS) {
      const rows = rowsOf(table, this.#overview);
      const written = await this.#due.get(table);
      tables.push(written === undefined ? this.#carry(table, rows) : this.#publish(table, rows, written));
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

  #carry(table: Export, rows: number): Exported {
    const files = this.#published(table);
    if (files === undefined) throw new TypeError(`"${table.name}" is neither published nor written`);
    const kept = this.#isDue(table) ? this.#kept?.rows.get(table) : undefined;
    for (const { format } of EXPORT_FORMATS) {
      const route = exportRoute(table.name, format);
      this.#publisher.carry(route, 0);
      if (kept !== undefined) this.#publisher.reuse.leaveBehind(route);
    }
    return kept === undefined
      ? { table, rows, files, state: 'unchanged' }
      : { table, rows: kept, files, state: 'kept' };
  }

  #publish(table: Export, rows: number, written: Written): Exported {
    if (written.rows !== rows) {
      // Two connections that see one state of the register can't come to this.
      throw new TypeError(`${written.rows} rows of "${table.name}" were written, expected ${rows}`);
    }
    for (const { format } of EXPORT_FORMATS) {
      this.#publisher.putStaged(exportRoute(table.name, format), written.files[format]);
    }
    return { table, rows, files: written.files, state: 'written' };
  }
}

/** The tables of the register that an export is made of: its own, and the histories of which something is computed. */
const tablesOf = ({ name, resource, history }: Export): readonly string[] =>
  history === undefined ? [name, ...resource.histories.map(({ table }) => table)] : [name];

/** How many rows an export has. */
function rowsOf({ resource, history }: Export, { populations }: Overview): number {
  const population = populations.find((candidate) => candidate.resource === resource);
  if (history === undefined) return population?.records ?? 0;
  return population?.histories.find((counted) => counted.history === history)?.entries ?? 0;
}
