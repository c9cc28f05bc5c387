/** Which of the bulk downloads a build writes, and which it keeps. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import * as z from 'zod';
import { hasSum, readJson } from '../base/files.js';
import { deferRejection } from '../base/progress.js';
import type { About } from '../exports/database-schema.js';
import type {
  DownloadState,
  Downloads,
  DownloadsSummary,
  Exported,
  OfSnapshot,
  WrittenFile,
} from '../exports/downloads.js';
import { isOther } from '../exports/documents.js';
import { exportsOf } from '../exports/tables.js';
import type { Known } from '../publish/state.js';
import { listPaths, listedFiles, type ListedRoute } from '../publish/lists.js';
import { RouteWriter, partsOf, stagePaths, type StageSpec, type Written } from '../publish/stage.js';
import { populationOf, type Overview } from '../register/overview.js';
import {
  BULK_FILES,
  DATABASE,
  EXPORT_FORMATS,
  LIST_OF_DOCUMENTS,
  OTHER_DOCUMENTS,
  PLAIN_DATABASE,
  documentsFileOf,
  exportFile,
  isDownload,
  type BulkFile,
  type ExportFormat,
} from '../routes/exports.js';
import { isMeasured } from '../routes/routes.js';
import type { Resource } from '../schema/field.js';
import type { Measured } from '../schema/measured.js';
import { RESOURCES, documentsOf } from '../schema/schema.js';
import type { TaskOptions, Threads } from './threads.js';

/** A published file, as datapackage.json describes it. */
interface Described extends WrittenFile {
  /** The newest measurement in a table of records; null for other files. */
  readonly asOf: string | null;
}

/** What datapackage.json says. */
interface DataPackage {
  readonly asOf: string | null;
  /** By path in the tree. */
  readonly files: ReadonlyMap<string, Described>;
}

/** The published downloads, if each of them is as datapackage.json and the lists say. */
export interface PublishedDownloads extends DataPackage {
  readonly snapshot: OfSnapshot;
}

const packageSchema = z.object({
  as_of: z.string().exactOptional(),
  resources: z.array(
    z.object({
      path: z.string(),
      bytes: z.int(),
      hash: z.string().startsWith('sha256:'),
      rows: z.int(),
      as_of: z.string().exactOptional(),
    }),
  ),
});

/** Reads the datapackage.json of a tree. @returns undefined if it is missing or damaged */
function readDataPackage(out: string): DataPackage | undefined {
  const { data } = packageSchema.safeParse(readJson(join(out, 'downloads/datapackage.json')));
  if (data === undefined) return undefined;
  const files = data.resources.map(
    ({ path, bytes, hash, rows, as_of }) =>
      [
        `downloads/${path}`,
        { bytes, sha256: hash.slice('sha256:'.length), rows, asOf: as_of ?? null },
      ] as const,
  );
  return { asOf: data.as_of ?? null, files: new Map(files) };
}

/** @returns undefined if a file is missing or damaged, or is not the one that is described */
export function readDownloads(
  { out, damaged, routes }: StageSpec,
  { published, lists }: Known,
): PublishedDownloads | undefined {
  if (published === undefined || lists === null) return undefined;
  const described = readDataPackage(out);
  const isAsDescribed = (route: ListedRoute): boolean => {
    const file = described?.files.get(route.file);
    const [listed] = listedFiles(lists, route);
    return (
      file !== undefined &&
      file.sha256 === listed?.sum &&
      file.bytes === statSync(join(out, route.file), { throwIfNoEntry: false })?.size &&
      !damaged.includes(route.file)
    );
  };
  if (described === undefined || !routes.filter(isDownload).every(isAsDescribed)) return undefined;
  const { sequence, digest } = published.downloads;
  return { ...described, snapshot: { sequence, digest } };
}

/** What the downloads are made from. */
interface DownloadsWork {
  readonly threads: Threads;
  readonly spec: StageSpec;
  readonly overview: Overview;
  readonly published: PublishedDownloads | undefined;
  /** Whether all published files are kept, whatever changed. */
  readonly isKept: boolean;
  /** Names of the routes of which a document changed; undefined if every file is written. */
  readonly changed: ReadonlySet<string> | undefined;
  readonly onProgress: (steps: number) => void;
}

interface Outcome extends WrittenFile {
  readonly state: DownloadState;
}

/** Writes the downloads in threads: those of kinds that changed while pages are rendered, then the others. */
export class DownloadTasks {
  readonly #work: DownloadsWork;
  /** Below it, each file has its path in the tree. */
  readonly #folder: string;
  /** By path in the tree. */
  readonly #files = new Map<string, Promise<Outcome>>();

  /** Starts to write the files of kinds, and that of the other documents. */
  constructor(work: DownloadsWork) {
    this.#work = work;
    const { overview, spec } = work;
    this.#folder = stagePaths(spec.stage).scratch;
    // From here on, heaps double at most between two collections, instead of up to fourfold: row groups of Parquet
    // would take 100 MB more, for 3 % less time.
    if (!work.isKept) setFlagsFromString('--heap-growing-percent=100');
    for (const resource of RESOURCES.filter(({ plural }) => overview.measured.has(plural)))
      this.#startKind(resource);
    const others = spec.routes.filter(isOther).map(({ name }) => name);
    this.#startDocuments(OTHER_DOCUMENTS, others, this.#stateOf([OTHER_DOCUMENTS.file], others));
  }

  /** What becomes of files. @param routes names of the routes whose documents have what the files have */
  #stateOf(files: readonly string[], routes: readonly string[]): DownloadState {
    const { isKept, changed } = this.#work;
    if (isKept) return 'kept';
    if (changed === undefined || routes.some((route) => changed.has(route))) return 'written';
    return files.every((file) => this.#isWhole(file)) ? 'unchanged' : 'written';
  }

  #isWhole(file: string): boolean {
    const { spec, published } = this.#work;
    const described = published?.files.get(file);
    return described !== undefined && hasSum(join(spec.out, file), described.sha256);
  }

  /** The tables of a kind and the files of its documents: all of them are written, or none. */
  #startKind(resource: Resource): void {
    const { threads, overview, onProgress } = this.#work;
    const tables = exportsOf(overview.measured)
      .filter((each) => each.resource === resource)
      .map(({ name }) => ({
        name,
        files: EXPORT_FORMATS.map(({ format }) => [format, exportFile(name, format)] as const),
      }));
    const documents = documentsOf(resource)
      .map(({ route }) => ({ route, file: documentsFileOf(route) }))
      .filter(({ file }) => isMeasured(file, overview.measured));
    const state = this.#stateOf(
      [
        ...tables.flatMap(({ files }) => files.map(([, file]) => file)),
        ...documents.map(({ file }) => file.file),
      ],
      documents.map(({ route }) => route),
    );
    for (const { name: table, files } of tables)
      this.#start(state, files, () =>
        threads.run('writeTable', { table, folder: this.#folder }, { onProgress }),
      );
    for (const { route, file } of documents) this.#startDocuments(file, [route], state);
  }

  #startDocuments({ file }: BulkFile, routes: readonly string[], state: DownloadState): void {
    const { spec, onProgress } = this.#work;
    const { documents } = stagePaths(spec.stage);
    const parts = routes.flatMap((route) => partsOf(documents, route));
    this.#startJoining(state, file, parts, { onProgress });
  }

  /** Joins files of lines into a download. */
  #startJoining(
    state: DownloadState,
    file: string,
    parts: readonly string[],
    options: TaskOptions = {},
  ): void {
    const input = { parts, file: join(this.#folder, file) };
    this.#start(state, [['joined', file]], async () => ({
      joined: await this.#work.threads.run('joinLines', input, options),
    }));
  }

  /** Starts to write files, unless they stay as they are. @param files the path of each by its name in the result */
  #start<Name extends string>(
    state: DownloadState,
    files: readonly (readonly [name: Name, file: string])[],
    write: () => Promise<Readonly<Record<Name, WrittenFile>>>,
  ): void {
    const written = state === 'written' ? write() : undefined;
    for (const [name, file] of files) {
      const outcome =
        written?.then(({ [name]: each }) => ({ ...each, state })) ??
        Promise.resolve({ ...this.#published(file), state });
      this.#files.set(file, deferRejection(outcome));
    }
  }

  #published(file: string): WrittenFile {
    const described = this.#work.published?.files.get(file);
    if (described === undefined) throw new TypeError(`"${file}" is neither published nor written`);
    return described;
  }

  /** Starts to write what names the snapshot: the database, and the list of documents. @param routes those of documents */
  finish(about: About, routes: readonly string[]): void {
    const { threads, spec, isKept, onProgress } = this.#work;
    const state = isKept ? 'kept' : 'written';
    // Tables write the parts that the database is made of.
    const tables = [...this.#files.values()];
    const databases = [
      ['sqlite', PLAIN_DATABASE.file],
      ['sqlite.gz', DATABASE.file],
    ] as const;
    this.#start(state, databases, async () => {
      await Promise.all(tables);
      const input = { about, folder: this.#folder };
      return threads.run('writeDatabase', input, { onProgress });
    });
    this.#startJoining(state, LIST_OF_DOCUMENTS.file, [...listPaths(stagePaths(spec.stage).lists, routes)]);
  }

  /** Waits for the files, and stages them. The snapshot is the one that is built. */
  async end({
    sequence,
    digest,
  }: OfSnapshot): Promise<{ readonly downloads: Downloads; readonly written: readonly Written[] }> {
    const { spec, overview, isKept } = this.#work;
    const outcomes = new Map<string, Outcome>();
    for (const [file, outcome] of this.#files) outcomes.set(file, await outcome);
    const outcomeOf = (file: string): Outcome => {
      const outcome = outcomes.get(file);
      if (outcome === undefined) throw new TypeError(`nothing is known of "${file}"`);
      return outcome;
    };
    const written = spec.routes.filter(isDownload).map((route) => {
      const { bytes, sha256, state } = outcomeOf(route.file);
      const writer = new RouteWriter(spec, route);
      if (state === 'written') writer.putFile(0, { bytes, sha256 }, join(this.#folder, route.file));
      else writer.keep(0, bytes);
      return writer.finish();
    });
    const kept = isKept ? this.#work.published : undefined;
    const tables = exportsOf(overview.measured).map((table): Exported => {
      const fileOf = (format: ExportFormat): Outcome => outcomeOf(exportFile(table.name, format));
      const csv = fileOf('csv');
      const files = { csv, 'csv.gz': fileOf('csv.gz'), parquet: fileOf('parquet') };
      const { measuredAt } = populationOf(overview.populations, table.resource);
      const asOf = kept === undefined ? measuredAt : kept.files.get(exportFile(table.name, 'csv'))?.asOf;
      return {
        table,
        rows: csv.rows,
        files,
        state: csv.state,
        asOf: table.history === undefined ? (asOf ?? null) : null,
      };
    });
    const bulk = BULK_FILES.filter((file) => isMeasured(file, overview.measured)).map((file) => ({
      file,
      ...outcomeOf(file.file),
    }));
    const { asOf, snapshot } = kept ?? { asOf: overview.asOf, snapshot: { sequence, digest } };
    return { downloads: { asOf, snapshot, tables, bulk }, written };
  }
}

/** What a build says of the downloads if it keeps all that is published. */
export function keptSummary(out: string, { published }: Known, measured: Measured): DownloadsSummary {
  const described = readDataPackage(out);
  const files = [
    ...exportsOf(measured).map(({ name }) => ({ name, file: exportFile(name, 'csv') })),
    ...BULK_FILES.filter((file) => isMeasured(file, measured)),
  ];
  const isCurrent = published?.downloads.sequence === published?.sequence;
  return {
    exports: Object.fromEntries(
      files.map(({ name, file }) => [name, { rows: described?.files.get(file)?.rows ?? 0, written: false }]),
    ),
    downloads: {
      asOf: published?.downloads.as_of ?? null,
      kept: isCurrent ? [] : files.map(({ name }) => name),
    },
  };
}
