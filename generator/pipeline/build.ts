/**
 * A build, told in order: what is known of the tree, whether anything can have changed, the check, the
 * documents, the guard, the downloads, what the snapshot says of itself, the commit. A dry run is the same up
 * to the guard, and stages nothing.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildConfig } from '../config/config.js';
import { contentOf, routesOf } from '../config/site-files.js';
import { Failure, addUnchangedNote, asFailure, isInterrupt } from '../base/errors.js';
import { readText, replaceFile } from '../base/files.js';
import { Lock } from '../base/lock.js';
import { deferRejection, follow, type Progress } from '../base/progress.js';
import { summaryOf, type DownloadsSummary } from '../exports/downloads.js';
import { isOther } from '../exports/documents.js';
import { snapshotFeed } from '../outputs/feeds/snapshots.js';
import { Samples, descriptions, downloadDescriptions, summaries, type Sources } from '../outputs/outputs.js';
import type { FileOutput } from '../outputs/output.js';
import { RECORD_SECTIONS, SECTIONS } from '../outputs/sections.js';
import type { Section } from '../outputs/section.js';
import { manifest } from '../outputs/snapshot.js';
import { FORMER_LIST, formerAssets } from '../publish/assets.js';
import { stageChanges } from '../publish/changes.js';
import { completeCommit, flush, idOf, seal, writeCommit, type SnapshotId } from '../publish/commit.js';
import { lineOf, sumOfAll, sumOfLists, writeList, type ListedRoute } from '../publish/lists.js';
import { writeOperatorLists } from '../publish/operator-lists.js';
import {
  NO_CHANGES,
  RouteWriter,
  comparedIn,
  discardStage,
  formerRoutes,
  newStage,
  passOver,
  readNext,
  stagePaths,
  sumOf,
  type Changes,
  type StageSpec,
  type Written,
} from '../publish/stage.js';
import {
  lastOf,
  readKnown,
  replaceState,
  stateText,
  type Counts,
  type Inputs,
  type Known,
  type State,
} from '../publish/state.js';
import { finishStage, unwritten } from '../publish/unwritten.js';
import { check } from '../register/check.js';
import { Register } from '../register/database.js';
import { explainer } from '../register/explain.js';
import { isPublishable, type CheckReport, type Warning } from '../register/findings.js';
import {
  countEntries,
  invalidRecords,
  markClashing,
  markWithheld,
  overviewOf,
  measureRecords,
  type Overview,
} from '../register/overview.js';
import { Watcher } from '../register/snapshot.js';
import { countRows, warningsOf } from '../register/warnings.js';
import { DOCUMENTS } from '../routes/exports.js';
import { isMeasured, tableFor } from '../routes/routes.js';
import type { Route } from '../routes/route.js';
import { RESOURCES, resourceOf, tablesOf } from '../schema/schema.js';
import { timeAt } from '../schema/time.js';
import { aliasOf, hasDocuments, isInDigest, isOfCommit, pagesOf } from '../tree/published-routes.js';
import { manifestHash, withBuiltAt } from '../tree/manifest.js';
import { Tree, newTreeId } from '../tree/tree.js';
import { DownloadTasks, keptSummary, readDownloads, type PublishedDownloads } from './downloads.js';
import { EXAMPLES, examplesOf, type ExampleChange } from './examples.js';
import { doubtsOf } from './guard.js';
import { TOLD, newsOf } from './news.js';
import { renumbered } from './renumbered.js';
import { RegisterBytes, programHash } from './inputs.js';
import { rangesOf } from './sections.js';
import { withheldOf, withholdsMore } from './takedown.js';
import type { RegisterSource, Threads } from './threads.js';

/** The side effects of a build besides its files; passed in. */
export interface Effects {
  /** Also handles the request to stop: its pauses then reject. */
  readonly progress: Progress;
  readonly warn: (line: string) => void;
  /** The time of the build, read once. */
  readonly now: () => Date;
  readonly generator: {
    readonly name: string;
    readonly version: string;
    /** Identifies code and runtime: different code may render the same rows differently. */
    readonly code: string;
  };
  readonly startThreads: (source: RegisterSource) => Threads;
}

/** The register must not be published as it is; the report says why. */
export interface Refused {
  readonly published: false;
  readonly report: CheckReport;
}

/** What a build and a dry run report alike. */
interface Reported {
  readonly report: CheckReport;
  /** Records that are left out as invalid, per kind; empty if none is. */
  readonly excluded: Readonly<Record<string, number>>;
  /** What the register lacks, so that it counts as not measured (see absent.ts). */
  readonly absent: readonly string[];
  /** What may be a mistake in the register. */
  readonly warnings: readonly Warning[];
  readonly changes: Changes;
  /** What is new since the last snapshot, in one sentence; null if nothing was rendered. */
  readonly news: string | null;
}

export interface Published extends Reported, DownloadsSummary {
  readonly published: true;
  readonly sequence: number;
  readonly asOf: string | null;
  /** Published records, per kind that is measured. */
  readonly records: Readonly<Record<string, number>>;
  readonly files: number;
  readonly bytes: number;
}

/** What a build would change. */
export interface Difference extends Reported {
  /** The published snapshot; null if there is none. */
  readonly sequence: number | null;
  readonly byRoute: Readonly<Record<string, Changes>>;
  /** Why a build would be refused; null if it would not. */
  readonly implausible: string | null;
  readonly examples: readonly ExampleChange[];
}

/** What a build works with. */
interface Work {
  readonly tree: Tree;
  readonly config: BuildConfig;
  readonly effects: Effects;
  readonly known: Known;
  readonly register: Register;
  /** Started at once, since loading their modules takes longer than what comes before their work. */
  readonly threads: Threads;
  readonly watcher: Watcher;
  readonly now: Date;
  /** What the snapshot is made from; no hash of the register if it is of another state than this one. */
  readonly inputs: Inputs;
  readonly damaged: readonly string[];
}

/**
 * Publishes what changed. If the register is refused, or on an error or abort before the commit, the published
 * tree stays as it was.
 * @param damaged published files that are written again with their siblings, for a repair
 * @throws Failure with a one-line message and an exit code
 */
export async function build(
  config: BuildConfig,
  effects: Effects,
  damaged?: readonly string[] | 'all',
): Promise<Refused | Published> {
  const tree = new Tree(config.out, config.state);
  // Lock, and complete what an interrupted build left.
  tree.requireNoLinks();
  tree.prepare(damaged !== undefined);
  const lock = Lock.take(tree.lock);
  try {
    await completeCommit(tree, effects.progress, effects.warn);
    rmSync(tree.stage, { recursive: true, force: true });
    const result = await addUnchangedNote(
      withRegister(tree, config, effects, damaged, async (work): Promise<Refused | Published> => {
        // Nothing changed: nothing that documents are made from, and the tree is what it made.
        if (damaged === undefined && isUnchanged(work)) return renew(work);
        return withStage(work, async (current, stage): Promise<Refused | Published> => {
          const rendered = await render(current, stage);
          if ('refused' in rendered) return { published: false, report: rendered.refused };
          if (rendered.doubt !== undefined) throw Failure.invalid(rendered.doubt);
          return publish(current, rendered);
        });
      }),
    );
    if (result.published) {
      writeOperatorLists(tree, config.operator.baseUrl, config.lists);
      tree.removeEarlier();
    }
    return result;
  } catch (error) {
    throw asFailure(error, `output folder "${tree.out}"`);
  } finally {
    tree.removeIfEmpty();
    lock.release();
  }
}

/**
 * Does what a build does up to the guard, and says what would change.
 * @throws Failure as a build would; invalid: a commit is to be completed first
 */
export async function dryRun(config: BuildConfig, effects: Effects): Promise<Difference | Refused> {
  const tree = new Tree(config.out, config.state);
  tree.requireNoLinks();
  tree.prepare();
  const lock = Lock.take(tree.lock);
  try {
    if (existsSync(tree.commit))
      throw Failure.invalid(`a commit to "${tree.out}" was interrupted: the next build completes it`);
    return await withRegister(tree, config, effects, undefined, async (work) => {
      const { known, register } = work;
      const sequence = known.published?.sequence ?? null;
      if (isUnchanged(work))
        return { ...nothingNew(work), sequence, byRoute: {}, implausible: null, examples: [] };
      const rendered = await render(await atOneState(work), stageSpec(work, EXAMPLES));
      if ('refused' in rendered) return { published: false, report: rendered.refused };
      const { report, excluded, warnings, doubt, written, news } = rendered;
      const byRoute = changesByRoute(written);
      return {
        report,
        excluded,
        absent: register.absent,
        warnings,
        changes: sumOf(byRoute.values()),
        news,
        sequence,
        byRoute: Object.fromEntries(byRoute),
        implausible: doubt ?? null,
        examples: examplesOf(written),
      };
    });
  } finally {
    tree.removeIfEmpty();
    lock.release();
  }
}

// Before anything is rendered

/** Opens the register at one state, and hashes what a snapshot is made from. */
async function withRegister<T>(
  tree: Tree,
  config: BuildConfig,
  effects: Effects,
  damaged: readonly string[] | 'all' | undefined,
  use: (work: Work) => Promise<T>,
): Promise<T> {
  const { progress, generator } = effects;
  const now = effects.now();
  const source = { file: config.register, notMeasured: config.notMeasured };
  const watcher = new Watcher(config.register);
  const bytes = new RegisterBytes(config.register);
  let register: Register | undefined;
  let threads: Threads | undefined;
  try {
    register = Register.open(source.file, source.notMeasured);
    threads = effects.startThreads(source);
    const found = await progress.blocking(
      () => readKnown(tree, damaged !== undefined),
      'reading the lists of what is published',
    );
    const known = damaged === 'all' ? { ...found, lists: null } : found;
    await watcher.openAll([register], now);
    const hashed = await progress.blocking(
      () => bytes.hash(),
      'reading the register, to see if it is the last one',
    );
    const inputs = {
      // A commit in between may be in these bytes, and is not in what this connection reads.
      register: watcher.isCurrent() ? hashed : null,
      program: programHash(generator.code, config),
      month: now.toISOString().slice(0, 'YYYY-MM'.length),
    };
    warnOfExample(config, register, effects.warn);
    warnOfUnknown(known, effects.warn);
    const files = damaged === 'all' ? [] : (damaged ?? []);
    return await use({
      tree,
      config,
      effects,
      known,
      register,
      threads,
      watcher,
      now,
      inputs,
      damaged: files,
    });
  } finally {
    await threads?.close();
    register?.close();
    watcher.close();
    bytes.close();
  }
}

/** Whether documents would be the same as those of the last snapshot, and its downloads are of it. */
function isUnchanged({ known, inputs, config }: Work): boolean {
  const { published, state, lists } = known;
  return (
    lists !== null &&
    published !== undefined &&
    inputs.register !== null &&
    JSON.stringify(state?.inputs) === JSON.stringify(inputs) &&
    (config.keepDownloads || published.downloads.sequence === published.sequence)
  );
}

/** Publishes nothing but the time of the build, by which a proxy tells that builds go on. */
function renew(work: Work): Published {
  const { tree, known, register, now } = work;
  const text = readText(tree.manifest) ?? '';
  replaceFile(tree.manifest, withBuiltAt(text, timeAt(now.getTime())), join(tree.state, 'snapshot.json'));
  if (known.published === undefined) throw new TypeError('nothing is published');
  const { sequence, as_of: asOf, counts, tree: size } = known.published;
  const records = Object.fromEntries(
    Object.entries(counts).flatMap(([kind, count]) => (count === null ? [] : [[kind, count] as const])),
  );
  return {
    published: true,
    ...nothingNew(work),
    ...keptSummary(tree, known, register.measured),
    sequence,
    asOf,
    records,
    files: size.files,
    bytes: size.bytes,
  };
}

const nothingNew = ({ known, register }: Work): Reported => ({
  report: NO_FINDINGS,
  excluded: {},
  absent: register.absent,
  warnings: [],
  changes: { added: 0, changed: 0, removed: 0, unchanged: known.published?.tree.files ?? 0 },
  news: null,
});

const NO_FINDINGS: CheckReport = { findings: [], total: 0, skippable: true };

/** Warns of publishing somebody's register in the name, and under the licence, of an example. */
function warnOfExample(
  { example, operator: { name, licence } }: BuildConfig,
  register: Register,
  warn: Effects['warn'],
): void {
  if (example === undefined || register.isSample) return;
  warn(
    `warning: without --operator this register is published as "${name}" under ${licence.name}: copy` +
      ` ${example}, say in the copy who you are, and name it with --operator`,
  );
}

/** Says what can't be told where the state was lost. */
function warnOfUnknown({ published, state, lists }: Known, warn: Effects['warn']): void {
  if (published === undefined || lists !== null) return;
  warn(
    state === undefined
      ? 'warning: what the last snapshot was made from is not known, as where the state was lost, so nobody can tell' +
          ' whether a record is published again that the last snapshot withheld, the register lacks a table or a' +
          ' column that it had then, or rows of a history or values of a column are gone; every file is written again'
      : 'warning: the lists of what is published are missing, damaged or of another snapshot: every file is written again',
  );
}

// Rendering

/** What is known of the next snapshot before the downloads. */
interface Rendered extends Omit<Reported, 'changes'> {
  readonly stage: StageSpec;
  /** All routes, as they are for this register. */
  readonly table: readonly Route[];
  readonly overview: Overview;
  readonly written: readonly Written[];
  readonly counts: Counts;
  readonly withheld: State['withheld'];
  /** Whether anything is newly withheld. */
  readonly isTakedown: boolean;
  /** What is published, if it can be kept; and whether all of it is. */
  readonly downloads: PublishedDownloads | undefined;
  readonly isKept: boolean;
  readonly sources: Sources;
  readonly samples: Samples;
  /** Why a build would be refused. */
  readonly doubt: string | undefined;
}

/** Has the threads read the state that this connection reads; if there was a commit since, both a newer one. */
async function atOneState(work: Work): Promise<Work> {
  const { register, threads, watcher, now, inputs } = work;
  const isHashed = await watcher.openAll([register, ...threads.connections], now);
  return { ...work, inputs: isHashed ? inputs : { ...inputs, register: null } };
}

/** Makes an empty stage, which is gone in the end, whatever happens. */
async function withStage<T>(work: Work, use: (work: Work, stage: StageSpec) => Promise<T>): Promise<T> {
  const { tree, threads } = work;
  newStage(tree.stage);
  let isWaitedFor = false;
  try {
    return await use(await atOneState(work), stageSpec(work, null));
  } catch (error) {
    isWaitedFor = isInterrupt(error);
    throw error;
  } finally {
    // The threads write to the stage, so they must end before it is removed.
    await threads.close();
    discardStage(tree.stage, isWaitedFor);
  }
}

/** @param examples how many documents of each kind of change are shown; null if the stage is to be published */
function stageSpec(
  { tree, config, known, register, damaged, now }: Work,
  examples: number | null,
): StageSpec {
  const table = tableFor(routesOf(config.files), register.measured);
  const routes = table
    .filter((route) => (hasDocuments(route) || isOfCommit(route)) && isMeasured(route, register.measured))
    .map((route): ListedRoute => {
      const { name, path, file, class: cacheClass, parameters } = route;
      const alias = aliasOf(route, table);
      return {
        name,
        path,
        file,
        class: cacheClass,
        ...(parameters && { parameters }),
        pages: pagesOf(route, table),
        ...(alias && { alias: { path: alias.path, file: alias.file } }),
      };
    });
  return {
    out: tree.out,
    stage: tree.stage,
    lists: known.lists,
    damaged,
    routes,
    compared: comparedIn(known.lists, routes),
    time: now.getTime(),
    isBundled: examples === null && known.lists !== null,
    downloaded: examples === null ? linesFor(routes) : {},
    examples,
    told: TOLD,
  };
}

/** Which lines the downloads have of the documents of each route. */
function linesFor(routes: readonly ListedRoute[]): StageSpec['downloaded'] {
  const lines: Record<string, 'body' | 'entry'> = {};
  for (const route of routes)
    if (DOCUMENTS.has(route.name)) lines[route.name] = 'body';
    else if (isOther(route)) lines[route.name] = 'entry';
  return lines;
}

/** Checks the register, renders all documents, and compares them with what is published. */
async function render(work: Work, spec: StageSpec): Promise<Rendered | { readonly refused: CheckReport }> {
  const { config, effects, known, register, now, threads } = work;
  const { progress } = effects;

  // The check of all records, before any is rendered.
  const report = await check(register, progress, config.skipInvalid, (step, onStart) =>
    threads.run('../register/check.js', 'takeStep', step, { onStart }),
  );
  if (!isPublishable(report, config.skipInvalid)) return { refused: report };
  await progress.blocking(() => markWithheld(register), 'marking what is withheld, to leave it out');
  await progress.blocking(
    () => markClashing(register),
    'looking for ids of the platform that differ by case',
  );
  const excluded = report.total > 0 ? invalidRecords(register) : {};
  await threads.all('./sections.js', 'exclude', register.exclusions());

  // Whether the downloads are kept: then the documents leave no lines for them.
  const withheld = withheldOf(register.exclusions());
  const isTakedown = withholdsMore(known.state?.withheld, withheld);
  const downloads = readDownloads(spec, known);
  const isKept = config.keepDownloads && downloads !== undefined && !isTakedown;
  const stage = isKept ? { ...spec, downloaded: {} } : spec;

  // Records, then what draws on many of them, while this thread adds up the register.
  const explained = explainer(register, progress);
  const tasks: Promise<readonly Written[]>[] = [];
  let done = 0;
  const start = (section: Section, inputs: { asOf: string | null; entries: number }): void => {
    // What is not measured has no documents.
    if (!stage.routes.some((route) => section.routes.includes(route.name))) return;
    for (const range of rangesOf(register, section)) {
      const what = `rendering ${section.name}`;
      const tables = section.split === undefined ? [] : tablesOf(resourceOf(section.split));
      const task = explained(what, tables, (onStart) =>
        threads.run(
          './sections.js',
          'renderSection',
          { section: section.name, range, stage, operator: config.operator, ...inputs },
          { onStart },
        ),
      ).finally(() => (done += 1));
      tasks.push(deferRejection(task));
    }
  };
  for (const section of RECORD_SECTIONS) start(section, { asOf: null, entries: 0 });
  const overview = await progress.blocking(
    () => overviewOf(measureRecords(register), countEntries(register), register.measured),
    'adding up the register, for statistics',
  );
  for (const section of SECTIONS.filter((each) => !RECORD_SECTIONS.includes(each)))
    start(section, { asOf: overview.asOf, entries: section.entries?.(overview) ?? 0 });
  const counting = deferRejection(countAll(threads));
  const table = tableFor(routesOf(config.files), overview.measured);
  const sources = { register, config, overview, table, now };
  const samples = await progress.blocking(() => new Samples(sources), 'choosing examples for documentation');
  const main = new MainWriter(stage);
  await progress.blocking(() => {
    for (const output of samples.watch(summaries(sources))) main.put(output);
    for (const file of config.files) main.put({ route: file.route.name, key: 0, body: contentOf(file) });
  });
  const warnings = await progress.blocking(
    () => warningsOf(register, countRows(register)),
    'looking for odd values, to warn of mistakes',
  );
  progress.start('rendering', tasks.length, 'parts');
  const rendered = await follow(Promise.all(tasks), () => done, progress);
  progress.finish();
  const written = [
    ...rendered.flat(),
    ...main.finish(),
    ...formerRoutes(stage).map((route) => passOver(stage, route)),
  ];

  // The guard: what would be lost, published again or renumbered.
  const counts = await counting;
  const asOf = known.published?.as_of ?? null;
  const compared = { register, counts, declared: config.notMeasured, withheld, last: known.state, asOf };
  const byRoute = changesByRoute(written);
  const isTouched = (route: string): boolean => isAny(byRoute.get(route) ?? NO_CHANGES);
  const doubts = [
    ...doubtsOf(compared, config),
    config.acceptRenumbered
      ? undefined
      : await progress.blocking(
          () => renumbered(register, stage.out, isTouched, effects.warn),
          'comparing ids with those that are published',
        ),
  ].filter((each) => each !== undefined);
  const doubt = doubts.length === 0 ? undefined : doubts.join('; ');
  return {
    stage,
    report,
    excluded,
    absent: register.absent,
    warnings,
    table,
    overview,
    written,
    counts,
    withheld,
    isTakedown,
    downloads,
    isKept,
    sources,
    samples,
    doubt,
    news: newsOf(known.published?.sequence ?? null, stage, byRoute, written),
  };
}

/** Takes the documents that this thread renders, in any order of their routes. */
class MainWriter {
  readonly #stage: StageSpec;
  readonly #writers = new Map<string, RouteWriter>();

  constructor(stage: StageSpec) {
    this.#stage = stage;
  }

  put({ route: name, key, body }: FileOutput): void {
    let writer = this.#writers.get(name);
    if (writer === undefined) {
      const route = this.#stage.routes.find((each) => each.name === name);
      if (route === undefined) throw new TypeError(`no route is named "${name}"`);
      writer = new RouteWriter(this.#stage, route);
      this.#writers.set(name, writer);
    }
    writer.put(key, body);
  }

  finish(): readonly Written[] {
    return [...this.#writers.values()].map((writer) => writer.finish());
  }
}

/** Counts the tables of all kinds in the threads. */
async function countAll(threads: Threads): Promise<Counts> {
  const counting = RESOURCES.flatMap((resource) =>
    tablesOf(resource).map(
      async (table) =>
        [table.name, await threads.run('./counts.js', 'countTable', { kind: resource.kind, table })] as const,
    ),
  );
  return Object.fromEntries(await Promise.all(counting));
}

function changesByRoute(written: readonly Written[]): ReadonlyMap<string, Changes> {
  const byRoute = new Map<string, Changes[]>();
  for (const { route, changes } of written) byRoute.set(route, [...(byRoute.get(route) ?? []), changes]);
  return new Map([...byRoute].map(([route, all]) => [route, sumOf(all)]));
}

// Publishing

/** Stages what follows from the documents, and commits. */
async function publish(work: Work, rendered: Rendered): Promise<Published> {
  const { tree, config, effects, known, register, now, damaged, threads } = work;
  const { progress, generator } = effects;
  const { stage, overview, table, sources, samples, counts, withheld, isTakedown, isKept } = rendered;
  const { report, excluded, warnings, news, downloads: found } = rendered;
  const { published, state, lists } = known;
  const written = [...rendered.written];

  // The downloads, in threads, but for what names the snapshot.
  const changed = new Set(
    [...changesByRoute(written)].flatMap(([route, each]) => (isAny(each) ? [route] : [])),
  );
  const isSameProgram = state?.inputs.program === work.inputs.program;
  const isCurrent = found !== undefined && isSameProgram && found.snapshot.sequence === published?.sequence;
  let rows = 0;
  const downloads = await progress.blocking(
    () =>
      new DownloadTasks({
        threads,
        stage,
        overview,
        published: found,
        isKept,
        changed: isCurrent ? changed : undefined,
        onProgress: (steps) => void (rows += steps),
      }),
    'checking the downloads that are published',
  );

  // Pages and the description of the API, while the downloads are written.
  const firstKeys = firstKeysOf(written);
  const firstKey = (route: string): number | undefined => firstKeys.get(route);
  const aliases = aliasesOf(written);
  const pages = new MainWriter(stage);
  await progress.blocking(() => {
    for (const output of descriptions(
      sources,
      samples,
      (route, key) => readNext(stage, route, key),
      firstKey,
      (route) => aliases.get(route),
    ))
      pages.put(output);
  });
  written.push(...pages.finish());

  // The number of the snapshot, and its digest; if it is the last one, only the time of the build is new.
  const paths = stagePaths(tree.stage);
  const documents = table.filter(isInDigest).map(({ name }) => name);
  const digest = sumOfLists(paths.lists, documents);
  const last = lastOf(tree, known);
  const isLast =
    lists !== null &&
    digest === published?.digest &&
    (isCurrent || (isKept && isSameProgram)) &&
    !isTakedown &&
    damaged.length === 0;
  const facts = {
    // A record that is left out may be valid later, though no byte of the register changes.
    inputs: report.total > 0 ? { ...work.inputs, register: null } : work.inputs,
    counts,
    absent: [...register.absent],
    withheld,
  };
  if (isLast && state !== undefined) {
    replaceState(tree, { ...state, ...facts });
    return { ...renew(work), report, excluded, warnings };
  }
  const id: SnapshotId = { tree: last.id ?? newTreeId(), sequence: last.sequence + 1, digest };

  // What names the snapshot: the database, the list of documents, and what describes the downloads.
  const { name, url, platform, licence } = config.operator;
  downloads.finish({ name, url, platform, licence, asOf: overview.asOf, ...id }, documents);
  progress.start('writing the downloads', 0, 'rows');
  const ended = await follow(downloads.end(id), () => rows, progress);
  progress.finish();
  written.push(...ended.written);
  const described = new MainWriter(stage);
  for (const output of downloadDescriptions(sources, ended.downloads)) described.put(output);
  written.push(...described.finish());

  // What the snapshot says of itself.
  const byRoute = changesByRoute(written);
  const changes = sumOf(byRoute.values());
  const files = changes.added + changes.changed + changes.unchanged;
  const bytes = written.reduce((sum, each) => sum + each.bytes, 0);
  const builtAt = timeAt(now.getTime());
  const from = lists === null || published === undefined ? null : idOf(published);
  const announced = await stageChanges(
    stage,
    {
      from,
      ends: { ...id, downloads: ended.downloads.snapshot },
      newest: {
        sequence: id.sequence,
        digest,
        as_of: overview.asOf,
        built_at: builtAt,
        counts: Object.fromEntries(
          RESOURCES.map(({ plural, record }) => {
            const { added = 0, changed: altered = 0, removed = 0 } = byRoute.get(record.route) ?? {};
            return [plural, { added, changed: altered, removed }];
          }),
        ),
      },
      treeBytes: bytes,
      isTakedown,
    },
    progress,
  );
  const feeds = new MainWriter(stage);
  const measured = RESOURCES.map(({ plural }) => plural).filter((plural) => overview.measured.has(plural));
  for (const output of snapshotFeed(config.operator, measured, announced.changes)) feeds.put(output);
  const own = [...announced.written, ...feeds.finish()];
  const text = manifest({
    config,
    overview,
    downloads: ended.downloads,
    table,
    plan: {
      ...id,
      files,
      bytes,
      firstKeys: firstKeysOf(written),
      aliases,
      named: Object.fromEntries([...written, ...own].flatMap(({ named }) => Object.entries(named))),
    },
    builtAt,
    generator,
  });
  writeFileSync(paths.manifest, text);

  // Former assets, what the last snapshot had and this one has not, and the state.
  const assets = new Set(table.flatMap((route) => (route.class === 'asset' ? [route.file] : [])));
  const former = formerAssets(tree.out, state?.assets ?? {}, lists, assets, now);
  if (former.kept.length > 0)
    writeList(
      paths.lists,
      FORMER_LIST,
      0,
      former.kept.map(({ sum, file }) => lineOf(sum, file)),
    );
  const gone =
    lists === null ? unwritten(tree, stage, [...(published?.routes ?? []), ...table], former.kept) : [];
  finishStage(tree.stage, [...former.deleted, ...gone]);
  const next: State = {
    version: 1,
    tree: id.tree,
    sequence: id.sequence,
    snapshot: manifestHash(text),
    lists: sumOfAll(paths.lists),
    ...facts,
    assets: former.notes,
  };
  writeFileSync(paths.state, stateText(next));

  // The commit.
  await threads.close();
  writeCommit(tree.stage, {
    before: published === undefined ? null : idOf(published),
    after: id,
  });
  await progress.blocking(() => flush(tree.stage), 'writing to the disk, so that a crash loses nothing');
  // No pause in between: it could end with the request to stop.
  seal(tree);
  await completeCommit(tree, progress, effects.warn);
  return {
    published: true,
    report,
    sequence: id.sequence,
    asOf: overview.asOf,
    records: Object.fromEntries(
      overview.populations
        .filter(({ resource }) => overview.measured.has(resource.plural))
        .map(({ resource, records }) => [resource.plural, records]),
    ),
    excluded,
    absent: register.absent,
    warnings,
    ...summaryOf(ended.downloads),
    files,
    bytes,
    changes,
    news,
  };
}

const isAny = ({ added, changed, removed }: Changes): boolean => added + changed + removed > 0;

/** The lowest key of each route that has documents. */
function firstKeysOf(written: readonly Written[]): ReadonlyMap<string, number> {
  const keys = new Map<string, number>();
  for (const { route, first } of written)
    if (first !== null) keys.set(route, Math.min(first, keys.get(route) ?? first));
  return keys;
}

/** The URL path of the first further name of each route that has any. */
const aliasesOf = (written: readonly Written[]): ReadonlyMap<string, string> =>
  new Map(
    written.toReversed().flatMap(({ route, alias }) => (alias === null ? [] : [[route, alias] as const])),
  );
