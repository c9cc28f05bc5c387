/** Reports what a build would change, without changing anything. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Effects } from './build.js';
import type { BuildConfig } from '../config/config.js';
import { DryRun } from './dry-run.js';
import type { Example } from './dry-run.js';
import { Failure } from '../errors.js';
import { examine, shardsToRender } from './examine.js';
import type { Basis, Examined } from './examine.js';
import { isDue } from '../exports/exports.js';
import { isOther } from '../exports/other-documents.js';
import { registerParts } from '../exports/parts.js';
import { EXPORTS } from '../exports/tables.js';
import { buildKeyOf } from './incremental/build-key.js';
import { stayingFeeds } from '../outputs/feeds/contents.js';
import { dueSections } from '../outputs/lookup/index.js';
import { summaries } from '../outputs/index.js';
import { stayingLists } from '../outputs/lists/index.js';
import { implausible, implausibleRemovals, measuredInFuture, rewritten } from './removal-guard.js';
import type { Progress } from '../progress.js';
import { isPrepared } from '../publish/journal.js';
import { isSound, readIndex } from '../tree/index-json.js';
import { totalOf } from '../publish/index-route.js';
import type { Changes } from '../publish/index-route.js';
import { comparedRoutes } from '../publish/compared-routes.js';
import { readManifest } from '../tree/manifest.js';
import type { Manifest } from '../tree/snapshot-json.js';
import { Tree } from '../tree/tree.js';
import { isPublishable } from '../register/findings.js';
import type { CheckReport } from '../register/findings.js';
import { Register } from '../register/database.js';
import { identityOf, openConsistentSnapshot } from '../register/snapshot.js';
import type { Warning } from '../register/warnings.js';
import { BULK_FILES, OTHER_DOCUMENTS } from '../routes/exports.js';
import { isDocument, tableFor, tableOf } from '../routes/index.js';
import { contentOf, isSiteFile, replacedBy, routesOf } from '../config/site-files.js';
import { withheldOf } from './withheld.js';
import { renderFeeds } from './workers/feeds.js';
import { renderLists } from './workers/lists.js';
import { renderLookup } from './workers/lookup.js';
import { renderShard } from './workers/shard.js';

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
  readonly examples: readonly Example[];
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
  const patches = mkdtempSync(join(tmpdir(), 'register-diff-'));
  try {
    const tree = new Tree(config.out, config.state);
    await openConsistentSnapshot(config.register, identity, [register, ...pool.threads]);
    const manifest = published(tree);
    const index = manifest && readIndex(tree.index);
    const basis = { index, folder: tree.index, patches };
    const key = buildKeyOf(generator.code, register.schema(), config);
    const examined = await examine(register, pool, basis, key, config.skipInvalid, progress);
    const { report, changedTables } = examined;
    if (!isPublishable(report, config.skipInvalid)) {
      throw Failure.invalid(
        `the register has ${report.total} findings, so a build would publish nothing (see check)`,
      );
    }
    const { keys, marks } = withheldOf(register.exclusions());
    const table = tableFor(routesOf(config), register.measured);
    const replaced = replacedBy(config.files);
    const routes = comparedRoutes(manifest?.routes ?? [], table).filter(
      ({ route }) => isDocument(route) || isSiteFile(route) || replaced.has(route.name),
    );
    const dryRun = new DryRun(
      config.out,
      new Map(routes.map(({ route, index: name }) => [route, name && join(tree.index, name)])),
      keys,
    );
    await render(dryRun, register, config, examined, basis, manifest?.as_of ?? null, progress);
    dryRun.compare((sinkOf) => {
      for (const { route, isFormer } of routes) if (isFormer) sinkOf(route.name);
    });
    if (isPrepared(tree) || readManifest(tree.manifest)?.built_at !== manifest?.built_at) {
      throw Failure.environment(`"${tree.out}" was published while it was compared: compare again`);
    }
    const byRoute = dryRun.changes(index);
    const parts = registerParts(config.operator, await progress.blocking(examined.overview), generator.code);
    const due = new Set(
      parts
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
      counts: examined.counts,
      buildKey: key,
      declared: config.notMeasured,
      withheld: marks,
      out: tree.out,
      index,
      asOf: manifest?.as_of ?? null,
      now: now(),
    };
    return {
      report,
      sequence: manifest?.sequence ?? null,
      changes: totalOf(byRoute.values()),
      byRoute: Object.fromEntries(byRoute),
      exports: [...EXPORTS, ...BULK_FILES].map(({ name }) => name).filter((name) => due.has(name)),
      implausible:
        implausible(compared) ?? implausibleRemovals(byRoute, dryRun.withheld, register.measured) ?? null,
      warnings: [...measuredInFuture(compared), ...examined.warnings],
      rewritten: rewritten(compared, byRoute),
      examples: dryRun.examples,
    };
  } finally {
    await pool.close();
    register.close();
    rmSync(patches, { recursive: true, force: true });
  }
}

async function render(
  dryRun: DryRun,
  register: Register,
  config: BuildConfig,
  examined: Examined,
  { patches }: Basis,
  before: string | null,
  progress: Progress,
): Promise<void> {
  let steps = 0;
  const context = { register, advance: (more: number): void => void (steps += more) };
  const shown = async (): Promise<void> => {
    await progress.advance(steps);
    steps = 0;
  };
  const { changed, changedTables } = examined;
  const overview = await progress.blocking(examined.overview);
  progress.start('comparing', 0, 'documents');
  dryRun.compare((sinkOf) => {
    for (const { route, key, body } of summaries({
      register,
      config,
      overview,
      table: tableFor(tableOf(config), overview.measured),
    }))
      sinkOf(route).put(key, body);
    for (const file of config.files) sinkOf(file.route.name).put(0, contentOf(file));
  });
  for (const shard of shardsToRender(examined, patches)) {
    dryRun.compare((sinkOf) => renderShard(context, shard, sinkOf));
    await shown();
  }
  for (const due of dueSections(overview, changed && changedTables)) {
    dryRun.compare((sinkOf) => renderLookup(context, due, sinkOf));
    await shown();
  }
  const { asOf } = overview;
  // Without these, everything is rendered.
  const tables = changed && changedTables;
  const staying = stayingFeeds(tables, [asOf, before]);
  const feeds = { operator: config.operator, asOf, staying, old: undefined, patches };
  dryRun.compare((sinkOf) => renderFeeds(context, feeds, sinkOf));
  const lists = { asOf, staying: stayingLists(tables, [asOf, before]) };
  dryRun.compare((sinkOf) => renderLists(context, lists, sinkOf));
  await shown();
  progress.finish();
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
