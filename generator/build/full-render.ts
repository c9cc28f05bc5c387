/** Why a build renders everything, for people who wonder what takes so long. */
import type { BuildKey } from './incremental/build-key.js';
import type { Index } from '../tree/index-json.js';
import type { Register } from '../register/database.js';
import { literal } from '../register/sql.js';

export interface Cause {
  /** The published index, if any. */
  readonly index: Index | undefined;
  readonly buildKey: BuildKey;
  /** Tables and views that can't be read by ranges of ids, as `view games`. */
  readonly unranged: readonly string[];
}

const VIEWS = '(docs/your-register.md#views-that-stay-fast)';
const SNAPSHOTS = '(docs/publishing.md#snapshots)';

/** @returns null if a build renders only what changed, or is the first one */
export function fullRenderCause({ index, buildKey, unranged }: Cause): string | null {
  if (index === undefined) return null;
  if (unranged.length > 0) return `${unranged.join(', ')} can't be read by id ${VIEWS}`;
  const { buildKey: before, fingerprints } = index;
  if (before === undefined)
    return `what the last snapshot was made from isn't known, as after a rollback ${SNAPSHOTS}`;
  if (!fingerprints) return `the last build couldn't read the register by id ${SNAPSHOTS}`;
  if (before.code !== buildKey.code) return `the program, Node or a package changed ${SNAPSHOTS}`;
  if (before.schema !== buildKey.schema)
    return `tables, views or indexes of the register changed ${SNAPSHOTS}`;
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
