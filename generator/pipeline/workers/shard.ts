/**
 * The job of a shard, in one pass over its records: finds out which changed, checks them, renders and
 * stages their documents.
 */
import { isDeepStrictEqual } from 'node:util';
import { changedRecords, records, type RecordDocument } from '../../register/records.js';
import { Comparer } from '../../state/compare.js';
import { StageWriter } from '../../publish/stage-writer.js';
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
}

/** The result of a shard that was not looked into. */
export const nothingOf = ({ kind }: Shard): ShardResult => ({
  kind,
  tables: [],
  changed: 0,
  findings: [],
  invalid: [],
});

/** If a larger share of records changed, all are checked: separate lookups take longer. */
const CHECKED_APART = 0.1;

export function buildShard(context: Context, { shard, stage, detection }: ShardJob): ShardResult {
  const { register } = context;
  const { kind } = shard;
  if (detection === undefined) {
    renderShard(context, shard, undefined, stage);
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
  if (isWhole) renderShard(context, shard, undefined, stage);
  else if (changed.length > 0) renderShard(context, shard, changed, stage);
  return { kind, tables, changed: changed.length, findings, invalid };
}

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
  const rows = tables.find(({ table }) => table === resourceOf(kind).plural)?.rows ?? 0;
  if (isWhole || changed.length > CHECKED_APART * rows)
    return checkRecords(register, kind, shard, skipInvalid);
  const shared = sharedIds(register, kind, shard);
  const ids = [...new Set([...changed, ...excluded, ...shared])].toSorted((a, b) => a - b);
  if (ids.length === 0) return [];
  register.scope('changed', rangesOf(kind, ids));
  return checkRecords(register, kind, 'changed', skipInvalid);
}

/** Renders the documents of a shard or of what changed in it, and removes those whose records are gone. */
function renderShard(
  { register, advance }: Context,
  shard: Shard,
  changed: readonly number[] | undefined,
  stage: StageSpec,
): void {
  using writer = new StageWriter(stage, shard.part, ROUTES);
  const resource = resourceOf(shard.kind);
  const writers = new Map(documentsOf(resource).map(({ route }) => [route, writer.route(route, shard)]));
  const put = ({ route, key, body }: RecordDocument): void => {
    writers.get(route)?.put(key, body);
    advance(1);
  };
  if (changed === undefined) {
    for (const output of records(register, resource, shard)) put(output);
  } else {
    for (const { key, documents } of changedRecords(register, resource, changed)) {
      for (const each of writers.values()) each.keepBelow(key);
      for (const document of documents) put(document);
      if (documents.length === 0) for (const each of writers.values()) each.remove(key);
    }
    for (const each of writers.values()) each.keepBelow(Number.POSITIVE_INFINITY);
  }
  writer.finish();
}
