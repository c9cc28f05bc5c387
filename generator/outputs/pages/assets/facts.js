/** The fields of a record in words. */
import { element, isolated, none, time } from './dom.js';
import { integer, moment } from '../words.js';

/**
 * @typedef {object} Field what the schema says of a field
 * @property {string} name
 * @property {string} type
 * @property {string} description
 * @property {string} [unit]
 * @property {string} [nullMeans]
 * @property {Readonly<Record<string, string>>} [meanings]
 *
 * @typedef {Readonly<Record<string, unknown>>} Values the members of a JSON object
 */

/**
 * @param {unknown} value
 * @returns {value is Values}
 */
export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param {unknown} value @returns {Values | null} */
export const objectIn = (value) => (isObject(value) ? value : null);
/** @param {unknown} value */
export const textIn = (value) => (typeof value === 'string' ? value : null);
/** @param {unknown} value */
export const numberIn = (value) => (typeof value === 'number' ? value : null);

/**
 * @param {unknown} value
 * @returns {value is import('../series.js').Reading}
 */
export const isReading = (value) =>
  isObject(value) && typeof value.measured_at === 'string' && typeof value.member_count === 'number';

/**
 * The elements of a list that are as expected.
 * @template T
 * @param {unknown} value
 * @param {(element: unknown) => element is T} isExpected
 * @returns {readonly T[]}
 */
export const listIn = (value, isExpected) => (Array.isArray(value) ? value.filter(isExpected) : []);

/** The number that matters, and those next to it. */
export const FIGURES = {
  group: ['member_count'],
  user: [],
  game: ['playing', 'visits', 'favourites'],
  item: ['price', 'lowest_resale_price', 'recent_average_price', 'quantity_remaining', 'favourites'],
};

const PLAIN_NAMES = new Map([
  ['id', 'Id in this register'],
  ['created_at', 'Created'],
  ['updated_at', 'Updated'],
  ['first_measured_at', 'First measured'],
  ['measured_at', 'Last measured'],
  ['measurements', 'Measurements'],
  ['creator', 'Creator'],
  ['owner', 'Owner'],
]);

/** `lowest_resale_price` -> `Lowest resale price`. @param {string} name */
export function labelOf(name) {
  const words = name.replaceAll('_', ' ');
  return PLAIN_NAMES.get(name) ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** A text that may come from a column's name, as words. @param {string} words */
const plain = (words) => words.replaceAll('_', ' ');

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

/**
 * Why a value is null, in words, if the record says so; otherwise it was not measured.
 * @param {Values} record
 * @param {string} name
 */
export const reasonFor = (record, name) =>
  record[name] === null
    ? REASONS.find(({ field, value, names }) => names.includes(name) && record[field] === value)?.words
    : undefined;

/**
 * @param {unknown} value
 * @param {Field} field
 */
function shown(value, { type, meanings, nullMeans }) {
  if (value === null || value === undefined) return none(plain(nullMeans ?? 'not measured'));
  if (typeof value === 'boolean') return element('b', {}, value ? 'yes' : 'no');
  if (typeof value === 'number') return element('b', {}, type === 'id' ? String(value) : integer(value));
  if (typeof value !== 'string') {
    if (!isObject(value)) return JSON.stringify(value);
    // Of an object with a name and an id, one may not be measured.
    const [name, id] = [textIn(value.name), numberIn(value.id)];
    return isolated([name, id !== null && (name === null ? id : `(${id})`)].filter(Boolean).join(' '));
  }
  if (type === 'time' || type === 'date') return time(value, moment(value));
  if (type !== 'enum') return value === '' ? element('i', {}, 'empty') : isolated(value);
  const meaning = meanings?.[value];
  return element('span', {}, element('b', {}, plain(value)), meaning !== undefined && `, ${meaning}`);
}

/**
 * A list of fields with their values and what they mean.
 * @param {readonly Field[]} fields
 * @param {Values} values
 */
export const facts = (fields, values) =>
  element(
    'dl',
    { class: 'facts' },
    ...fields.flatMap((field) => {
      const value = values[field.name];
      const unit = typeof value === 'number' && field.unit !== undefined && field.unit !== field.name;
      return element(
        'div',
        {},
        element('dt', {}, labelOf(field.name)),
        element(
          'dd',
          {},
          reasonFor(values, field.name) ?? shown(value, field),
          unit && ` ${value === 1 ? field.unit?.replace(/s$/, '') : field.unit}`,
        ),
        element('dd', { class: 'note' }, field.description),
      );
    }),
  );

/** The names of the fields that are null. @param {readonly Field[]} fields @param {Values} values */
export const missing = (fields, values) =>
  fields
    .filter(
      ({ name }) =>
        values[name] === null &&
        name !== 'owner_state' &&
        // Without one, the id is that on the platform.
        name !== 'platform_id' &&
        reasonFor(values, name) === undefined,
    )
    .map(({ name }) => labelOf(name).toLowerCase());

/**
 * Who owned a group, as far as it was measured and may be published.
 * @param {unknown} state
 * @param {unknown} owner
 * @param {(kind: 'user', id: number, name: unknown) => Node} reference makes what leads to the owner
 */
export function ownerWords(state, owner, reference) {
  const { id, name } = objectIn(owner) ?? {};
  if (typeof id === 'number') return reference('user', id, name);
  if (state === 'none') return element('span', {}, 'no owner');
  return none(state === 'owned' ? 'not published, or not measured' : 'not measured');
}
