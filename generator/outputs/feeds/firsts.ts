/** The records of a kind, by when they were measured for the first time. */
import type { Resource } from '../../schema/field.js';
import type { Register } from '../../register/database.js';
import { isPublished, name } from '../../register/sql.js';

export interface First {
  readonly resource: Resource;
  readonly id: number;
  readonly name: string | null;
  readonly measuredAt: string;
}

type FirstRow = readonly [id: number, name: string | null, measuredAt: string];

/**
 * The oldest first; of those from one reading, the lowest id first.
 * @param newest if set, only that many of the newest, in reverse order
 */
export function* firsts(register: Register, resource: Resource, newest?: number): Generator<First> {
  const order =
    newest === undefined ? 'first_measured_at, id' : `first_measured_at DESC, id DESC LIMIT ${newest}`;
  const rows = register.rows<FirstRow>(
    `SELECT id, name, first_measured_at FROM ${name(resource.plural)} WHERE ${isPublished(resource.kind)}` +
      ` ORDER BY ${order}`,
  );
  for (const [id, name, measuredAt] of rows) yield { resource, id, name, measuredAt };
}
