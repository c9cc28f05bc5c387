/** Why a build renders everything, for people who wonder what takes so long. */
import type { BuildKey } from './incremental/build-key.js';
import type { Described } from '../state/schema.js';
import type { Register } from '../register/database.js';
import { literal } from '../register/sql.js';

export interface Cause {
  /** What the published snapshot was made from, if there is one. */
  readonly last: Described | undefined;
  readonly buildKey: BuildKey;
  /** Tables and views that can't be read by ranges of ids, as `view games`. */
  readonly unranged: readonly string[];
  /** Whether the last snapshot has a time in the future. */
  readonly wasAhead: boolean;
}

const VIEWS = '(docs/your-register.md#views-that-stay-fast)';
const GUARD = '(docs/publishing.md#the-removal-guard)';
const SNAPSHOTS = '(docs/publishing.md#snapshots)';

/** @returns null if a build renders only what changed, or is the first one */
export function fullRenderCause({ last, buildKey, unranged, wasAhead }: Cause): string | null {
  if (last === undefined) return null;
  if (unranged.length > 0) return `${unranged.join(', ')} can't be read by id ${VIEWS}`;
  const { buildKey: before, fingerprints } = last;
  if (before === undefined)
    return `what the last snapshot was made from isn't known, as where the state was lost ${SNAPSHOTS}`;
  if (!fingerprints) return `the last build couldn't read the register by id ${SNAPSHOTS}`;
  if (before.code !== buildKey.code) return `the program, Node or a package changed ${SNAPSHOTS}`;
  if (before.schema !== buildKey.schema)
    return `tables, views or indexes of the register changed ${SNAPSHOTS}`;
  if (wasAhead) return `the last snapshot has times that were in the future ${GUARD}`;
  return before.operator === buildKey.operator
    ? null
    : `the operator file, the base URL or a key changed ${SNAPSHOTS}`;
}

/** A table of the register, with what it is: `view games`. */
export function describedTable(register: Register, table: string): string {
  const [type] = register.rows<[string]>(
    `SELECT type FROM main.sqlite_schema WHERE name = ${literal(table)} COLLATE NOCASE AND type IN ('table', 'view')`,
  );
  return `${type?.[0] ?? 'table'} ${table}`;
}
