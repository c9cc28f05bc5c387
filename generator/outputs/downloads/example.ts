/** What recipes for the downloads show. */
import type { Resource } from '../../schema/field.js';
import { group } from '../../schema/group.js';

/**
 * A table, its column of names, and the documents of its records.
 * @param kinds those that have files
 */
export function exampleOf([resource = group]: readonly Resource[]) {
  const { plural, record, nameColumn = 'name' } = resource;
  return { table: plural, name: nameColumn, documents: `documents/${record.route}.ndjson.gz` };
}
