/**
 * The job of a shard, in one pass over its records: finds out which changed, checks them, renders and
 * stages their documents.
 */
import { isDeepStrictEqual } from 'node:util';
import { DocumentsWriter, type DocumentsRange } from '../../exports/documents.js';
import { changedRecords, records } from '../../register/records.js';
import { Comparer } from '../../state/compare.js';
import { StageWriter, type RouteWriter } from '../../publish/stage-writer.js';
import type { StageSpec } from '../../publish/stage.js';
import { checkRecords, type StepReport } from '../../register/check.js';
import type { Context } from '../../register/context.js';
import type { Register } from '../../register/database.js';
import { isPublishable } from '../../register/findings.js';
import { excludedIds, includeInvalid, invalidIds, sharedIds } from '../../register/overview.js';
import { rangesOf } from '../../register/sql.js';
import type { Kind } from '../../schema/field.js';
import { documentsOf, resourceOf } from '../../schema/schema.js';
import { ROUTES } from '../../routes/routes.js';
import { detectChanges, type Detected, type Shard, type TableChanges } from '../incremental/detect.js';

/** How the records of a shard are compared and checked. */
export interface ShardDetection {
  /** Whether there are fingerprints to compare with. */
  readonly isComparable: boolean;
  /** Whether all are checked and rendered: something else differs from the previous snapshot. */
  readonly isWhole: boolean;
  readonly skipInvalid: boolean;
  /** Whether downloads will be written: then documents are compressed for them while they are rendered. */
  readonly hasDownloads: boolean;
  /** One integer that threads share: 1 from when a register can't be published. */
  readonly refused: Int32Array;
}

export interface ShardJob {
  readonly shard: Shard;
  readonly stage: StageSpec;
  /** Undefined if tables can't be read by ranges of ids: all records are rendered, and are checked already. */
  readonly detection: ShardDetection | undefined;
}

export interface ShardResult {
  readonly kind: Kind;
  /** Nothing if changes were not looked for. */
  readonly tables: readonly TableChanges[];
  /** How many records were added, changed or removed. */
  readonly changed: number;
  readonly findings: readonly StepReport[];
  /** The ids of the records that are left out as invalid, ascending. */
  readonly invalid: readonly number[];
  /** Its documents in the downloads. */
  readonly documents: DocumentsRange;
}

/** The result of a shard that was not looked into. */
export const nothingOf = ({ kind, low, high }: Shard): ShardResult => ({
  kind,
  tables: [],
  changed: 0,
  findings: [],
  invalid: [],
  documents: { low, high, parts: undefined },
});

/** If a larger share of records changed, all are checked: separate lookups take longer. */
const CHECKED_APART = 0.1;
/** If a larger share changed, all are rendered: the download of documents has the others as well. */
const RENDERED_APART = 0.5;

export function buildShard(context: Context, { shard, stage, detection }: ShardJob): ShardResult {
  const { register } = context;
  const { kind } = shard;
  if (detection === undefined) {
    renderAll(context, shard, stage, false);
    return nothingOf(shard);
  }
  const { isWhole, skipInvalid, refused } = detection;
  // The register is about to be checked as a whole.
  if (Atomics.load(refused, 0) === 1) return nothingOf(shard);

  // Compare: what is left out as invalid is so until it is checked again.
  const excluded = excludedIds(register, kind, shard);
  using comparer = new Comparer(stage.compared);
  let detected = detectChanges(register, shard, comparer, detection.isComparable);

  // Check what changed.
  if (skipInvalid) includeInvalid(register, kind, shard);
  const findings = checkChanged(register, shard, detected, excluded, detection);
  if (!findings.every(({ report }) => isPublishable(report, skipInvalid))) {
    Atomics.store(refused, 0, 1);
    return nothingOf(shard);
  }
  const invalid = invalidIds(register, kind, shard);

  // Compare again if other records are left out by now: fingerprints are of what is published.
  if (!isDeepStrictEqual(excludedIds(register, kind, shard), excluded)) {
    comparer.forget();
    detected = detectChanges(register, shard, comparer, detection.isComparable);
  }
  comparer.finish();
  const { tables, changed } = detected;

  // Render.
  const isCompressed = detection.hasDownloads && (!detection.isComparable || changed.length > 0);
  let parts: DocumentsRange['parts'];
  if (isWhole || changed.length > RENDERED_APART * rowsOf(shard, tables))
    parts = renderAll(context, shard, stage, isCompressed);
  else if (changed.length > 0) renderChanged(context, shard, changed, stage);
  const { low, high } = shard;
  return { kind, tables, changed: changed.length, findings, invalid, documents: { low, high, parts } };
}

/** How many records of a shard are published. */
const rowsOf = ({ kind }: Shard, tables: readonly TableChanges[]): number =>
  tables.find(({ table }) => table === resourceOf(kind).plural)?.rows ?? 0;

/**
 * Checks the records that changed, those that were excluded, which have no fingerprints, and those that
 * share an id of the platform with any record, since that one may have changed.
 */
function checkChanged(
  register: Register,
  shard: Shard,
  { tables, changed }: Detected,
  excluded: readonly number[],
  { isWhole, skipInvalid }: ShardDetection,
): readonly StepReport[] {
  const { kind } = shard;
  if (isWhole || changed.length > CHECKED_APART * rowsOf(shard, tables))
    return checkRecords(register, kind, shard, skipInvalid);
  const shared = sharedIds(register, kind, shard);
  const ids = [...new Set([...changed, ...excluded, ...shared])].toSorted((a, b) => a - b);
  if (ids.length === 0) return [];
  register.scope('changed', rangesOf(kind, ids));
  return checkRecords(register, kind, 'changed', skipInvalid);
}

/**
 * Renders all documents of a shard, and removes those whose records are gone.
 * @param isCompressed whether they are compressed for the download, too, since their bytes are at hand
 */
function renderAll(
  { register, advance }: Context,
  shard: Shard,
  stage: StageSpec,
  isCompressed: boolean,
): DocumentsRange['parts'] {
  using writer = new StageWriter(stage, shard.part, ROUTES);
  const writers = writersOf(writer, shard);
  using parts = isCompressed
    ? new DocumentsWriter(register, shard.kind, stage.paths.scratch, shard.part)
    : undefined;
  for (const { route, key, body } of records(register, resourceOf(shard.kind), shard)) {
    const content = Buffer.from(body);
    writers.get(route)?.put(key, content);
    parts?.add(route, content);
    advance(1);
  }
  writer.finish();
  return parts?.finishParts();
}

/** Renders the documents of what changed in a shard, and removes those whose records are gone. */
function renderChanged(
  { register, advance }: Context,
  shard: Shard,
  changed: readonly number[],
  stage: StageSpec,
): void {
  using writer = new StageWriter(stage, shard.part, ROUTES);
  const writers = writersOf(writer, shard);
  for (const { key, documents } of changedRecords(register, resourceOf(shard.kind), changed)) {
    for (const each of writers.values()) each.keepBelow(key);
    for (const { route, body } of documents) {
      writers.get(route)?.put(key, body);
      advance(1);
    }
    if (documents.length === 0) for (const each of writers.values()) each.remove(key);
  }
  for (const each of writers.values()) each.keepBelow(Number.POSITIVE_INFINITY);
  writer.finish();
}

const writersOf = (writer: StageWriter, shard: Shard): ReadonlyMap<string, RouteWriter> =>
  new Map(documentsOf(resourceOf(shard.kind)).map(({ route }) => [route, writer.route(route, shard)]));
