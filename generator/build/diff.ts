/** Reports what a build would change, without changing anything. */
import { statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Effects } from './build.js';
import type { BuildConfig } from '../config/config.js';
import { DryRun } from './dry-run.js';
import type { ExampleChange } from './dry-run.js';
import { Failure } from '../errors.js';
import { THREADED_ROUTES, startSections } from './documents.js';
import { isDue } from '../exports/exports.js';
import { isOther } from '../exports/other-documents.js';
import { registerParts } from '../exports/parts.js';
import { EXPORTS } from '../exports/tables.js';
import { buildKeyOf } from './incremental/build-key.js';
import { summaries } from '../outputs/index.js';
import { securityText } from '../outputs/pages/well-known.js';
import { renderRecords } from './records.js';
import { implausible, implausibleRemovals, measuredInFuture, rewritten } from './removal-guard.js';
import { follow } from '../progress.js';
import { isPrepared } from '../publish/journal.js';
import { isSound, readIndex } from '../tree/index-json.js';
import { totalOf } from '../publish/index-route.js';
import type { Changes } from '../publish/index-route.js';
import { comparedRoutes } from '../publish/compared-routes.js';
import { readManifest } from '../tree/manifest.js';
import type { Manifest } from '../tree/snapshot-json.js';
import { Tree } from '../tree/tree.js';
import type { CheckReport, Warning } from '../register/findings.js';
import { Register } from '../register/database.js';
import { identityOf, openConsistentSnapshot } from '../register/snapshot.js';
import { BULK_FILES, OTHER_DOCUMENTS } from '../routes/exports.js';
import { isDocument, tableFor, tableOf } from '../routes/index.js';
import { contentOf, isSiteFile, replacedBy, routesOf } from '../config/site-files.js';
import { withheldOf } from './withheld.js';

export interface Difference {
  readonly report: CheckReport;
  /** The published snapshot; null if there is none. */
  readonly sequence: number | null;
  /** Documents, feeds and the operator's files: pages and descriptions are derived from them. */
  readonly changes: Readonly<Changes>;
  readonly byRoute: Readonly<Record<string, Readonly<Changes>>>;
  /** The tables whose bulk downloads a build would write. */
  readonly exports: readonly string[];
  /** Why a build would be refused; null if it would not. */
  readonly implausible: string | null;
  /** What a build would warn of. */
  readonly warnings: readonly Warning[];
  readonly rewritten: readonly Warning[];
  readonly examples: readonly ExampleChange[];
}

/**
 * Renders what a build would and compares it with the published tree, which is only read.
 * @throws Failure as a build would; invalid: the tree has no sound index to compare with
 */
export async function diff(
  config: BuildConfig,
  { progress, generator, startPool, now }: Effects,
): Promise<Difference> {
  const identity = identityOf(config.register);
  const register = Register.open(config.register, config.notMeasured);
  const pool = startPool(config.register, config.notMeasured);
  let dryRun: DryRun | undefined;
  try {
    const tree = new Tree(config.out, config.state);
    await openConsistentSnapshot(config.register, identity, [register, ...pool.threads]);
    const manifest = published(tree);
    const asOf = manifest?.as_of ?? null;
    const index = manifest && readIndex(tree.index);
    const table = tableFor(routesOf(config), register.measured);
    const replaced = replacedBy(config.files);
    const routes = comparedRoutes(tree.index, manifest?.routes ?? [], table).filter(
      ({ route }) =>
        isDocument(route) ||
        isSiteFile(route) ||
        replaced.has(route.name) ||
        route.name === 'security-contact',
    );
    dryRun = new DryRun(tree, routes, manifest?.compressed_from);
    const { spec, writer } = dryRun;
    const buildKey = buildKeyOf(generator.code, register.schema(), config);
    writer.leave(THREADED_ROUTES);
    const work = {
      register,
      pool,
      tree,
      index,
      stage: spec,
      buildKey,
      skipInvalid: config.skipInvalid,
      progress,
    };
    const records = await renderRecords(work);
    if ('findings' in records) {
      throw Failure.invalid(
        `the register has ${records.total} findings, so a build would publish nothing (see check)`,
      );
    }
    const { report, changedTables, counts } = records;
    const { keys, marks } = withheldOf(register.exclusions());
    const overview = await progress.blocking(records.overview);
    const rendered = startSections(pool, {
      operator: config.operator,
      overview,
      records,
      stage: spec,
      sameBuild: isDeepStrictEqual(index?.buildKey, buildKey) ? tree.index : undefined,
      asOfBefore: asOf,
    });
    progress.start('comparing', 0, 'documents');
    const known = tableFor(tableOf(config), overview.measured);
    const sources = { register, config, overview, table: known, now: now() };
    const outputs = await progress.blocking(() => [...summaries(sources)]);
    for (const { route, key, body } of outputs) writer.route(route).put(key, body);
    // The only page that follows from something else: the month.
    writer.route('security-contact').put(0, securityText(config.operator, known, sources.now));
    for (const file of config.files) writer.route(file.route.name).put(0, contentOf(file));
    await follow(rendered.end, rendered.done, progress);
    progress.finish();
    const { byRoute, examples, withheld } = dryRun.compare(index, keys);
    if (isPrepared(tree) || readManifest(tree.manifest)?.built_at !== manifest?.built_at) {
      throw Failure.environment(`"${tree.out}" was published while it was compared: compare again`);
    }
    const due = new Set(
      registerParts(config.operator, overview, generator.code)
        .filter((part) => isDue(part, changedTables, index))
        .flatMap(({ files }) => files.map(({ name }) => name)),
    );
    const { name: other } = OTHER_DOCUMENTS;
    const others = routes.flatMap(({ route }) => (isOther(route) ? (byRoute.get(route.name) ?? []) : []));
    const { added, changed, removed } = totalOf(others);
    const isSameCode = index?.exports[other]?.startsWith(generator.code) === true;
    if (!isSameCode || added + changed + removed > 0) due.add(other);
    const compared = {
      register,
      counts,
      buildKey,
      declared: config.notMeasured,
      withheld: marks,
      out: tree.out,
      index,
      asOf,
      now: now(),
    };
    return {
      report,
      sequence: manifest?.sequence ?? null,
      changes: totalOf(byRoute.values()),
      byRoute: Object.fromEntries(byRoute),
      exports: [...EXPORTS, ...BULK_FILES].map(({ name }) => name).filter((name) => due.has(name)),
      implausible: implausible(compared) ?? implausibleRemovals(byRoute, withheld, register.measured) ?? null,
      warnings: [...measuredInFuture(compared), ...records.warnings],
      rewritten: rewritten(compared, byRoute),
      examples,
    };
  } finally {
    await pool.close();
    register.close();
    dryRun?.close();
  }
}

/** @returns the published snapshot; undefined if there is none */
function published(tree: Tree): Manifest | undefined {
  const { out } = tree;
  if (isPrepared(tree)) {
    throw Failure.invalid(
      `a commit to "${out}" was interrupted, expected a whole tree (see verify --repair)`,
    );
  }
  if (statSync(out, { throwIfNoEntry: false })?.isDirectory() === false)
    throw Failure.environment(`output folder "${out}" is no folder`);
  const manifest = readManifest(tree.manifest);
  if (manifest !== undefined && !isSound(tree.index, manifest.digest)) {
    throw Failure.invalid(
      `the index of "${out}" is missing or damaged, expected a sound one (see verify --repair)`,
    );
  }
  return manifest;
}
