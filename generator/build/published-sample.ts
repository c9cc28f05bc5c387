/** Notices what a register says otherwise than before of many records, by a sample of the published documents. */
import { z } from 'zod';
import { readJson } from '../files.js';
import { OwnFolder } from '../links.js';
import type { Register } from '../register/database.js';
import { isPublished, name } from '../register/sql.js';
import { ROUTES, filler, routeNamed } from '../routes/index.js';
import { columnsOf } from '../schema/field.js';
import type { Resource } from '../schema/field.js';

/** How many records are looked at, spread over all ids. */
const SAMPLED = 100;
const STRIDE = 997;
/** A sample of fewer documents says nothing. */
const FEWEST = 10;
/** A count that many times as large, or as small, is in another unit. */
const ANOTHER_UNIT = 100;

/** What is compared, and what a difference means. */
interface Comparison {
  readonly column: string;
  readonly differs: (before: unknown, now: unknown) => boolean;
  readonly meaning: string;
}

const isOther = (before: unknown, now: unknown): boolean => before !== now;
const isOfAnotherUnit = (before: unknown, now: unknown): boolean =>
  typeof before === 'number' &&
  typeof now === 'number' &&
  before > 0 &&
  (now >= ANOTHER_UNIT * before || ANOTHER_UNIT * now <= before);

function comparedOf({ record }: Resource): readonly Comparison[] {
  const columns = columnsOf(record.fields);
  const names = columns.filter((column) => ['name', 'username'].includes(column.name));
  const counts = columns.filter(({ type, nullable }) => type === 'count' && nullable);
  return [
    { column: 'first_measured_at', differs: isOther, meaning: 'ids seem to stand for other records' },
    ...names.map((column) => ({ column: column.name, differs: isOther, meaning: 'another name' })),
    ...counts.map((column) => ({
      column: column.name,
      differs: isOfAnotherUnit,
      meaning: `a count at least ${ANOTHER_UNIT} times as large or small`,
    })),
  ];
}

/**
 * Compares records with their published documents.
 * @param out the published tree
 * @returns for each column that differs in more than half of the documents, what that means, and how many
 */
export function differingColumns(
  register: Register,
  resource: Resource,
  out: string,
): readonly { readonly column: string; readonly message: string }[] {
  const { kind, plural, record } = resource;
  const compared = comparedOf(resource);
  const [fileOf, own] = [filler(routeNamed(ROUTES, record.route).file), new OwnFolder(out)];
  const columns = compared.map(({ column }) => name(column));
  const rows = register.rows<[id: number, ...values: unknown[]]>(
    `SELECT id, ${columns.join(', ')} FROM ${name(plural)} WHERE ${isPublished(kind)}` +
      ` ORDER BY id % ${STRIDE}, id LIMIT ${SAMPLED}`,
  );
  const pairs = [...rows].flatMap(([id, ...values]) => {
    const { data } = z.record(z.string(), z.unknown()).safeParse(readJson(own.readable(fileOf(id))));
    return data === undefined ? [] : [{ data, values }];
  });
  if (pairs.length < FEWEST) return [];
  return compared.flatMap(({ column, differs, meaning }, index) => {
    const count = pairs.filter(({ data, values }) => differs(data[column], values[index])).length;
    if (2 * count <= pairs.length) return [];
    const message = `differs from what is published in ${count} of ${pairs.length} records that were looked at: ${meaning}`;
    return [{ column, message }];
  });
}
