/** The fields of a record in words. */
import type { Kind } from '../../../schema/field.js';
import { capitalized } from '../../../schema/words.js';
import type { PageField as Field } from '../page-data.js';
import { integer, moment } from '../words.js';
import { element, isolated, none, time } from './dom.js';
import { isObject, numberIn, objectIn, textIn, type Values } from './values.js';

/** Makes what leads to a record. */
export type Reference = (kind: Kind, id: number, name: unknown) => Node;

/** The number that matters, and those next to it. */
export const FIGURES: Readonly<Record<Kind, readonly string[]>> = {
  group: ['member_count'],
  user: [],
  game: ['playing', 'visits', 'favourites'],
  item: ['price', 'lowest_resale_price', 'recent_average_price', 'quantity_remaining', 'favourites'],
};

const PLAIN_NAMES: Readonly<Record<string, string>> = {
  id: 'Id in this register',
  created_at: 'Created',
  updated_at: 'Updated',
  first_measured_at: 'First measured',
  measured_at: 'Last measured',
};

/** A text that may come from a column's name, as words. */
const plain = (words: string) => words.replaceAll('_', ' ');

/** `lowest_resale_price` -> `Lowest resale price`. */
export const labelOf = (name: string) => PLAIN_NAMES[name] ?? capitalized(plain(name));

/** Fields that are null for a reason that another field of the record gives. */
const REASONS = [
  { field: 'owner_state', value: 'none', names: ['owner'], words: 'none: it has no owner' },
  { field: 'access', value: 'free', names: ['price'], words: 'none: access is free' },
  {
    field: 'price_state',
    value: 'unlisted',
    names: ['price'],
    words: 'none: the catalogue has no price for it',
  },
  {
    field: 'limited',
    value: false,
    names: ['lowest_resale_price', 'recent_average_price', 'quantity_total', 'quantity_remaining'],
    words: 'none: it is not limited',
  },
];

/** Why a value is null, in words, if the record says so; otherwise it was not measured. */
export const reasonFor = (record: Values, name: string) =>
  record[name] === null
    ? REASONS.find(({ field, value, names }) => names.includes(name) && record[field] === value)?.words
    : undefined;

function shown(value: unknown, { type, meanings, nullMeans }: Field) {
  if (value === null || value === undefined) return none(plain(nullMeans ?? 'not measured'));
  if (typeof value === 'boolean') return element('b', {}, value ? 'yes' : 'no');
  if (typeof value === 'number') return element('b', {}, type === 'id' ? String(value) : integer(value));
  if (typeof value !== 'string') {
    if (!isObject(value)) return JSON.stringify(value);
    // Of an object with a name and an id, one may not be measured.
    const [name, id] = [textIn(value['name']), numberIn(value['id'])];
    return isolated([name, id !== null && (name === null ? id : `(${id})`)].filter(Boolean).join(' '));
  }
  if (type === 'time' || type === 'date') return time(value, moment(value));
  if (type !== 'enum') return value === '' ? element('i', {}, 'empty') : isolated(value);
  const meaning = meanings?.[value];
  return element('span', {}, element('b', {}, plain(value)), meaning !== undefined && `, ${meaning}`);
}

function fact(field: Field, values: Values) {
  const { name, unit, description } = field;
  const value = values[name];
  const counted = typeof value === 'number' && unit !== undefined && unit !== name;
  return element(
    'div',
    {},
    element('dt', {}, labelOf(name)),
    element(
      'dd',
      {},
      reasonFor(values, name) ?? shown(value, field),
      counted && ` ${value === 1 ? unit.replace(/s$/, '') : unit}`,
    ),
    element('dd', { class: 'note' }, description),
  );
}

/** A list of fields with their values and what they mean. */
export const facts = (fields: readonly Field[], values: Values) =>
  element('dl', { class: 'facts' }, ...fields.map((field) => fact(field, values)));

/** The names of the fields that are null. Without an id on the platform, the id is that. */
export const missing = (fields: readonly Field[], values: Values) =>
  fields
    .map(({ name }) => name)
    .filter((name) => values[name] === null && !['owner_state', 'platform_id'].includes(name))
    .filter((name) => reasonFor(values, name) === undefined)
    .map((name) => labelOf(name).toLowerCase());

/** Who owned a group, as far as it was measured and may be published. */
export function ownerWords({ owner_state: state, owner }: Values, reference: Reference) {
  const { id, name } = objectIn(owner) ?? {};
  if (typeof id === 'number') return reference('user', id, name);
  if (state === 'none') return element('span', {}, 'no owner');
  return none(state === 'owned' ? 'not published, or not measured' : 'not measured');
}
