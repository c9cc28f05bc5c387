/** Has the threads render the sections of a snapshot that may have changed. */
import { deferRejection } from '../base/progress.js';
import type { StageSpec } from '../publish/stage.js';
import type { FeedOperator } from '../outputs/feeds/document.js';
import { expectedShards } from '../outputs/lookup/digits.js';
import { SECTIONS } from '../outputs/sections.js';
import type { Overview } from '../register/overview.js';
import { RESOURCES, documentsOf } from '../schema/schema.js';
import type { RenderedRecords } from './records.js';
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
  readonly records: RenderedRecords;
  /** Where changed documents are written. */
  readonly stage: StageSpec;
  /** Whether the previous snapshot is of the same build key. */
  readonly isSameBuild: boolean;
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

/** Starts to render the sections; those that can't have changed are kept. */
export function startSections(
  pool: Pool,
  { operator, overview, records, stage, isSameBuild, asOfBefore }: Rendering,
): Rendered {
  const { changed, changedTables } = records;
  let done = 0;
  let expected = FIXED_FILES;
  const onProgress = (steps: number): void => void (done += steps);
  const jobs: Promise<void>[] = [];
  // Without these, everything is rendered.
  const changes = { tables: changed && changedTables, asOf: [overview.asOf, asOfBefore] } as const;
  for (const { name: section, due, entries: entriesIn } of SECTIONS) {
    if (due(changes).length === 0) continue;
    const entries = entriesIn?.(overview) ?? 0;
    expected += expectedShards(entries);
    jobs.push(
      pool.run('section', { section, operator, changes, entries, isSameBuild, stage }, { onProgress }),
    );
  }
  return { expected, done: () => done, end: deferRejection(Promise.all(jobs)) };
}

/**
 * The index, statistics, the ways to look up and to the pages of names, 200 lists of the largest, eight
 * others and ten feeds, which every register has.
 */
const FIXED_FILES = 222;
