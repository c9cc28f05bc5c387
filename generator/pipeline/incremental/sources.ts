/** What fingerprints of the register's rows are of. */
import type { Kind } from '../../schema/field.js';
import { RESOURCES, tablesOf } from '../../schema/schema.js';

/** The rows of a table, by chunks of records, each under its lowest id. */
export const chunksOf = (table: string): string => `chunks-${table}`;
/** All rows of a record, by its id. */
export const recordsOf = (kind: Kind): string => `records-${kind}`;

export const FINGERPRINTS: readonly string[] = RESOURCES.flatMap((resource) => [
  recordsOf(resource.kind),
  ...tablesOf(resource).map((table) => chunksOf(table.name)),
]);

const IDS = new Map(FINGERPRINTS.map((name, index) => [name, index + 1]));

/** The id under which the state has a source: those of another version of the code are not compared. */
export function sourceId(name: string): number {
  const id = IDS.get(name);
  if (id === undefined) throw new TypeError(`no fingerprints are named "${name}"`);
  return id;
}
