/** Which of the bulk downloads a build writes, and which it keeps. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { z } from 'zod';
import { hasSum, readJson } from '../base/files.js';
import type { Content } from '../base/sink.js';
import type { About } from '../exports/database-schema.js';
import type {
  Downloads,
  DownloadsSummary,
  Exported,
  OfSnapshot,
  Written as WrittenDownload,
} from '../exports/downloads.js';
import { isOther } from '../exports/documents.js';
import { exportsOf } from '../exports/tables.js';
import type { Known } from '../publish/state.js';
import { linesOf, listPaths } from '../publish/lists.js';
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
  pathInFolder,
  type BulkFile,
} from '../routes/exports.js';
import { isMeasured } from '../routes/routes.js';
import type { Resource } from '../schema/field.js';
import type { Measured } from '../schema/measured.js';
import { RESOURCES, documentsOf } from '../schema/schema.js';
import type { Threads } from './threads.js';

/** A file of the downloads as datapackage.json describes it. */
interface Described extends WrittenDownload {
  /** The newest measurement in a table of records. */
  readonly asOf: string | null;
}

/** The published downloads, if all of them are there as snapshot.json and datapackage.json describe them. */
export interface PublishedDownloads {
  readonly asOf: string | null;
  readonly snapshot: OfSnapshot;
  /** By path in the tree. */
  readonly files: ReadonlyMap<string, Described>;
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

const DESCRIPTION = 'downloads/datapackage.json';

const describedIn = (out: string) =>
  packageSchema.safeParse(readJson(join(out, DESCRIPTION))).data?.resources ?? [];

/** Reads what is published. @returns undefined if a file is missing, or is not the one that is described */
export function readDownloads(
  { out, damaged, routes }: StageSpec,
  { published, lists }: Known,
): PublishedDownloads | undefined {
  if (published === undefined || lists === null) return undefined;
  const { data } = packageSchema.safeParse(readJson(join(out, DESCRIPTION)));
  if (data === undefined) return undefined;
  const files = new Map(
    data.resources.map(({ path, bytes, hash, rows, as_of }) => [
      `downloads/${path}`,
      { bytes, sha256: hash.slice('sha256:'.length), rows, asOf: as_of ?? null },
    ]),
  );
  const isThere = (file: string, bytes: number): boolean =>
    statSync(join(out, file), { throwIfNoEntry: false })?.size === bytes && !damaged.includes(file);
  for (const route of routes.filter(isDownload)) {
    const described = files.get(route.file);
    const [line] = linesOf(lists, route);
    if (described === undefined || described.sha256 !== line?.sum || !isThere(route.file, described.bytes))
      return undefined;
  }
  const { sequence, digest } = published.downloads;
  return { asOf: data.as_of ?? null, snapshot: { sequence, digest }, files };
}

/** What the downloads are made from. */
export interface DownloadsWork {
  readonly threads: Threads;
  readonly stage: StageSpec;
  readonly overview: Overview;
  /** What is published, if it can be kept. */
  readonly published: PublishedDownloads | undefined;
  /** Whether all of it is kept, whatever changed. */
  readonly isKept: boolean;
  /** Names of the routes of which a document changed; undefined if everything is written. */
  readonly changed: ReadonlySet<string> | undefined;
  readonly onProgress: (steps: number) => void;
}

type State = Exported['state'];

interface Outcome extends WrittenDownload {
  readonly state: State;
}

/** Starts to write the downloads of kinds that changed, while the rest of the documents is rendered. */
export class DownloadTasks {
  readonly #work: DownloadsWork;
  /** By path in the tree. */
  readonly #files = new Map<string, Promise<Outcome>>();

  constructor(work: DownloadsWork) {
    this.#work = work;
    const { overview, stage } = work;
    // From here on, heaps double at most between two collections, instead of up to fourfold: row groups of Parquet
    // would take 100 MB more, for 3 % less time.
    if (!work.isKept) setFlagsFromString('--heap-growing-percent=100');
    for (const resource of RESOURCES.filter(({ plural }) => overview.measured.has(plural)))
      this.#startKind(resource);
    const others = stage.routes.filter(isOther).map(({ name }) => name);
    this.#startDocuments(OTHER_DOCUMENTS, others, this.#stateOf(others, [OTHER_DOCUMENTS.file]));
  }

  /** @param routes those of the documents that the files are of */
  #stateOf(routes: readonly string[], files: readonly string[]): State {
    const { isKept, changed } = this.#work;
    if (isKept) return 'kept';
    if (changed === undefined || routes.some((route) => changed.has(route))) return 'written';
    return files.every((file) => this.#isWhole(file)) ? 'unchanged' : 'written';
  }

  #isWhole(file: string): boolean {
    const { stage, published } = this.#work;
    const described = published?.files.get(file);
    return described !== undefined && hasSum(join(stage.out, file), described.sha256);
  }

  #startKind(resource: Resource): void {
    const { threads, stage, overview, onProgress } = this.#work;
    const documents = documentsOf(resource).filter(({ route }) =>
      isMeasured(documentsFileOf(route), overview.measured),
    );
    const tables = exportsOf(overview.measured).filter((each) => each.resource === resource);
    const state = this.#stateOf(
      documents.map(({ route }) => route),
      [
        ...tables.flatMap(({ name }) => EXPORT_FORMATS.map(({ format }) => exportFile(name, format))),
        ...documents.map(({ route }) => documentsFileOf(route).file),
      ],
    );
    const { scratch: folder } = stagePaths(stage.stage);
    for (const table of tables) {
      const written =
        state === 'written'
          ? threads.run(
              '../exports/write-table.js',
              'writeTable',
              { table: table.name, folder },
              { onProgress },
            )
          : undefined;
      for (const { format } of EXPORT_FORMATS)
        this.#note(
          exportFile(table.name, format),
          state,
          written?.then((files) => files[format]),
        );
    }
    for (const { route } of documents) this.#startDocuments(documentsFileOf(route), [route], state);
  }

  #startDocuments({ file }: BulkFile, routes: readonly string[], state: State): void {
    const { threads, stage, onProgress } = this.#work;
    const { documents, scratch } = stagePaths(stage.stage);
    const parts = routes.flatMap((route) => partsOf(documents, route));
    const written =
      state === 'written'
        ? threads.run(
            '../exports/documents.js',
            'joinLines',
            { parts, file: join(scratch, file) },
            { onProgress },
          )
        : undefined;
    this.#note(file, state, written);
  }

  #note(file: string, state: State, written: Promise<WrittenDownload> | undefined): void {
    const outcome =
      written?.then((each) => ({ ...each, state })) ?? Promise.resolve(this.#published(file, state));
    // Avoids an unhandled rejection; the error surfaces where the promise is awaited.
    outcome.catch(() => undefined);
    this.#files.set(file, outcome);
  }

  #published(file: string, state: State): Outcome {
    const described = this.#work.published?.files.get(file);
    if (described === undefined) throw new TypeError(`"${file}" is neither published nor written`);
    return { ...described, state };
  }

  /** Writes what names the snapshot: the database, and the list of documents. @param routes those of documents */
  finish(about: About, routes: readonly string[]): void {
    const { threads, stage, isKept, onProgress } = this.#work;
    const { scratch: folder, lists } = stagePaths(stage.stage);
    const database = isKept
      ? undefined
      : // Tables write the parts of which it is made.
        Promise.all(this.#files.values()).then(() =>
          threads.run('../exports/database.js', 'writeDatabase', { about, folder }, { onProgress }),
        );
    const state = isKept ? 'kept' : 'written';
    this.#note(
      PLAIN_DATABASE.file,
      state,
      database?.then((files) => files.sqlite),
    );
    this.#note(
      DATABASE.file,
      state,
      database?.then((files) => files['sqlite.gz']),
    );
    const list = isKept
      ? undefined
      : threads.run('../exports/documents.js', 'joinLines', {
          parts: [...listPaths(lists, routes)],
          file: join(folder, LIST_OF_DOCUMENTS.file),
        });
    this.#note(LIST_OF_DOCUMENTS.file, state, list);
  }

  /** Waits for the files, and stages them. @param snapshot the one that is built */
  async end({
    sequence,
    digest,
  }: OfSnapshot): Promise<{ readonly downloads: Downloads; readonly written: readonly Written[] }> {
    const { stage, overview, published, isKept } = this.#work;
    const { scratch } = stagePaths(stage.stage);
    const outcomes = new Map<string, Outcome>();
    for (const [file, outcome] of this.#files) outcomes.set(file, await outcome);
    const written = stage.routes.filter(isDownload).map((route) => {
      const { bytes, sha256, state } = outcomeOf(outcomes, route.file);
      const writer = new RouteWriter(stage, route);
      if (state === 'written') writer.putFile(0, { bytes, sha256 }, join(scratch, route.file));
      else writer.keep(0, bytes);
      return writer.finish();
    });
    const newest = (resource: Resource): string | null =>
      populationOf(overview.populations, resource).measuredAt;
    const tables = exportsOf(overview.measured).map((table): Exported => {
      const of = (format: (typeof EXPORT_FORMATS)[number]['format']): Outcome =>
        outcomeOf(outcomes, exportFile(table.name, format));
      const { rows, state } = of('csv');
      const asOf =
        table.history !== undefined
          ? null
          : isKept
            ? (published?.files.get(exportFile(table.name, 'csv'))?.asOf ?? null)
            : newest(table.resource);
      const files = {
        csv: contentOf(of('csv')),
        'csv.gz': contentOf(of('csv.gz')),
        parquet: contentOf(of('parquet')),
      };
      return { table, rows, files, state, asOf };
    });
    const bulk = BULK_FILES.filter((file) => isMeasured(file, overview.measured)).map((file) => ({
      file,
      ...outcomeOf(outcomes, file.file),
    }));
    const asOf = isKept ? (published?.asOf ?? null) : overview.asOf;
    const snapshot = (isKept ? published?.snapshot : undefined) ?? { sequence, digest };
    return { downloads: { asOf, snapshot, tables, bulk }, written };
  }
}

const contentOf = ({ bytes, sha256 }: Outcome): Content => ({ bytes, sha256 });

function outcomeOf(outcomes: ReadonlyMap<string, Outcome>, file: string): Outcome {
  const outcome = outcomes.get(file);
  if (outcome === undefined) throw new TypeError(`nothing is known of "${file}"`);
  return outcome;
}

/** What a build says of the downloads if it keeps all that is published. */
export function keptSummary(
  { out }: { readonly out: string },
  { published }: Known,
  measured: Measured,
): DownloadsSummary {
  const resources = new Map(describedIn(out).map((each) => [each.path, each]));
  const rowsOf = (file: string): number => resources.get(pathInFolder(file))?.rows ?? 0;
  const names = [
    ...exportsOf(measured).map(({ name }) => [name, exportFile(name, 'csv')] as const),
    ...BULK_FILES.filter((file) => isMeasured(file, measured)).map(({ name, file }) => [name, file] as const),
  ];
  return {
    exports: Object.fromEntries(names.map(([name, file]) => [name, { rows: rowsOf(file), written: false }])),
    downloads: {
      asOf: published?.downloads.as_of ?? null,
      kept: published?.downloads.sequence === published?.sequence ? [] : names.map(([name]) => name),
    },
  };
}
