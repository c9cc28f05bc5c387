/** The newest records of a kind: those measured for the first time most recently. */
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

/** Newest first; of those from one reading, the highest id first. */
export function* firsts(register: Register, resource: Resource, limit: number): Generator<First> {
  const rows = register.rows<FirstRow>(
    `SELECT id, name, first_measured_at FROM ${name(resource.plural)} WHERE ${isPublished(resource.kind)}` +
      ` ORDER BY first_measured_at DESC, id DESC LIMIT ${limit}`,
  );
  for (const [id, name, measuredAt] of rows) yield { resource, id, name, measuredAt };
}
