/** Has the threads render the documents of a snapshot that may have changed. */
import { deferRejection } from '../progress.js';
import type { StageSpec } from '../publish/stage-writer.js';
import type { FeedOperator } from '../outputs/feeds/document.js';
import { expectedShards } from '../outputs/lookup/digits.js';
import { SECTIONS } from '../outputs/sections.js';
import { populationOf } from '../register/overview.js';
import type { Overview } from '../register/overview.js';
import type { Kind } from '../schema/field.js';
import { RESOURCES, documentsOf } from '../schema/index.js';
import { shardsToRender } from './examine.js';
import type { Examined } from './examine.js';
import type { Pool } from './workers/pool.js';

/** The routes of records' documents. */
export const RECORD_DOCUMENTS = RESOURCES.flatMap(documentsOf).map(({ route }) => route);

/** The routes of the documents that threads render. */
export const THREADED_ROUTES: readonly string[] = [
  ...RECORD_DOCUMENTS,
  ...SECTIONS.flatMap(({ routes }) => routes),
];

export interface Rendering {
  readonly operator: FeedOperator;
  readonly overview: Overview;
  readonly examined: Examined;
  /** Where changed documents are written. */
  readonly stage: StageSpec;
  /** The previous index, if it is of the same build key. */
  readonly sameBuild: string | undefined;
  /** The newest measurement of the previous snapshot. */
  readonly asOfBefore: string | null;
}

export interface Rendered {
  /** About how many files are rendered in all. */
  readonly expected: number;
  /** How many threads have rendered so far. */
  readonly done: () => number;
  readonly end: Promise<unknown>;
}

/** Starts to render the documents of `THREADED_ROUTES`; those that can't have changed are kept. */
export function startRendering(
  pool: Pool,
  { operator, overview, examined, stage, sameBuild, asOfBefore }: Rendering,
): Rendered {
  const { changed, changedTables } = examined;
  const { patches } = stage.paths;
  let done = 0;
  let expected = FIXED_FILES;
  const onProgress = (steps: number): void => void (done += steps);
  // Without these, everything is rendered.
  const changes = { tables: changed && changedTables, asOf: [overview.asOf, asOfBefore] } as const;
  const sections = SECTIONS.filter(({ due }) => due(changes).length > 0).map(
    ({ name: section, entries: entriesIn }) => {
      const entries = entriesIn?.(overview) ?? 0;
      expected += expectedShards(entries);
      const job = { section, operator, changes, entries, sameBuild, stage };
      return () => pool.run('section', job, { onProgress });
    },
  );
  const shards = shardsToRender(examined, patches).map(
    (render) => () => pool.run('render', { ...render, stage }, { onProgress, folder: render.shard.kind }),
  );
  for (const resource of RESOURCES)
    expected += recordsToRender(resource.kind, examined, overview) * documentsOf(resource).length;
  // Sections compute and make few files, shards make many: together they use processor and disk,
  // and the files count evenly towards the progress.
  const jobs = mixed(sections, shards).map((start) => start());
  return { expected, done: () => done, end: deferRejection(Promise.all(jobs)) };
}

/** The elements of both lists, each spread evenly. */
const mixed = <T>(...lists: readonly (readonly T[])[]): readonly T[] =>
  lists
    .flatMap((list) => list.map((element, index) => ({ element, at: index / list.length })))
    .toSorted((a, b) => a.at - b.at)
    .map(({ element }) => element);

/**
 * The index, statistics, the way to look up, 200 lists of the largest, five others and ten feeds,
 * which every register has.
 */
const FIXED_FILES = 218;

const recordsToRender = (kind: Kind, { changed }: Examined, { populations }: Overview): number =>
  changed === undefined ? populationOf(populations, { kind }).records : changedRecords(changed, kind);

/** How many records of a kind were added, changed or removed. */
export const changedRecords = (changed: NonNullable<Examined['changed']>, kind: Kind): number =>
  [...changed].reduce((sum, [shard, { dirty }]) => sum + (shard.kind === kind ? dirty : 0), 0);
