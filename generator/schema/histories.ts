/** Fields common to the histories of names and owners. */
import { date, ordinal, required, time, type ColumnField, type ComputedField } from './field.js';

/** Orders the entries of one record. */
export const position: ColumnField = required(
  ordinal('position', 2, 'Position in the history; 1 is the oldest entry.'),
);

export const isCurrent: ComputedField = {
  is: 'computed',
  name: 'is_current',
  type: 'boolean',
  nullable: false,
  description: 'Whether this is the newest entry.',
  example: true,
  sql: 'is_last',
};

export const changedAt: ColumnField = date(
  'changed_at',
  '2025-06-01T10:30:00Z',
  'When the change happened, according to the platform.',
  { nullMeans: 'the platform gives no date' },
);

/** First and last reading that saw the entry. */
export const seen: readonly ColumnField[] = [
  required(
    time('first_measured_at', '2025-06-02T08:00:00Z', 'When this entry was first read.', {
      notAfter: 'last_measured_at',
    }),
  ),
  required(time('last_measured_at', '2026-11-20T08:00:00Z', 'When this entry was last read.')),
];

/**
 * The readings that bound an undated change. Null for the first entry, and if the previous entry's
 * last reading is not before this one's first: the names then come from the platform's own list,
 * and the readings reveal nothing.
 */
const bound = (name: string, value: string, description: string): ComputedField => ({
  is: 'computed',
  name,
  type: 'time',
  nullable: true,
  nullMeans: 'no readings bound the change',
  description,
  example: '2025-06-01T08:00:00Z',
  sql: `CASE WHEN previous_last < first_measured_at THEN ${value} END`,
});

export const changedBetween: readonly ComputedField[] = [
  bound(
    'changed_after',
    'previous_last',
    'When the previous entry was last read; the change happened later.',
  ),
  bound(
    'changed_before',
    'first_measured_at',
    'When this entry was first read; the change happened earlier.',
  ),
];
