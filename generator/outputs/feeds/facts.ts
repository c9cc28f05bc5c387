/**
 * What an entry of a feed says, as fields: `_register` in JSON feeds, and the entries of
 * /api/v1/recent.
 */
import { KINDS, shapesOf, type ColumnField, type ObjectField } from '../../schema/field.js';
import type { Shape } from '../../schema/shape.js';
import { part, value, valuesOf, type Part } from '../parts.js';
import type { ValueChange, ChangeSource, Values } from './changes.js';
import type { First } from './firsts.js';

/** The field of a first measurement, as it appears in entry ids. */
export const FIRST_FIELD = 'first_measured_at';

const TIME = '2026-11-20T08:00:00Z';

/** A value of a history as in its document: a single field, or an object of several. */
function published({ fields }: ChangeSource, values: Values): unknown {
  const rest = values.values();
  const next = (): unknown => rest.next().value;
  const members = fields.map((field) => [field.name, field.is === 'column' ? next() : object(field, next)]);
  const [[, only] = [], ...more] = members;
  return more.length === 0 ? only : Object.fromEntries(members);
}

/** Null if all its parts are. */
function object({ fields }: ObjectField, next: () => unknown): unknown {
  const parts = fields.map(({ name }: ColumnField) => [name, next()] as const);
  return parts.every(([, part]) => part === null) ? null : Object.fromEntries(parts);
}

function shapeOfValue({ fields }: ChangeSource, name: string, description: string): Shape {
  const [first, ...more] = shapesOf(fields, []);
  if (first === undefined || more.length > 0)
    return { is: 'object', name, nullable: false, description, members: shapesOf(fields, []) };
  return { ...first, name, description };
}

const kind = value('kind', 'enum', 'group', 'Kind of the record.', { values: KINDS });
const id = value('id', 'id', 7, 'Id of the record.');
const field = (name: string, description: string) =>
  value('field', 'enum', name, description, { values: [name] });

/** The facts of a change from a source. */
export const changeParts = (source: ChangeSource): readonly Part<ValueChange>[] => [
  part({ ...kind, example: source.resource.kind }, () => source.resource.kind),
  part(id, (change) => change.id),
  part(field(source.field, 'The field that changed.'), () => source.field),
  part(shapeOfValue(source, 'from', 'The value before.'), ({ from }) => published(source, from)),
  part(shapeOfValue(source, 'to', 'The value after.'), ({ to }) => published(source, to)),
  part(
    value(
      'changed_at',
      'date',
      TIME,
      'When it changed, according to the platform; null if that is unknown.',
      {
        nullable: true,
      },
    ),
    ({ changedAt }) => changedAt,
  ),
  part(
    value('measured_at', 'time', TIME, 'The first reading of the value after.'),
    (change) => change.measuredAt,
  ),
  part(
    value(
      'previous_measured_at',
      'time',
      '2026-11-19T08:00:00Z',
      'The last reading of the value before; null if both values were learned at the same time.',
      { nullable: true },
    ),
    ({ changedAfter }) => changedAfter,
  ),
];

/** The facts of a record that was measured for the first time. */
export const FIRST_PARTS: readonly Part<First>[] = [
  part({ ...kind, example: 'game' }, ({ resource }) => resource.kind),
  part(id, (first) => first.id),
  part(
    value('name', 'text', 'Lantern Harbour', 'Name of the record; null if it was not measured.', {
      nullable: true,
    }),
    ({ name }) => name,
  ),
  part(field(FIRST_FIELD, 'The field that was set.'), () => FIRST_FIELD),
  part(value('from', 'time', TIME, 'Always null.', { nullable: true }), () => null),
  part(value('to', 'time', TIME, 'The first reading of the record.'), ({ measuredAt }) => measuredAt),
  part(value('measured_at', 'time', TIME, 'The same time.'), ({ measuredAt }) => measuredAt),
  part(value('previous_measured_at', 'time', TIME, 'Always null.', { nullable: true }), () => null),
];

/** Made once for each source: there are many changes of each. */
const PARTS = new Map<ChangeSource, readonly Part<ValueChange>[]>();

export function changeFacts(change: ValueChange): Readonly<Record<string, unknown>> {
  const parts = PARTS.get(change.source) ?? changeParts(change.source);
  PARTS.set(change.source, parts);
  return valuesOf(parts, change);
}

export const firstFacts = (first: First): Readonly<Record<string, unknown>> => valuesOf(FIRST_PARTS, first);
