/** Notices ids that stand for other records than before, by a sample of the published documents. */
import { join } from 'node:path';
import { z } from 'zod';
import { readJson } from './files.js';
import type { Register } from './register/database.js';
import { isPublished, name } from './register/sql.js';
import { ROUTES, filler, routeNamed } from './routes/index.js';
import type { Resource } from './schema/field.js';

/** How many records are looked at, spread over all ids. */
const SAMPLED = 100;
const STRIDE = 997;

const published = z.object({ first_measured_at: z.string() });

/**
 * Compares when records were first measured, which never changes, with the published documents.
 * @param out the published tree
 * @returns how many were compared, and how many of them differ
 */
export function exchangedIds(
  register: Register,
  { kind, plural, record }: Resource,
  out: string,
): { readonly compared: number; readonly other: number } {
  const fileOf = filler(routeNamed(ROUTES, record.route).file);
  const rows = register.rows<[id: number, first: string]>(
    `SELECT id, first_measured_at FROM ${name(plural)} WHERE ${isPublished(kind)}` +
      ` ORDER BY id % ${STRIDE}, id LIMIT ${SAMPLED}`,
  );
  const isOther = [...rows].flatMap(([id, first]) => {
    const { data } = published.safeParse(readJson(join(out, fileOf(id))));
    return data === undefined ? [] : [data.first_measured_at !== first];
  });
  return { compared: isOther.length, other: isOther.filter(Boolean).length };
}
