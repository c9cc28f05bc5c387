/**
 * A build, told in order: what is known of the tree, whether anything can have changed, the check of the
 * register, the documents, the removal guard, the downloads, snapshot.json, the commit. A dry run does the same
 * up to the guard, and stages nothing.
 */
import { existsSync, writeFileSync } from 'node:fs';
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
import { Samples, descriptions, downloadDescriptions, summaries } from '../outputs/outputs.js';
import type { FileOutput } from '../outputs/output.js';
import { RECORD_SECTIONS, SECTIONS } from '../outputs/sections.js';
import type { Section } from '../outputs/section.js';
import { snapshotJson } from '../outputs/snapshot.js';
import { stageFormerAssets } from '../publish/assets.js';
import { stageChanges } from '../publish/changes.js';
import { completeCommit, flush, idOf, seal, writeCommit, type SnapshotId } from '../publish/commit.js';
import { listedRoutes, sumOfAll, sumOfLists } from '../publish/lists.js';
import { writeOperatorLists } from '../publish/operator-lists.js';
import {
  NO_CHANGES,
  RouteWriter,
  discardStage,
  formerRoutes,
  newStage,
  passOver,
  readNext,
  stagePaths,
  sumOf,
  type Changes,
  type StageSpec,
  touchedIn,
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
} from '../register/overview.js';
import { Watcher } from '../register/snapshot.js';
import { countRows, warningsOf } from '../register/warnings.js';
import { DOCUMENTS } from '../routes/exports.js';
import type { Route } from '../routes/route.js';
import { isMeasured, routeNamed, tableFor } from '../routes/routes.js';
import { RESOURCES, resourceOf, tablesOf } from '../schema/schema.js';
import { timeAt } from '../schema/time.js';
import { isInDigest } from '../tree/published-routes.js';
import { readSnapshot, snapshotHash, withBuiltAt } from '../tree/snapshot.js';
import type { PublishedSnapshot } from '../tree/snapshot-json.js';
import { Tree, newTreeId } from '../tree/tree.js';
import { DownloadTasks, keptSummary, readDownloads } from './downloads.js';
import { examplesOf, type ExampleChange } from './examples.js';
import { doubtsOf } from './guard.js';
import { NEWS_ROUTES, newsOf } from './news.js';
import { renumbered } from './renumbered.js';
import { RegisterBytes, programHash } from './inputs.js';
import { rangesOf } from './sections.js';
import { withheldOf, withholdsMore } from './takedown.js';
import type { RegisterSource, Threads } from './threads.js';

/** What a build is given besides its configuration: the display, the clock, the program, threads. */
export interface Effects {
  /** Its promises reject once a signal asked the program to stop. */
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

const refused = (report: CheckReport): Refused => ({ published: false, report });

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
  /** Published files that are written again, with their siblings. */
  readonly damaged: readonly string[];
  readonly known: Known;
  readonly register: Register;
  /** Started at once, since loading their modules takes longer than what comes before their work. */
  readonly threads: Threads;
  readonly watcher: Watcher;
  readonly now: Date;
  /** What the snapshot is made from; without the hash of the register if that was hashed at another state. */
  readonly inputs: Inputs;
}

/** Published files that are damaged; `all` if it is not known which are. */
type Damaged = readonly string[] | 'all';

/**
 * Publishes what changed. If the register is refused, or on an error or abort before the commit, the published
 * tree stays as it was.
 * @param damaged what a repair has written again; undefined for a build that is none
 * @throws Failure with a one-line message and an exit code
 */
export async function build(
  config: BuildConfig,
  effects: Effects,
  damaged?: Damaged,
): Promise<Refused | Published> {
  const tree = new Tree(config.out, config.state);
  // A repair has prepared what it repairs, where snapshot.json may be damaged.
  if (damaged === undefined) tree.prepare();
  else tree.requireOurs();
  return await withLock(tree, async () => {
    const isResumed = existsSync(tree.commit);
    await completeCommit(tree, effects.progress, effects.warn);
    discardStage(tree.stage, false);
    const given = { tree, config, effects };
    const building = withRegister(given, damaged, async (work): Promise<Refused | Published> => {
      // Nothing changed: neither what documents are made from, nor the tree since it was made from that.
      if (damaged === undefined && isUnchanged(work)) return renew(work);
      return withStage(work, async (): Promise<Refused | Published> => {
        const current = await atOneState(work);
        const rendered = await render(current, false);
        if ('published' in rendered) return rendered;
        if (rendered.doubt !== undefined) throw Failure.invalid(rendered.doubt);
        return publish(current, rendered);
      });
    });
    const result = await (isResumed ? building : addUnchangedNote(building));
    if (result.published) {
      writeOperatorLists(tree, config.operator.baseUrl, config.lists);
      tree.removeEarlier();
    }
    return result;
  });
}

/**
 * Does what a build does up to the guard, and says what would change.
 * @throws Failure as a build would; invalid: a commit is to be completed first
 */
export async function dryRun(config: BuildConfig, effects: Effects): Promise<Difference | Refused> {
  const tree = new Tree(config.out, config.state);
  tree.prepare();
  return await withLock(tree, async () => {
    if (existsSync(tree.commit))
      throw Failure.invalid(`a commit to "${tree.out}" was interrupted: the next build completes it`);
    return withRegister({ tree, config, effects }, undefined, async (work) => {
      const sequence = work.known.published?.sequence ?? null;
      if (isUnchanged(work))
        return { ...nothingNew(work), sequence, byRoute: {}, implausible: null, examples: [] };
      const rendered = await render(await atOneState(work), true);
      if ('published' in rendered) return rendered;
      const { reported, byRoute, doubt, written } = rendered;
      return {
        ...reported,
        changes: sumOf(byRoute.values()),
        sequence,
        byRoute: Object.fromEntries(byRoute),
        implausible: doubt ?? null,
        examples: examplesOf(written),
      };
    });
  });
}

// Before anything is rendered

/** Does work on a tree that nobody else works on meanwhile. If nothing is published then, no folder stays. */
async function withLock<T>(tree: Tree, work: () => Promise<T>): Promise<T> {
  const lock = Lock.take(tree.lock);
  try {
    return await work();
  } catch (error) {
    throw asFailure(error, `output folder "${tree.out}"`);
  } finally {
    tree.removeIfEmpty();
    lock.release();
  }
}

/** Opens the register at one state, and hashes what a snapshot is made from. */
async function withRegister<T>(
  given: Pick<Work, 'tree' | 'config' | 'effects'>,
  damaged: Damaged | undefined,
  use: (work: Work) => Promise<T>,
): Promise<T> {
  const { tree, config, effects } = given;
  const { progress, generator, warn } = effects;
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
      // A commit while it was hashed may be in these bytes, and is not in what this connection reads.
      register: watcher.isCurrent() ? hashed : null,
      program: programHash(generator.code, config),
      month: now.toISOString().slice(0, 'YYYY-MM'.length),
    };
    warnOfExample(config, register, warn);
    warnOfUnknown(known, warn);
    const files = damaged === 'all' ? [] : (damaged ?? []);
    return await use({ ...given, damaged: files, known, register, threads, watcher, now, inputs });
  } finally {
    await threads?.close();
    register?.close();
    watcher.close();
    bytes.close();
  }
}

/** Whether the documents would be those of the last snapshot, and its downloads are of that snapshot. */
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
  const text = readText(tree.snapshotFile) ?? '';
  replaceFile(tree.snapshotFile, withBuiltAt(text, timeAt(now.getTime())), join(tree.state, 'snapshot.json'));
  return {
    ...factsOf(known.published),
    ...nothingNew(work),
    ...keptSummary(tree.out, known, register.measured),
  };
}

/** What a build reports of its snapshot. */
function factsOf(published: PublishedSnapshot | undefined) {
  if (published === undefined) throw new TypeError('nothing is published');
  const { sequence, as_of: asOf, counts, tree } = published;
  const records = Object.fromEntries(
    Object.entries(counts).flatMap(([kind, count]) => (count === null ? [] : [[kind, count] as const])),
  );
  return { published: true as const, sequence, asOf, records, files: tree.files, bytes: tree.bytes };
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
type Rendered = Exclude<Awaited<ReturnType<typeof render>>, Refused>;

/** Has the threads read the state that this connection reads; if there was a commit since, both a newer one. */
async function atOneState(work: Work): Promise<Work> {
  const { register, threads, watcher, now, inputs } = work;
  const isHashed = await watcher.openAll([register, ...threads.connections], now);
  return { ...work, inputs: isHashed ? inputs : { ...inputs, register: null } };
}

/** Makes an empty stage, and deletes what is left of it in the end, whatever happens. */
async function withStage<T>({ tree, threads }: Work, use: () => Promise<T>): Promise<T> {
  newStage(tree.stage);
  let isStopped = false;
  try {
    return await use();
  } catch (error) {
    isStopped = isInterrupt(error);
    throw error;
  } finally {
    // The threads write to the stage, so they must end before it is removed.
    await threads.close();
    discardStage(tree.stage, isStopped);
  }
}

function stageSpec(
  { tree, known, register, damaged, now }: Work,
  table: readonly Route[],
  isDryRun: boolean,
): StageSpec {
  const routes = listedRoutes(table).filter(({ name }) =>
    isMeasured(routeNamed(table, name), register.measured),
  );
  return {
    out: tree.out,
    stage: tree.stage,
    lists: known.lists,
    listed: known.lists === null ? [] : listedRoutes(known.published?.routes ?? []),
    damaged,
    routes,
    time: now.getTime(),
    isBundled: !isDryRun && known.lists !== null,
    downloaded: isDryRun ? {} : linesFor(routes),
    isDryRun,
    exemplified: NEWS_ROUTES,
  };
}

/** The lines that downloads of documents need, by route. */
function linesFor(routes: StageSpec['routes']): StageSpec['downloaded'] {
  const lines: Record<string, 'body' | 'entry'> = {};
  for (const route of routes)
    if (DOCUMENTS.has(route.name)) lines[route.name] = 'body';
    else if (isOther(route)) lines[route.name] = 'entry';
  return lines;
}

/** Checks the register, renders all documents, and compares them with what is published. */
async function render(work: Work, isDryRun: boolean) {
  const { config, effects, known, register, now, threads } = work;
  const { progress } = effects;

  // The check of all records, before any is rendered.
  const report = await check(register, progress, config.skipInvalid, (step, onStart) =>
    threads.run('takeStep', step, { onStart }),
  );
  if (!isPublishable(report, config.skipInvalid)) return refused(report);
  await progress.blocking(() => markWithheld(register), 'marking what is withheld, to leave it out');
  await progress.blocking(
    () => markClashing(register),
    'looking for ids of the platform that differ by case',
  );
  const excluded = report.total > 0 ? invalidRecords(register) : {};
  await threads.all('exclude', register.exclusions());

  // Whether the downloads are kept: then no lines for them are staged.
  const withheld = withheldOf(register.exclusions());
  const isTakedown = withholdsMore(known.state?.withheld, withheld);
  const table = tableFor(routesOf(config.files), register.measured);
  const fullSpec = stageSpec(work, table, isDryRun);
  const lastDownloads = readDownloads(fullSpec, known.lists);
  const isKept = config.keepDownloads && lastDownloads !== undefined && !isTakedown;
  const spec = isKept ? { ...fullSpec, downloaded: {} } : fullSpec;

  // Sections of records, then those that draw on many records, while this thread adds up the register.
  const explained = explainer(register, progress);
  const tasks: Promise<readonly Written[]>[] = [];
  let done = 0;
  const start = (section: Section, inputs: { asOf: string | null; entries: number }): void => {
    // What is not measured has no documents.
    if (!spec.routes.some((route) => section.routes.includes(route.name))) return;
    for (const range of rangesOf(register, section)) {
      const what = `rendering ${section.name}`;
      const tables = section.split === undefined ? [] : tablesOf(resourceOf(section.split));
      const task = explained(what, tables, (onStart) =>
        threads.run(
          'renderSection',
          { section: section.name, range, spec, operator: config.operator, ...inputs },
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
  const sources = { register, config, overview, table, now };
  const samples = await progress.blocking(() => new Samples(sources), 'choosing examples for documentation');
  const ofWhole = await progress.blocking(() => [
    ...stageOutputs(spec, samples.watch(summaries(sources))),
    ...stageOutputs(
      spec,
      config.files.map((file) => ({ route: file.route.name, key: 0, body: contentOf(file) })),
    ),
  ]);
  const warnings = await progress.blocking(
    () => warningsOf(register, countRows(register)),
    'looking for odd values, to warn of mistakes',
  );
  progress.start('rendering', tasks.length, 'parts');
  const rendered = await follow(Promise.all(tasks), () => done, progress);
  progress.finish();
  const written = [
    ...rendered.flat(),
    ...ofWhole,
    ...formerRoutes(spec).map((route) => passOver(spec, route)),
  ];

  // The guard: what would be lost, published again or renumbered.
  const counts = await counting;
  const asOf = known.published?.as_of ?? null;
  const compared = { register, counts, declared: config.notMeasured, withheld, last: known.state, asOf };
  const byRoute = changesByRoute(written);
  const isTouched = (route: string): boolean => touchedIn(byRoute.get(route) ?? NO_CHANGES) > 0;
  const doubts = doubtsOf(compared, config);
  if (!config.acceptRenumbered) {
    const doubt = await progress.blocking(
      () => renumbered(register, spec.out, isTouched, effects.warn),
      'comparing ids with those that are published',
    );
    if (doubt !== undefined) doubts.push(doubt);
  }
  const news = newsOf(known.published?.sequence ?? null, spec, byRoute, written);
  return {
    reported: { report, excluded, absent: register.absent, warnings, news },
    spec,
    sources,
    samples,
    written,
    byRoute,
    counts,
    withheld,
    isTakedown,
    lastDownloads,
    isKept,
    /** Why a build is refused. */
    doubt: doubts.length === 0 ? undefined : doubts.join('; '),
  };
}

/** Compares documents that this thread renders with what is published, and stages those that differ. */
function stageOutputs(spec: StageSpec, outputs: Iterable<FileOutput>): readonly Written[] {
  const writers = new Map<string, RouteWriter>();
  for (const { route, key, body } of outputs) {
    const writer = writers.get(route) ?? new RouteWriter(spec, routeNamed(spec.routes, route));
    writers.set(route, writer);
    writer.put(key, body);
  }
  return [...writers.values()].map((writer) => writer.finish());
}

/** Counts the tables of all kinds in the threads. */
async function countAll(threads: Threads): Promise<Counts> {
  const counting = RESOURCES.flatMap((resource) =>
    tablesOf(resource).map(
      async (table) => [table.name, await threads.run('countTable', { kind: resource.kind, table })] as const,
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
  const { reported, spec, sources, samples, counts, withheld, isTakedown, isKept } = rendered;
  const { overview, table } = sources;
  const { published, state, lists } = known;
  const written = [...rendered.written];

  // The downloads, in threads, but for what names the snapshot.
  const changedRoutes = [...rendered.byRoute].flatMap(([route, each]) =>
    touchedIn(each) > 0 ? [route] : [],
  );
  const isSameProgram = state?.inputs.program === work.inputs.program;
  const areDownloadsCurrent =
    isSameProgram &&
    rendered.lastDownloads !== undefined &&
    rendered.lastDownloads.snapshot.sequence === published?.sequence;
  let rows = 0;
  const downloads = await progress.blocking(
    () =>
      new DownloadTasks({
        threads,
        spec,
        overview,
        published: rendered.lastDownloads,
        isKept,
        changed: areDownloadsCurrent ? new Set(changedRoutes) : undefined,
        onProgress: (steps) => void (rows += steps),
      }),
    'checking the downloads that are published',
  );

  // Pages and the description of the API, while the downloads are written.
  const { firstKeys, aliases } = firstsOf(written);
  const pages = await progress.blocking(() =>
    stageOutputs(
      spec,
      descriptions(
        sources,
        samples,
        (route, key) => readNext(spec, route, key),
        (route) => firstKeys.get(route),
        (route) => aliases.get(route),
      ),
    ),
  );
  written.push(...pages);

  // The digest of the snapshot, and its number; if nothing differs from the last one, only the time of the build does.
  const paths = stagePaths(tree.stage);
  const documents = table.filter(isInDigest).map(({ name }) => name);
  const digest = sumOfLists(paths.lists, documents);
  const last = lastOf(tree, known);
  const isSameSnapshot =
    lists !== null &&
    digest === published?.digest &&
    isSameProgram &&
    (areDownloadsCurrent || isKept) &&
    !isTakedown &&
    damaged.length === 0;
  const remembered = {
    // A record that is left out may be valid later, though no byte of the register changes.
    inputs: reported.report.total > 0 ? { ...work.inputs, register: null } : work.inputs,
    counts,
    absent: [...register.absent],
    withheld,
  };
  if (isSameSnapshot && state !== undefined) {
    replaceState(tree, { ...state, ...remembered });
    return { ...renew(work), ...reported, news: null };
  }
  const id: SnapshotId = { tree: last.id ?? newTreeId(), sequence: last.sequence + 1, digest };

  // What names the snapshot: the database, the list of documents, and what describes the downloads.
  const { name, url, platform, licence } = config.operator;
  downloads.finish({ name, url, platform, licence, asOf: overview.asOf, ...id }, documents);
  progress.start('writing the downloads', 0, 'rows');
  const ended = await follow(downloads.end(id), () => rows, progress);
  progress.finish();
  written.push(...ended.written);
  written.push(...stageOutputs(spec, downloadDescriptions(sources, ended.downloads)));

  // What the snapshot says of itself.
  const byRoute = changesByRoute(written);
  const changes = sumOf(byRoute.values());
  const files = changes.added + changes.changed + changes.unchanged;
  const bytes = written.reduce((sum, each) => sum + each.bytes, 0);
  const builtAt = timeAt(now.getTime());
  const from = lists === null || published === undefined ? null : idOf(published);
  const announced = await stageChanges(
    spec,
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
            const { added, changed, removed } = byRoute.get(record.route) ?? NO_CHANGES;
            return [plural, { added, changed, removed }];
          }),
        ),
      },
      treeBytes: bytes,
      isTakedown,
    },
    progress,
  );
  const measured = RESOURCES.map(({ plural }) => plural).filter((plural) => overview.measured.has(plural));
  const feed = stageOutputs(spec, snapshotFeed(config.operator, measured, announced.changes));
  const all = [...written, ...announced.written, ...feed];
  const text = snapshotJson({
    config,
    overview,
    downloads: ended.downloads,
    table,
    plan: {
      ...id,
      files,
      bytes,
      ...firstsOf(written),
      named: Object.fromEntries(all.flatMap(({ named }) => Object.entries(named))),
    },
    builtAt,
    generator,
  });
  writeFileSync(paths.snapshotFile, text);

  // The assets of earlier snapshots, the files to delete, and the state.
  const assets = new Set(table.flatMap((route) => (route.class === 'asset' ? [route.file] : [])));
  const former = stageFormerAssets(spec, state?.assets ?? {}, assets, now);
  const gone =
    lists === null ? unwritten(tree, spec, [...(published?.routes ?? []), ...table], former.kept) : [];
  finishStage(tree.stage, [...former.deleted, ...gone]);
  const next: State = {
    version: 1,
    tree: id.tree,
    sequence: id.sequence,
    snapshot: snapshotHash(text),
    lists: sumOfAll(paths.lists),
    ...remembered,
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
    ...factsOf(readSnapshot(tree.snapshotFile)),
    ...reported,
    ...summaryOf(ended.downloads.asOf, ended.downloads.files),
    changes,
  };
}

/** Of each route, the lowest key of its documents, and the URL path of their first alias. */
function firstsOf(written: readonly Written[]) {
  const [firstKeys, aliases] = [new Map<string, number>(), new Map<string, string>()];
  for (const { route, first, alias } of written) {
    if (first !== null && !firstKeys.has(route)) firstKeys.set(route, first);
    if (alias !== null && !aliases.has(route)) aliases.set(route, alias);
  }
  return { firstKeys, aliases };
}
