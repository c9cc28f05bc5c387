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

const published = ({ plural, kind }: Resource): string =>
  `FROM ${name(plural)} WHERE first_measured_at IS NOT NULL AND ${isPublished(kind)}`;

/** The newest, in reverse order. */
export const newestFirsts = (register: Register, resource: Resource, count: number): Generator<First> =>
  read(register, resource, `ORDER BY first_measured_at DESC, id DESC LIMIT ${count}`);

/**
 * The newest, and all others of their months; oldest first. Of those from one reading, the lowest
 * id first.
 * @param count how many at least, if there are as many
 */
export function firstsOfMonths(register: Register, resource: Resource, count: number): Generator<First> {
  const month =
    `SELECT substr(first_measured_at, 1, ${'YYYY-MM'.length}) ${published(resource)}` +
    ` ORDER BY first_measured_at DESC LIMIT 1 OFFSET ${count - 1}`;
  return read(
    register,
    resource,
    `AND first_measured_at >= coalesce((${month}), '') ORDER BY first_measured_at, id`,
  );
}

function* read(register: Register, resource: Resource, which: string): Generator<First> {
  const rows = register.rows<FirstRow>(
    `SELECT id, ${name(resource.nameColumn ?? 'name')}, first_measured_at ${published(resource)} ${which}`,
  );
  for (const [id, called, measuredAt] of rows) yield { resource, id, name: called, measuredAt };
}
