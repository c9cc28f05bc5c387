/** A dry run of a build: documents are rendered and hashed, and a few of those that differ are staged. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { readText } from '../files.js';
import type { Entry } from '../tree/hash-file.js';
import type { Index } from '../tree/index-json.js';
import { comparePatches } from '../tree/patch.js';
import type { Tree } from '../tree/tree.js';
import type { ComparedRoute } from '../publish/compared-routes.js';
import { urlsOf } from '../publish/route-lists.js';
import type { Changes } from '../publish/index-route.js';
import { newStage, patchesOf, replacingFile } from '../publish/stage.js';
import { StageWriter, stageSpec } from '../publish/stage-writer.js';
import type { StageSpec } from '../publish/stage-writer.js';
import { filler } from '../routes/index.js';
import { fieldChanges } from './field-changes.js';
import type { FieldChange } from './field-changes.js';

export interface ExampleChange {
  readonly what: 'added' | 'changed' | 'removed';
  readonly url: string;
  /** Set for a changed document. */
  readonly fields?: readonly FieldChange[];
}

/** At most so many of each kind for each route. */
const EXAMPLES = 3;

/** What a build would change. */
export interface Differences {
  readonly byRoute: ReadonlyMap<string, Readonly<Changes>>;
  readonly examples: readonly ExampleChange[];
  /** Removed documents whose records are withheld, by route. */
  readonly withheld: ReadonlyMap<string, number>;
}

export class DryRun {
  readonly spec: StageSpec;
  /** Puts documents that no thread renders. */
  readonly writer: StageWriter;
  readonly #folder = mkdtempSync(join(tmpdir(), 'register-diff-'));

  /** @param routes those to compare */
  constructor(tree: Tree, routes: readonly ComparedRoute[], compressedFrom: number | undefined) {
    const paths = newStage({ stage: join(this.#folder, 'stage'), journal: join(this.#folder, 'journal') });
    this.spec = { ...stageSpec(tree, paths, routes, compressedFrom), examples: EXAMPLES };
    this.writer = new StageWriter(this.spec, 'main');
  }

  /**
   * Compares what was put with what is published.
   * @param index the published index, if any
   * @param withheld the keys of withheld records, by route of their documents
   */
  compare(index: Index | undefined, withheld: ReadonlyMap<string, ReadonlySet<number>>): Differences {
    this.writer.complete();
    const byRoute = new Map<string, Readonly<Changes>>();
    const examples: ExampleChange[] = [];
    const hidden = new Map<string, number>();
    for (const { route, index: old } of this.spec.routes.values()) {
      const { name } = route;
      const [urls, fileOf] = [urlsOf(route), filler(route.file)];
      const counts = { added: 0, changed: 0, removed: 0 };
      const note = (entry: Entry | undefined, replaced: Entry | undefined): void => {
        const { key } = entry ?? replaced ?? { key: 0 };
        const what = replaced === undefined ? 'added' : entry === undefined ? 'removed' : 'changed';
        counts[what] += 1;
        if (what === 'removed' && withheld.get(name)?.has(key) === true)
          hidden.set(name, 1 + (hidden.get(name) ?? 0));
        if (counts[what] > EXAMPLES) return;
        const fields = what === 'changed' ? { fields: this.#fieldChanges(name, fileOf(key)) } : {};
        examples.push({ what, url: urls(key)[0], ...fields });
      };
      comparePatches(old, patchesOf(this.spec.paths, name), note);
      // Under the name that the last snapshot has for the route.
      const before = old === undefined ? 0 : (index?.routes[basename(old)]?.documents ?? 0);
      byRoute.set(name, { ...counts, unchanged: before - counts.changed - counts.removed });
    }
    return { byRoute, examples, withheld: hidden };
  }

  #fieldChanges(route: string, file: string): readonly FieldChange[] {
    const { out, paths } = this.spec;
    return fieldChanges(readText(join(out, file)) ?? '', readText(replacingFile(paths, route, file)) ?? '');
  }

  close(): void {
    this.writer.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
