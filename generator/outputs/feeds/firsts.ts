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

/** So many of the newest, newest first. */
export function* newestFirsts(register: Register, resource: Resource, count: number): Generator<First> {
  const { kind, plural, nameColumn = 'name' } = resource;
  const rows = register.rows<FirstRow>(
    `SELECT id, ${name(nameColumn)}, first_measured_at FROM ${name(plural)}` +
      ` WHERE first_measured_at IS NOT NULL AND ${isPublished(kind)}` +
      ` ORDER BY first_measured_at DESC, id DESC LIMIT ${count}`,
  );
  for (const [id, called, measuredAt] of rows) yield { resource, id, name: called, measuredAt };
}
