/** What a build would do, without doing it: counts, and examples with old and new values. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildConfig } from './config.js';
import { Failure, codeOf } from './errors.js';
import { PARTS, details } from './outputs/details.js';
import { summaries } from './outputs/index.js';
import type { Sources } from './outputs/index.js';
import type { Output } from './outputs/output.js';
import { implausible } from './plausible.js';
import type { Progress } from './progress.js';
import { isSealed } from './publish/commit.js';
import { Comparison } from './publish/comparison.js';
import { readLedgerIndex, soundLedger } from './publish/ledger-index.js';
import { readManifest } from './publish/manifest.js';
import type { Manifest } from './publish/manifest.js';
import type { Changes } from './publish/series.js';
import { Takedown } from './publish/takedown.js';
import { Tree } from './publish/tree.js';
import { withheldOf } from './withheld.js';
import { check, isPublishable } from './register/check.js';
import type { CheckReport } from './register/check.js';
import { Register } from './register/open.js';
import { markWithheld, overview as measure } from './register/published.js';
import { isDocument, routes } from './routes.js';
import { EXPORT_FORMATS, exportRoute } from './export-routes.js';
import { ChangedExports, members } from './exports/changed.js';
import { EXPORTS } from './exports/tables.js';

/** A member of a JSON document that differs. Values are undefined where the member is missing. */
export interface FieldChange {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

export interface Example {
  readonly what: 'added' | 'changed' | 'removed';
  readonly url: string;
  /** For a changed document. */
  readonly fields?: readonly FieldChange[];
}

export interface Difference {
  readonly report: CheckReport;
  /** The published snapshot, null where there is none. */
  readonly sequence: number | null;
  readonly changes: Readonly<Changes>;
  /** Documents of the same content that would lie elsewhere (another layout). */
  readonly moved: number;
  readonly byRoute: Readonly<Record<string, Readonly<Changes>>>;
  /** Tables of the bulk downloads that hold what changes, or are behind the register already: what a build writes. */
  readonly exports: readonly string[];
  /** Why the build would refuse to remove so much; null where it would not. */
  readonly implausible: string | null;
  /** Up to `EXAMPLES` of each sort for each route. */
  readonly examples: readonly Example[];
}

const EXAMPLES = 3;

/**
 * Renders everything and compares it with the published tree. Nothing is written.
 * @throws Failure as a build would; invalid: the tree has no sound ledger to compare with
 */
export async function diff(config: BuildConfig, progress: Progress): Promise<Difference> {
  const register = Register.open(config.register);
  try {
    const report = await check(register, progress, config.skipInvalid);
    const { tree, manifest } = published(new Tree(config.out, config.state));
    if (!isPublishable(report, config.skipInvalid)) {
      throw Failure.invalid(
        `the register has ${report.total} findings, so a build would publish nothing (see check)`,
      );
    }
    markWithheld(register);
    const overview = measure(register);
    // The rest follows from the documents: exports are named, descriptions are not worth it.
    const table = routes(config.layout);
    const compared = table.filter(isDocument);
    const isBehind = behind(tree, manifest);
    const old = manifest && { ...manifest, routes: manifest.routes.filter(isDocument) };
    const examples = new Examples();
    const takedown = new Takedown(undefined);
    takedown.withheld = withheldOf(register.hidden());
    const tables = new ChangedExports();
    const comparison = new Comparison(tree, old, compared, (route, gone) => {
      const { url, files } = gone;
      examples.add(route.name, { what: 'removed', url });
      if (tables.isOpen(route.name)) tables.note(route.name, contentOf(tree, files), NOTHING);
      takedown.note(route, gone);
    });
    try {
      progress.start('comparing', manifest?.tree.files ?? 0, 'files');
      for (const { route, key, body } of documents({ register, config, overview, table })) {
        const { series, verdict, oldFiles } = comparison.note(route, key, body);
        if (verdict === 'added' || verdict === 'changed') {
          const [isOpen, isWanted] = [tables.isOpen(route), examples.wanted(route, verdict)];
          const before = isOpen || isWanted ? contentOf(tree, oldFiles) : NOTHING;
          if (isOpen) tables.note(route, before, body);
          if (isWanted) {
            const fields = verdict === 'added' ? {} : { fields: fieldChanges(before, body) };
            examples.add(route, { what: verdict, url: series.url(key), ...fields });
          }
        }
        const pause = progress.advance(1);
        if (pause !== undefined) await pause;
      }
      progress.finish();
      comparison.finish();
      if (isSealed(tree) || manifestOf(tree)?.built_at !== manifest?.built_at) {
        throw Failure.environment(`"${tree.out}" was published while it was compared: compare again`);
      }
      const { changes, moved, byRoute } = comparison.outcome();
      return {
        report,
        sequence: manifest?.sequence ?? null,
        changes,
        moved,
        byRoute: Object.fromEntries(byRoute),
        exports: EXPORTS.filter((table) => isBehind(table.name) || tables.has(table)).map(({ name }) => name),
        implausible: implausible(byRoute, takedown.removed) ?? null,
        examples: examples.list,
      };
    } finally {
      comparison.close();
    }
  } finally {
    register.close();
  }
}

/** What the API answers, and what tells of its changes. */
function* documents(sources: Sources): Generator<Output> {
  yield* summaries(sources);
  const { register, config, overview } = sources;
  const { operator, layout } = config;
  const rendering = { scope: 'all', imprint: operator, asOf: overview.asOf, layout, staying: [] } as const;
  for (const part of PARTS) {
    for (const output of details(register, part, rendering)) if (output.body !== undefined) yield output;
  }
}

/** Whether an export, by its name, is written whatever changes: nothing is noted of what its files are made of. */
function behind(tree: Tree, manifest: Manifest | undefined): (name: string) => boolean {
  const noted = manifest === undefined ? undefined : readLedgerIndex(tree.ledger).makings;
  return (name) => EXPORT_FORMATS.some(({ format }) => noted?.[exportRoute(name, format)] === undefined);
}

function published(tree: Tree): { tree: Tree; manifest: Manifest | undefined } {
  const { out } = tree;
  if (isSealed(tree)) {
    throw Failure.invalid(
      `a commit to "${out}" was interrupted, expected a whole tree (see verify --repair)`,
    );
  }
  const manifest = manifestOf(tree);
  if (manifest !== undefined && !soundLedger(tree.ledger, manifest.digest)) {
    throw Failure.invalid(
      `the ledger of "${out}" is missing or damaged, expected a sound one (see verify --repair)`,
    );
  }
  return { tree, manifest };
}

function manifestOf(tree: Tree): Manifest | undefined {
  try {
    return readManifest(tree.manifest);
  } catch (error) {
    if (codeOf(error) === 'ENOTDIR') throw Failure.environment(`output folder "${tree.out}" is no folder`);
    throw error;
  }
}

/** The first few of each sort. */
class Examples {
  readonly list: Example[] = [];
  readonly #counts = new Map<string, number>();

  wanted(route: string, what: Example['what']): boolean {
    return (this.#counts.get(`${route} ${what}`) ?? 0) < EXAMPLES;
  }

  add(route: string, example: Example): void {
    const sort = `${route} ${example.what}`;
    const count = this.#counts.get(sort) ?? 0;
    this.#counts.set(sort, count + 1);
    if (count < EXAMPLES) this.list.push(example);
  }
}

const NOTHING = '{}';

/** A published document, by its file and those of its siblings. */
function contentOf({ out }: Tree, [file]: readonly string[]): string {
  try {
    return file === undefined ? NOTHING : readFileSync(join(out, file), 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return NOTHING;
    throw error;
  }
}

/** The top-level members in which two JSON objects differ. */
function fieldChanges(before: string, after: string): FieldChange[] {
  const old = members(before);
  const now = members(after);
  return [...new Set([...old.keys(), ...now.keys()])]
    .map((field) => ({ field, from: old.get(field), to: now.get(field) }))
    .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to));
}
