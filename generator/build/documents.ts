/** Has the threads render the documents of a snapshot that may have changed. */
import { deferRejection } from '../progress.js';
import type { StageSpec } from '../publish/stage-writer.js';
import { RENDERED_FEEDS, stayingFeeds } from '../outputs/feeds/contents.js';
import type { FeedOperator } from '../outputs/feeds/document.js';
import { LOOKUP_ROUTES, dueSections } from '../outputs/lookup/index.js';
import { LIST_ROUTES, stayingLists } from '../outputs/lists/index.js';
import { populationOf } from '../register/overview.js';
import type { Overview } from '../register/overview.js';
import { routeNames } from '../routes/feeds.js';
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
  ...RENDERED_FEEDS.flatMap(routeNames),
  ...LIST_ROUTES,
  ...LOOKUP_ROUTES,
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
  const onProgress = (steps: number): void => void (done += steps);
  const jobs: Promise<void>[] = [];
  const { asOf } = overview;
  const times = [asOf, asOfBefore] as const;
  // Without these, everything is rendered.
  const tables = changed && changedTables;
  const staying = stayingFeeds(tables, times);
  // First, since it is the longest job.
  if (staying.length < RENDERED_FEEDS.length) {
    const feeds = { operator, asOf, staying, old: sameBuild, patches, stage };
    jobs.push(pool.run('feeds', feeds, { onProgress }));
  }
  const lists = { asOf, staying: stayingLists(tables, times) };
  if (lists.staying.length < LIST_ROUTES.length)
    jobs.push(pool.run('lists', { ...lists, stage }, { onProgress }));
  const lookup = dueSections(overview, tables);
  for (const due of lookup) jobs.push(pool.run('lookup', { ...due, stage }, { onProgress }));
  for (const render of shardsToRender(examined, patches))
    jobs.push(pool.run('render', { ...render, stage }, { onProgress, folder: render.shard.kind }));
  const expected = RESOURCES.reduce(
    (sum, { kind, ...resource }) =>
      sum + recordsToRender(kind, examined, overview) * documentsOf({ kind, ...resource }).length,
    lookup.reduce((sum, due) => sum + due.expected, FIXED_FILES),
  );
  return { expected, done: () => done, end: deferRejection(Promise.all(jobs)) };
}

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
