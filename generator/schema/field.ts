/**
 * The vocabulary of resource declarations. A resource defines each field once: column, place in the
 * JSON, type, unit, meaning and example. SQL, JSON and the register check are derived from it.
 */

import {
  NOT_MEASURED,
  type ColumnType,
  type ObjectShape,
  type Shape,
  type Value,
  type ValueShape,
} from './shape.js';

export const KINDS = ['group', 'user', 'game', 'item'] as const;
export type Kind = (typeof KINDS)[number];

/** A column of the register. */
export interface Column extends Value {
  readonly type: ColumnType;
  readonly example: string | number | boolean;
  /** A `time` column of the same row that this time may not be later than. */
  readonly notAfter?: string;
  /** An `enum` of the same row, and the words that say that there is no such value. */
  readonly nullWhere?: { readonly column: string; readonly values: readonly string[] };
  /** Set if the value identifies another record; published as null if that one is withheld. */
  readonly identifies?: Reference;
  /** Whether it identifies the row as an id does: no two rows have the same, and none has one for an id. */
  readonly isId?: true;
}

/** The record that a row's columns refer to: a user or a group, or either if not measured. */
export interface Reference {
  readonly id: string;
  readonly name: string;
  /** The kind of that record, or the column that holds it. */
  readonly kind: 'user' | { readonly column: string };
}

/** A column published under its own name, or under a part's name inside an object. */
export interface ColumnField {
  readonly is: 'column';
  readonly name: string;
  readonly column: Column;
}

/** An object of columns; null if all its parts are null. */
export interface ObjectField {
  readonly is: 'object';
  readonly name: string;
  readonly description: string;
  readonly nullMeans: string;
  readonly fields: readonly ColumnField[];
}

/** A value that SQL computes from the row, or from its neighbours in a history (see `History`). */
export interface ComputedField extends Value {
  readonly is: 'computed';
  readonly type: ColumnType;
  readonly sql: string;
}

/**
 * Paths of the record itself and of related documents, by link name: the name of a route by the
 * record's own id, or the record that its columns refer to. The latter may not be in the register.
 */
export interface LinksField {
  readonly is: 'links';
  readonly name: 'links';
  readonly description: string;
  readonly targets: Readonly<Record<string, string | Reference>>;
}

/** The entries of a history, as a list. */
export interface ListField {
  readonly is: 'list';
  readonly name: string;
  readonly description: string;
  readonly history: string;
}

/** A value that JavaScript computes from a history's entries, because SQL is unsuitable. */
export interface DerivedField {
  readonly is: 'derived';
  readonly name: string;
  readonly history: string;
  /** The columns of the history that it reads; the number of entries is always available. */
  readonly reads: readonly Column[];
  readonly shape: ValueShape | ObjectShape;
  /** Computes what `shape` describes. */
  readonly compute: (entries: Entries) => Computed;
}

/** The value of a derived field. */
export type Computed = string | number | null | { readonly [member: string]: Computed };

/** A record's history, oldest entry first. */
export interface Entries {
  readonly count: number;
  /** Oldest first: values by column name, of at least the columns that the field reads. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

export type Field = ColumnField | ObjectField | ComputedField | LinksField | ListField | DerivedField;
/** A field of a history's entry: one that SQL can express. */
export type EntryField = ColumnField | ObjectField | ComputedField;

/**
 * The ordered rows of a record. A computed field's SQL may use two more columns: `previous_last`,
 * the `last_measured_at` of the previous entry, and `is_last`, 1 for the newest entry.
 */
export interface History {
  readonly name: string;
  readonly table: string;
  readonly description: string;
  readonly key: Column;
  /** Orders the entries of one record, oldest first. */
  readonly order: Column;
  readonly fields: readonly EntryField[];
  /** Columns of the newest entry that must equal those of the record, if both are measured. */
  readonly agrees: Readonly<Record<string, string>>;
}

/** One JSON document per record, at the route of that name. */
export interface Document {
  readonly route: string;
  readonly fields: readonly Field[];
}

/** A kind of record: its table, its histories and their documents. */
export interface Resource {
  readonly kind: Kind;
  /** The name of the table, and of the kind in the plural. */
  readonly plural: string;
  readonly record: Document;
  /** A second document with the histories, if the kind has any. */
  readonly history?: Document;
  readonly histories: readonly History[];
  /** Columns that /api/v1/stats sums up. */
  readonly totals: readonly string[];
  /** The column of its names, here and in histories, if references may name it without an id. */
  readonly nameColumn?: string;
  /** The column of other names, which several records may share. */
  readonly sharedNameColumn?: string;
}

type Details = Partial<
  Pick<
    Column,
    'unit' | 'values' | 'meanings' | 'nullMeans' | 'notAfter' | 'nullWhere' | 'identifies' | 'isId'
  >
>;

/** A column published under its own name. Nullable unless wrapped in `required`. */
function column(
  name: string,
  type: ColumnType,
  example: Column['example'],
  description: string,
  details: Details = {},
): ColumnField {
  return {
    is: 'column',
    name,
    column: { name, type, nullable: true, nullMeans: NOT_MEASURED, description, example, ...details },
  };
}

export const id = (name: string, example: number, description: string, details?: Details) =>
  column(name, 'id', example, description, details);
export const ordinal = (name: string, example: number, description: string) =>
  column(name, 'ordinal', example, description);
export const count = (
  name: string,
  unit: string,
  example: number,
  description: string,
  details: Details = {},
) => column(name, 'count', example, description, { unit, ...details });
export const bool = (name: string, example: boolean, description: string) =>
  column(name, 'boolean', example, description);
export const time = (name: string, example: string, description: string, details?: Details) =>
  column(name, 'time', example, description, details);
/** A date of the platform's own, of which the time of day may not be known. */
export const date = (name: string, example: string, description: string, details?: Details) =>
  column(name, 'date', example, description, details);
export const text = (name: string, example: string, description: string, details?: Details) =>
  column(name, 'text', example, description, details);
/** A word. @param words all of them; with their meanings, unless these are obvious */
export function oneOf(
  name: string,
  words: readonly string[] | Readonly<Record<string, string>>,
  description: string,
): ColumnField {
  const details = isList(words) ? { values: words } : { values: Object.keys(words), meanings: words };
  return column(name, 'enum', details.values[0] ?? '', description, details);
}

const isList = (words: readonly string[] | object): words is readonly string[] => Array.isArray(words);

/** The same field, never null. */
export function required(field: ColumnField): ColumnField {
  const { nullMeans: _, ...column } = field.column;
  return { ...field, column: { ...column, nullable: false } };
}

/** An object of columns. */
export function object(
  name: string,
  description: string,
  parts: Readonly<Record<string, ColumnField>>,
  nullMeans = NOT_MEASURED,
): ObjectField {
  const fields = Object.entries(parts).map(([part, field]) => ({ ...field, name: part }));
  return { is: 'object', name, description, nullMeans, fields };
}

/** All columns that fields publish, including nested ones. */
export function columnsOf(fields: readonly Field[]): Column[] {
  return fields.flatMap((field) => {
    if (field.is === 'column') return [field.column];
    return field.is === 'object' ? field.fields.map((part) => part.column) : [];
  });
}

/** The id that the platform itself gives a record, where a number can't hold it. */
export const platformId: ColumnField = text(
  'platform_id',
  '81384788765712384',
  'Id on the platform, exactly as read, where that is not a number up to 2^53 − 1.',
  { isId: true, nullMeans: '`id` is the id on the platform, or that was not measured' },
);

/** The last fields of every record, before its links. */
export const measured: readonly ColumnField[] = [
  time('first_measured_at', '2024-03-01T12:00:00Z', 'When the register first measured the record.', {
    notAfter: 'measured_at',
  }),
  required(time('measured_at', '2026-11-20T08:00:00Z', 'When the register last measured the record.')),
  count('measurements', 'measurements', 42, 'Number of times the record has been measured.'),
  platformId,
];

/** The shape of a field. A list has the members of its history. */
export function shapeOf(field: Field, histories: readonly History[]): Shape {
  const { name } = field;
  switch (field.is) {
    case 'column':
      return { ...field.column, is: 'value', name };
    case 'computed':
      return { ...field, is: 'value' };
    case 'derived':
      return field.shape;
    case 'object': {
      const { description, nullMeans, fields } = field;
      const members = shapesOf(fields, histories);
      return { is: 'object', name, nullable: true, nullMeans, description, members };
    }
    case 'list': {
      const history = histories.find((candidate) => candidate.name === field.history);
      if (history === undefined) throw new TypeError(`no history is named "${field.history}"`);
      return {
        is: 'list',
        name,
        nullable: true,
        nullMeans: NOT_MEASURED,
        description: field.description,
        members: shapesOf(history.fields, histories),
      };
    }
    case 'links': {
      const members = Object.entries(field.targets).map(([link, target]): ValueShape => ({
        is: 'value',
        name: link,
        type: 'path',
        ...(typeof target === 'string'
          ? {
              // A register may measure nothing of a history.
              nullable: link !== 'self' && target.includes('-'),
              nullMeans: NOT_MEASURED,
              description: `Path of the ${target.replace(/^(\w+)-(\w+)$/, '$2 of the $1')}.`,
            }
          : {
              nullable: true,
              description:
                `Path of the record of the ${link}; the register may not have that record.` +
                ` Null if the id of the ${link} is not published.`,
            }),
      }));
      return { is: 'object', name, nullable: false, description: field.description, members };
    }
  }
}

/** The shapes of fields, in order. */
export const shapesOf = (fields: readonly Field[], histories: readonly History[]): Shape[] =>
  fields.map((field) => shapeOf(field, histories));
