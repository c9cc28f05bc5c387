/** The names of withheld records, which are hidden where a reference has a name and no id. */
import { platformId, type Kind, type Resource } from '../schema/field.js';
import { recordKey, tablesOf, type Table } from '../schema/schema.js';
import { isTooLong } from './contract.js';
import type { Register } from './database.js';
import { REFERRED, exclusion, literal, name } from './sql.js';

/**
 * Lists the names of withheld records, and every spelling of them that references without an id have:
 * those that fold to the same text (see `withheldAs`). Folding is JavaScript's and takes longer than
 * all else that is done with a row, so it is done here, once for each spelling; queries look for
 * spellings. Idempotent.
 */
export function markNames(register: Register, resources: readonly Resource[]): void {
  const places = resources.flatMap(namePlaces);
  /** What counts as not measured has names of withheld records, too, so tables are read as they are in the register. */
  const source = ({ table, columns }: Pick<NamePlace, 'table' | 'columns'>): string => {
    const found = register.columnsIn(table)?.map((column) => column.toLowerCase()) ?? [];
    return columns.every((column) => found.includes(column)) ? `main.${name(table)}` : name(table);
  };
  for (const kind of REFERRED) {
    const withheld = exclusion('withheld', kind);
    const [hasAny] = register.integers(`SELECT EXISTS (SELECT 1 FROM ${withheld})`);
    if (hasAny === 0n) continue;
    const named = places
      .filter((place) => place.kind === kind)
      .map(
        ({ id, column, isOfKind, isReference, ...place }) =>
          `SELECT ${name(column)} COLLATE BINARY AS spelling, ${name(id)} AS record FROM ${source(place)}` +
          // This leaves out NULL, too. A name that is too long is never published.
          ` WHERE ${isOfKind} AND NOT ${isTooLong(name(column))}` +
          ` AND (${name(id)} IN ${withheld}${isReference ? ` OR ${name(id)} IS NULL` : ''})`,
      );
    register.execute(
      `INSERT OR IGNORE INTO ${exclusion('withheld_name', kind)}` +
        ` WITH named AS MATERIALIZED (${named.join(' UNION ')})` +
        ` SELECT spelling FROM named WHERE record IS NOT NULL OR withheld_as(spelling) IN` +
        ` (SELECT withheld_as(spelling) FROM named WHERE record IS NOT NULL)`,
    );
  }
}

/** Where a table has names of records of a kind, along with their ids. */
interface NamePlace {
  readonly kind: Kind;
  readonly table: string;
  readonly id: string;
  readonly column: string;
  /** All columns that are read. */
  readonly columns: readonly string[];
  /** Condition that a row's id may be of that kind. */
  readonly isOfKind: string;
  /** Whether the row belongs to another record, and may have the name without the id. */
  readonly isReference: boolean;
}

/** A resource's own names, and those in its references, since the register may lack their records. */
const namePlaces = (resource: Resource): readonly NamePlace[] => [
  ...ownNames(resource, [resource.nameColumn, resource.sharedNameColumn, platformId.column.name]),
  ...tablesOf(resource).flatMap(namesInReferences),
];

/** The columns of these names in the tables of a resource. */
const ownNames = (resource: Resource, names: readonly (string | undefined)[]): readonly NamePlace[] =>
  tablesOf(resource).flatMap((table) =>
    table.columns
      .filter((column) => names.includes(column.name))
      .map((column) => ({
        kind: resource.kind,
        table: table.name,
        id: recordKey(table),
        column: column.name,
        columns: [recordKey(table), column.name],
        isOfKind: 'TRUE',
        isReference: false,
      })),
  );

function namesInReferences({ name: table, columns: all }: Table): readonly NamePlace[] {
  const references = new Set(all.flatMap(({ identifies }) => identifies ?? []));
  return [...references].flatMap(({ id, name: column, kind }) =>
    REFERRED.filter((to) => kind === to || kind !== 'user').map((to) => {
      const other = literal(to === 'user' ? 'group' : 'user');
      // If the kind was not measured, the reference may be to either.
      const isOfKind = kind === 'user' ? 'TRUE' : `${name(kind.column)} IS NOT ${other}`;
      const columns = [id, column, ...(kind === 'user' ? [] : [kind.column])];
      return { kind: to, table, id, column, columns, isOfKind, isReference: true };
    }),
  );
}
