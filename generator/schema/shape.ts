/** The shapes of documents, for documentation and exports. */
import { NOT_MEASURED } from './field.js';
import type { Field, History, Value } from './field.js';

export type Shape = ValueShape | ObjectShape | ListShape | ValuesShape | MapShape;

/** Records and histories always have all their members; other documents may lack some. */
interface Presence {
  readonly optional?: true;
}

export interface ValueShape extends Value, Presence {
  readonly is: 'value';
}

export interface ObjectShape extends Presence {
  readonly is: 'object';
  readonly name: string;
  readonly nullable: boolean;
  /** As for a value. */
  readonly nullMeans?: string;
  readonly description: string;
  readonly members: readonly Shape[];
}

/** A list of objects. */
export interface ListShape extends Presence {
  readonly is: 'list';
  readonly name: string;
  readonly nullable: boolean;
  /** As for a value. */
  readonly nullMeans?: string;
  readonly description: string;
  readonly members: readonly Shape[];
}

/** A list of plain values. */
export interface ValuesShape extends Presence {
  readonly is: 'values';
  readonly name: string;
  readonly description: string;
  readonly of: ValueShape;
}

/** Members whose names depend on the content: `of` has their shape, and describes the names. */
export interface MapShape extends Presence {
  readonly is: 'map';
  readonly name: string;
  readonly description: string;
  readonly of: Shape;
}

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
