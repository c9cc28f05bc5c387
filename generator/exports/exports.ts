/** Which exports a build writes anew, and when: as soon as anything they hold is known to have changed. */
import { setTimeout } from 'node:timers/promises';
import type { Progress } from '../progress.js';
import type { Makings } from '../publish/inputs.js';
import type { Publisher } from '../publish/publisher.js';
import type { HistoryCounts, Overview } from '../register/published.js';
import { EXPORT_FORMATS, exportRoute } from '../export-routes.js';
import type { ExportFormat } from '../export-routes.js';
import type { Writer } from './exporter.js';
import { EXPORTS } from './tables.js';
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
 * What the files of the exports are made of, beside what the documents say: by which version of the generator, since
 * another may write the same values in another way, and of which places in the histories, which no document tells.
 */
export const makings = (overview: Overview, version: string): Makings =>
  new Map(
    EXPORTS.flatMap((table) =>
      EXPORT_FORMATS.map(({ format }) => [
        exportRoute(table.name, format),
        `${version} ${countsOf(table, overview)?.places ?? ''}`,
      ]),
    ),
  );

/** While the thread writes, signals have their turn so often: 50 ms. */
const TURN_MS = 50;

/** An export that is to be written, and who waits for it. */
interface Due {
  readonly table: Export;
  readonly resolve: (written: Written) => void;
  readonly reject: (error: unknown) => void;
}

export class Exports {
  readonly #publisher: Publisher;
  readonly #writers: Writer[] = [];
  readonly #due = new Map<Export, Promise<Written>>();
  readonly #waiting: Due[] = [];
  readonly #idle: Writer[] = [];

  constructor(writer: Writer, publisher: Publisher) {
    this.#writers.push(writer);
    this.#publisher = publisher;
    void this.#keepBusy(writer);
  }

  /** Another one who helps, from here on. */
  join(writer: Writer): void {
    this.#writers.push(writer);
    void this.#keepBusy(writer);
  }

  /** Nothing is published yet, so all are written. */
  begin(): void {
    for (const table of EXPORTS) this.#begin(table);
  }

  /** A document of this route is new or changed, so what says the same is written anew. */
  changed(route: string): void {
    for (const table of EXPORTS) if (table.route === route) this.#begin(table);
  }

  #begin(table: Export): void {
    if (this.#due.has(table)) return;
    const writing = new Promise<Written>((resolve, reject) => this.#waiting.push({ table, resolve, reject }));
    // Who asks for it later is told, too; until then nobody listens.
    writing.catch(() => undefined);
    this.#due.set(table, writing);
    for (const writer of this.#idle.splice(0)) void this.#keepBusy(writer);
  }

  /** Gives a writer one export after the other. */
  async #keepBusy(writer: Writer): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const { table, resolve, reject } = next;
      await writer.write(table.name, this.#publisher.scratch).then(resolve, reject);
    }
    this.#idle.push(writer);
  }

  /** No more documents: waits for what is being written, publishes it, and takes the rest over. */
  async finish(overview: Overview, progress: Progress): Promise<Exported[]> {
    for (const table of EXPORTS) {
      const isWhole = filesOf(table, (route) => this.#publisher.published(route)) !== undefined;
      if (!isWhole || this.#publisher.differs(table.route)) this.#begin(table);
    }
    if (this.#due.size > 0) await this.#wait(overview, progress);
    const exported: Exported[] = [];
    for (const table of EXPORTS) exported.push(await this.#publish(table, rowsOf(table, overview)));
    return exported;
  }

  async #wait(overview: Overview, progress: Progress): Promise<void> {
    const total = [...this.#due.keys()].reduce((sum, table) => sum + rowsOf(table, overview), 0);
    progress.start('exporting', total, 'rows');
    const written = Promise.all(this.#due.values()).then(() => true);
    // An abort may come before anybody waits for it.
    written.catch(() => undefined);
    let shown = 0;
    do {
      const rows = this.#rows();
      await progress.advance(rows - shown);
      shown = rows;
    } while (!(await Promise.race([written, setTimeout(TURN_MS, false)])));
    await progress.advance(this.#rows() - shown);
    progress.finish();
  }

  #rows(): number {
    return this.#writers.reduce((sum, { rows }) => sum + rows, 0);
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

/** How many rows an export has. */
function rowsOf(table: Export, overview: Overview): number {
  if (table.history !== undefined) return countsOf(table, overview)?.entries ?? 0;
  return overview.populations.find(({ resource }) => resource === table.resource)?.records ?? 0;
}

const countsOf = ({ history }: Export, { populations }: Overview): HistoryCounts | undefined =>
  populations.flatMap(({ histories }) => histories).find((counted) => counted.history === history);
