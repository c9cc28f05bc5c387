/** Which of the bulk downloads a build writes, and which it keeps. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import * as z from 'zod';
import { hasSum, readJson } from '../base/files.js';
import { deferRejection } from '../base/progress.js';
import type { About } from '../exports/database-schema.js';
import {
  summaryOf,
  type DownloadState,
  type Downloads,
  type DownloadsSummary,
  type Exported,
  type OfSnapshot,
  type WrittenFile,
  type WrittenFiles,
} from '../exports/downloads.js';
import { isOther } from '../exports/documents.js';
import type { Known } from '../publish/state.js';
import { listPaths, listedFiles, type ListedRoute } from '../publish/lists.js';
import { RouteWriter, partsOf, stagePaths, type StageSpec, type Written } from '../publish/stage.js';
import type { Overview } from '../register/overview.js';
import {
  DATABASE,
  DOCUMENTS,
  DOWNLOADS,
  LIST_OF_DOCUMENTS,
  OTHER_DOCUMENTS,
  PLAIN_DATABASE,
  isDownload,
  type Download,
} from '../routes/exports.js';
import { isMeasured } from '../routes/routes.js';
import type { Resource } from '../schema/field.js';
import type { Measured } from '../schema/measured.js';
import { RESOURCES, documentsOf } from '../schema/schema.js';
import type { Threads } from './threads.js';

/** The published downloads, as their datapackage.json describes them. */
export type PublishedDownloads = NonNullable<ReturnType<typeof readDataPackage>>;

const packageSchema = z.object({
  as_of: z.string().exactOptional(),
  sequence: z.int(),
  digest: z.string(),
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
function readDataPackage(out: string) {
  const { data } = packageSchema.safeParse(readJson(join(out, 'downloads/datapackage.json')));
  if (data === undefined) return undefined;
  const { as_of: asOf = null, sequence, digest, resources } = data;
  const files = new Map<string, WrittenFile & Pick<Exported, 'asOf'>>();
  for (const { path, bytes, hash, rows, as_of: newest = null } of resources)
    files.set(`downloads/${path}`, { bytes, sha256: hash.slice('sha256:'.length), rows, asOf: newest });
  return { asOf, snapshot: { sequence, digest }, files };
}

/** @returns undefined if a file is missing or damaged, or is not the one that is described */
export function readDownloads(
  { out, damaged, routes }: StageSpec,
  lists: string | null,
): PublishedDownloads | undefined {
  if (lists === null) return undefined;
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
  return routes.filter(isDownload).every(isAsDescribed) ? described : undefined;
}

/** The downloads of what a register measures. */
const measuredDownloads = (measured: Measured): readonly Download[] =>
  DOWNLOADS.filter((each) => isMeasured(each, measured));

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

/** Writes the downloads in threads: those of kinds that changed while pages are rendered, then the others. */
export class DownloadTasks {
  readonly #work: DownloadsWork;
  readonly #downloads: readonly Download[];
  /** Below it, each file has its path in the tree. */
  readonly #folder: string;
  /** By path in the tree. */
  readonly #files = new Map<string, Promise<Exported>>();

  /** Starts to write the files of kinds, and that of the other documents. */
  constructor(work: DownloadsWork) {
    this.#work = work;
    const { overview, spec } = work;
    this.#downloads = measuredDownloads(overview.measured);
    this.#folder = stagePaths(spec.stage).scratch;
    // From here on, heaps double at most between two collections, instead of up to fourfold: row groups of Parquet
    // would take 100 MB more, for 3 % less time. To let them grow by half alone would take 9 % more time.
    if (!work.isKept) setFlagsFromString('--heap-growing-percent=100');
    for (const resource of RESOURCES) this.#startKind(resource);
    const others = spec.routes.filter(isOther).map(({ name }) => name);
    this.#startDocuments(OTHER_DOCUMENTS, others, this.#stateOf([OTHER_DOCUMENTS], others));
  }

  /** What becomes of files. @param routes names of the routes whose documents have what the files have */
  #stateOf(files: readonly Download[], routes: readonly string[]): DownloadState {
    const { isKept, changed, published, spec } = this.#work;
    if (isKept) return 'kept';
    if (changed === undefined || routes.some((route) => changed.has(route))) return 'written';
    const isWhole = ({ file }: Download): boolean => {
      const described = published?.files.get(file);
      return described !== undefined && hasSum(join(spec.out, file), described.sha256);
    };
    return files.every(isWhole) ? 'unchanged' : 'written';
  }

  /** The tables of a kind and the files of its documents: all of them are written, or none. */
  #startKind(resource: Resource): void {
    const { threads, onProgress } = this.#work;
    const files = this.#downloads.filter(({ kind }) => kind === resource.kind);
    const routes = documentsOf(resource).map(({ route }) => route);
    const state = this.#stateOf(files, routes);
    const ofTables = files.filter(({ format }) => format !== undefined);
    for (const table of new Set(ofTables.map(({ name }) => name)))
      this.#start(
        state,
        ofTables.filter(({ name }) => name === table),
        () => threads.run('writeTable', { table, folder: this.#folder }, { onProgress }),
      );
    for (const route of routes) {
      const file = DOCUMENTS.get(route);
      if (file !== undefined && files.includes(file)) this.#startDocuments(file, [route], state);
    }
  }

  #startDocuments(file: Download, routes: readonly string[], state: DownloadState): void {
    const { documents } = stagePaths(this.#work.spec.stage);
    this.#startJoining(
      state,
      file,
      routes.flatMap((route) => partsOf(documents, route)),
    );
  }

  /** Joins files of lines into a download. */
  #startJoining(state: DownloadState, download: Download, parts: readonly string[]): void {
    const { threads, onProgress } = this.#work;
    const input = { parts, folder: this.#folder, file: download.file };
    this.#start(state, [download], () => threads.run('joinLines', input, { onProgress }));
  }

  /** Starts to write files, unless they stay as they are. */
  #start(state: DownloadState, downloads: readonly Download[], write: () => Promise<WrittenFiles>): void {
    const { published, overview } = this.#work;
    const written = state === 'written' ? write() : undefined;
    const exported = async (download: Download): Promise<Exported> => {
      const { name, file } = download;
      const before = published?.files.get(file);
      const found = written === undefined ? before : (await written)[file];
      if (found === undefined) throw new TypeError(`"${file}" is neither published nor written`);
      const { bytes, sha256, rows } = found;
      const records = overview.populations.find(({ resource }) => resource.plural === name);
      const asOf = state === 'kept' ? before?.asOf : records?.measuredAt;
      return { download, bytes, sha256, rows, state, asOf: asOf ?? null };
    };
    for (const download of downloads) this.#files.set(download.file, deferRejection(exported(download)));
  }

  /** Starts to write what names the snapshot: the database, and the list of documents. @param routes those of documents */
  finish(about: About, routes: readonly string[]): void {
    const { threads, spec, isKept, onProgress } = this.#work;
    const state = isKept ? 'kept' : 'written';
    // Tables write the parts that the database is made of.
    const tables = [...this.#files.values()];
    this.#start(state, [PLAIN_DATABASE, DATABASE], async () => {
      await Promise.all(tables);
      return threads.run('writeDatabase', { about, folder: this.#folder }, { onProgress });
    });
    this.#startJoining(state, LIST_OF_DOCUMENTS, [...listPaths(stagePaths(spec.stage).lists, routes)]);
  }

  /** Waits for the files, and stages them. The snapshot is the one that is built. */
  async end({
    sequence,
    digest,
  }: OfSnapshot): Promise<{ readonly downloads: Downloads; readonly written: readonly Written[] }> {
    const { spec, overview, isKept, published } = this.#work;
    const files: Exported[] = [];
    const written: Written[] = [];
    for (const download of this.#downloads) {
      const exported = await this.#files.get(download.file);
      const route = spec.routes.find(({ name }) => name === download.route);
      if (exported === undefined || route === undefined)
        throw new TypeError(`nothing is known of "${download.file}"`);
      const writer = new RouteWriter(spec, route);
      if (exported.state === 'written') writer.putFile(0, exported, join(this.#folder, download.file));
      else writer.keep(0, exported.bytes);
      files.push(exported);
      written.push(writer.finish());
    }
    const kept = isKept ? published : undefined;
    const { asOf, snapshot } = kept ?? { asOf: overview.asOf, snapshot: { sequence, digest } };
    return { downloads: { asOf, snapshot, files }, written };
  }
}

/** What a build says of the downloads if it keeps all that is published. */
export function keptSummary(out: string, { published }: Known, measured: Measured): DownloadsSummary {
  const described = readDataPackage(out);
  const isCurrent = published?.downloads.sequence === published?.sequence;
  return summaryOf(
    published?.downloads.as_of ?? null,
    measuredDownloads(measured).map((download) => ({
      download,
      rows: described?.files.get(download.file)?.rows ?? 0,
      state: isCurrent ? 'unchanged' : 'kept',
    })),
  );
}
