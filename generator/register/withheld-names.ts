/** The names of withheld records, which are hidden where a reference has a name and no id. */
import { amountOf } from '../base/progress.js';
import { platformId, type Kind, type Resource } from '../schema/field.js';
import { RESOURCES, recordKey, tablesOf, type Table } from '../schema/schema.js';
import { MAX_TEXT_BYTES } from '../schema/shape.js';
import { isTooLong } from './contract.js';
import type { Register } from './database.js';
import { SHOWN_EXAMPLES, type Warning } from './findings.js';
import { REFERRED, exclusion, isPublished, literal, name } from './sql.js';

/**
 * Lists the names of withheld records, and every spelling of them that references without an id have:
 * those that fold to the same text (see `withheldAs`). Folding is JavaScript's and takes longer than
 * all else that is done with a row, so it is done here, once for each spelling; queries look for
 * spellings. Idempotent.
 */
export function markNames(register: Register, resources: readonly Resource[]): void {
  const places = resources.flatMap(namePlaces);
  for (const kind of REFERRED) {
    const withheld = exclusion('withheld', kind);
    const [hasAny] = register.integers(`SELECT EXISTS (SELECT 1 FROM ${withheld})`);
    if (hasAny === 0n) continue;
    const named = places
      .filter((place) => place.kind === kind)
      .map(
        ({ table, id, column, isOfKind, isReference }) =>
          `SELECT ${name(column)} COLLATE BINARY AS spelling, ${name(id)} AS whose FROM ${name(table)}` +
          // NULL is not listed either, and what is too long is never published.
          ` WHERE ${isOfKind} AND NOT ${isTooLong(name(column))}` +
          ` AND (${name(id)} IN ${withheld}${isReference ? ` OR ${name(id)} IS NULL` : ''})`,
      );
    register.execute(
      `INSERT OR IGNORE INTO ${exclusion('withheld_name', kind)}` +
        ` WITH named AS MATERIALIZED (${named.join(' UNION ')})` +
        ` SELECT spelling FROM named WHERE whose IS NOT NULL OR withheld_as(spelling) IN` +
        ` (SELECT withheld_as(spelling) FROM named WHERE whose IS NOT NULL)`,
    );
  }
}

/** The text under which a name is withheld; of one that is too long, something else. */
const foldedOf = (column: string): string => `withheld_as(substr(${name(column)}, 1, ${MAX_TEXT_BYTES}))`;

/** Where a table has names of records of a kind, along with their ids. */
interface NamePlace {
  readonly kind: Kind;
  readonly table: string;
  readonly id: string;
  readonly column: string;
  /** Condition that a row's id may be of that kind. */
  readonly isOfKind: string;
  /** Whether the row is another record's, which may have the name without the id. */
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
        isOfKind: 'TRUE',
        isReference: false,
      })),
  );

function namesInReferences({ name: table, columns }: Table): readonly NamePlace[] {
  const references = new Set(columns.flatMap(({ identifies }) => identifies ?? []));
  return [...references].flatMap(({ id, name: column, kind }) =>
    REFERRED.filter((to) => kind === to || kind !== 'user').map((to) => {
      const other = literal(to === 'user' ? 'group' : 'user');
      // If the kind was not measured, the reference may be to either.
      const isOfKind = kind === 'user' ? 'TRUE' : `${name(kind.column)} IS NOT ${other}`;
      return { kind: to, table, id, column, isOfKind, isReference: true };
    }),
  );
}

/**
 * Warns of names that withheld records may share with others: of how many records each hides an owner
 * or creator that has no id. The records' unique names hide, too, and are not counted.
 */
export const hidingOthers = (register: Register): readonly Warning[] =>
  RESOURCES.flatMap((resource): readonly Warning[] => {
    const { kind, plural, nameColumn, sharedNameColumn: column } = resource;
    if (column === undefined) return [];
    const withheld = exclusion('withheld', kind);
    const unique = ownNames(resource, [nameColumn]).map(
      (own) =>
        `SELECT ${foldedOf(own.column)} FROM ${name(own.table)}` +
        ` WHERE ${name(own.id)} IN ${withheld} AND ${name(own.column)} IS NOT NULL`,
    );
    const hidden = RESOURCES.flatMap((other) =>
      tablesOf(other).flatMap((table) =>
        namesInReferences(table)
          .filter((reference) => reference.kind === kind)
          .map(({ id, column: named, isOfKind }) => {
            const key = recordKey(table);
            return (
              `SELECT ${literal(other.kind)} AS kind, ${name(key)} AS record, ${foldedOf(named)} AS folded` +
              ` FROM ${name(table.name)} WHERE ${isOfKind} AND ${name(id)} IS NULL` +
              ` AND ${name(named)} COLLATE BINARY IN ${exclusion('withheld_name', kind)}` +
              ` AND ${isPublished(other.kind, key)}`
            );
          }),
      ),
    );
    const shared =
      `SELECT id, ${foldedOf(column)} AS folded FROM ${name(plural)} WHERE id IN ${withheld}` +
      ` AND ${name(column)} IS NOT NULL AND ${foldedOf(column)} NOT IN (${unique.join(' UNION ')})`;
    // Without any, no table has to be read.
    if (register.integers(shared).length === 0) return [];
    const found = [
      ...register.rows<[id: number, records: number]>(
        `SELECT id, count(*) AS records FROM (${shared}) JOIN (${hidden.join(' UNION ')}) USING (folded)` +
          ` GROUP BY id ORDER BY records DESC, id`,
      ),
    ];
    if (found.length === 0) return [];
    return [
      {
        table: plural,
        column,
        message: `of withheld ${plural} hides owners or creators without an id, who may be others`,
        count: found.reduce((sum, [, records]) => sum + records, 0),
        examples: found
          .slice(0, SHOWN_EXAMPLES)
          .map(([id, records]) => `id = ${id} (${amountOf(records, 'records')})`),
      },
    ];
  });
