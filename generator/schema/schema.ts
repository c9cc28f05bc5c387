/** All resources, and the register's tables derived from them. */
import {
  KINDS,
  columnsOf,
  oneOf,
  id,
  required,
  time,
  type Column,
  type Document,
  type History,
  type Kind,
  type Resource,
} from './field.js';
import { game } from './game.js';
import { group } from './group.js';
import { item } from './item.js';
import { user } from './user.js';

export const RESOURCES: readonly Resource[] = [group, user, game, item];

export function resourceOf(kind: Kind): Resource {
  const found = RESOURCES.find((resource) => resource.kind === kind);
  if (found === undefined) throw new TypeError(`no resource is of kind "${kind}"`);
  return found;
}

/** The documents of each record. */
export const documentsOf = ({ record, history }: Resource): readonly Document[] => [
  record,
  ...(history === undefined ? [] : [history]),
];

/** A table (or view) of the register, as the contract names it. */
export interface Table {
  readonly name: string;
  /** The columns that identify a row, in reading order. */
  readonly key: readonly Column[];
  readonly columns: readonly Column[];
  /** The kind of the record that a row is or belongs to; null for the withheld list. */
  readonly kind: Kind | null;
}

const WITHHELD_KEY = [
  required(oneOf('kind', KINDS, 'Kind of the record.')).column,
  required(id('id', 7, 'Id of the record.')).column,
];

/** Records that are published nowhere. */
export const WITHHELD: Table = {
  name: 'withheld',
  key: WITHHELD_KEY,
  columns: [
    ...WITHHELD_KEY,
    required(time('since', '2026-01-01T00:00:00Z', 'Since when the record has been withheld.')).column,
  ],
  kind: null,
};

/** The column that identifies the record that a row of a table is or belongs to. */
export function recordKey({ name: table, key: [key] }: Table): string {
  if (key === undefined) throw new TypeError(`"${table}" has no key`);
  return key.name;
}

/** The table of a resource's records. */
export function recordTable(resource: Resource): Table {
  const columns = columnsOf(resource.record.fields);
  return {
    name: resource.plural,
    key: columns.filter((column) => column.name === 'id'),
    columns,
    kind: resource.kind,
  };
}

/** The table of a resource's history. */
export function historyTable(resource: Resource, history: History): Table {
  const key = [history.key, history.order];
  const rest = columnsOf(history.fields).filter((column) => column.name !== history.order.name);
  return { name: history.table, key, columns: [...key, ...rest], kind: resource.kind };
}

/** A resource's tables, starting with that of its records. */
export const tablesOf = (resource: Resource): readonly Table[] => [
  recordTable(resource),
  ...resource.histories.map((history) => historyTable(resource, history)),
];

/** The tables of records and histories. */
export const MEASURED_TABLES: readonly Table[] = RESOURCES.flatMap(tablesOf);

/** Every table of the contract (`data/schema.sql`). */
export const TABLES: readonly Table[] = [...MEASURED_TABLES, WITHHELD];
