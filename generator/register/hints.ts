/** What to do about a wrong value, if its cause is known. */
import type { Column } from '../schema/field.js';

/** The beginning of a call that gives a time as the contract wants it. */
const STRFTIME = `strftime('%Y-%m-%dT%H:%M:%SZ', `;

/** Unix times from 1973 to 2286, in seconds; in milliseconds and microseconds as many thousand times as much. */
const UNIX_SECONDS = { least: 1e8, most: 1e10 };

/** A number, which may be stored as text. */
const NUMBER = /^'?(-?\d+(?:\.\d+)?(?:e\+?\d+)?)'?$/;
/** A date and a time of day that SQLite reads, maybe with a fraction and a zone. */
const TIME = /^'\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?\s*(z|[+-]\d\d:\d\d)?'$/i;
const CANONICAL = /^'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ'$/;
/** Dates that SQLite doesn't read as they are, maybe with a time of day. */
const SLASHED = /^'\d{4}\/\d\d\/\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?'$/i;
const DAY_FIRST = /^'\d\d\.\d\d\.\d{4}(?: \d\d:\d\d(?::\d\d)?)?'$/;
const DATE = /^'\d{4}-\d\d-\d\d'$/;
/** Words for true and false. */
const WORDS = ['true false', 'yes no', 't f', 'y n', 'on off'].map((pair) => pair.split(' '));

/** How to turn a value into what the contract expects. */
interface Conversion {
  /** What the value is. */
  readonly is: string;
  readonly sql: string;
  /** The condition under which it is right. */
  readonly if?: string;
}

const IN_UTC = 'it is in UTC';

/** A hint for the maintainer; undefined if the cause is not known. @param value see `conversionOf` */
export function hintFor(column: Column, value: string): string | undefined {
  const found = conversionOf(column, value);
  if (found === undefined) return undefined;
  const { is, sql, if: condition } = found;
  const local = condition === IN_UTC ? ', else it is local time (see docs/your-register.md#times)' : '';
  return `${is}${condition === undefined ? '' : `; if ${condition}`}: ${sql}${local}`;
}

/**
 * How to convert a value that breaks the contract; undefined if nothing is known.
 * @param column its name is that of the value's column in SQL
 * @param value as findings show it: texts in single quotes
 */
export function conversionOf(column: Column, value: string): Conversion | undefined {
  const { name, type } = column;
  if (type === 'enum') return undefined;
  const [, digits] = NUMBER.exec(value) ?? [];
  if (type === 'text') return digits === value ? { is: 'a number', sql: `CAST(${name} AS TEXT)` } : undefined;
  if (type === 'time' || type === 'date')
    return digits === undefined ? fromTime(column, value) : fromUnix(name, Number(digits));
  const [yes, no] = WORDS.find((words) => words.some((word) => `'${word}'` === value.toLowerCase())) ?? [];
  if (type === 'boolean' && yes !== undefined) {
    const sql = `CASE lower(${name}) WHEN '${yes}' THEN 1 WHEN '${no}' THEN 0 END`;
    return { is: 'a boolean stored as text', sql };
  }
  return digits === undefined ? undefined : fromNumber(column, value, digits);
}

const isUnixTime = (seconds: number): boolean => seconds >= UNIX_SECONDS.least && seconds < UNIX_SECONDS.most;

function fromUnix(name: string, time: number): Conversion | undefined {
  if (isUnixTime(time))
    return { is: 'looks like a Unix time in seconds', sql: `${STRFTIME}${name}, 'unixepoch')` };
  const parts = [1000, 1_000_000].find((each) => isUnixTime(time / each));
  const unit = parts === 1000 ? 'milliseconds' : 'microseconds';
  return parts === undefined
    ? undefined
    : { is: `looks like a Unix time in ${unit}`, sql: `${STRFTIME}${name} / ${parts}, 'unixepoch')` };
}

function fromTime({ name, type }: Column, value: string): Conversion | undefined {
  // A day needs neither a time nor a zone where it may be one.
  const isDay = type === 'date' && !value.includes(':');
  const noZone = (is: string, sql: string): Conversion =>
    isDay ? { is, sql } : { is, sql: `${STRFTIME}${sql})`, if: IN_UTC };
  if (SLASHED.test(value)) return noZone('a date with slashes', `replace(${name}, '/', '-')`);
  if (DAY_FIRST.test(value)) {
    const [year, month, day] = ['7, 4', '4, 2', '1, 2'].map((part) => `substr(${name}, ${part})`);
    return noZone(
      'a date with the day first',
      `${year} || '-' || ${month} || '-' || ${day} || substr(${name}, 11)`,
    );
  }
  if (DATE.test(value)) return isDay ? undefined : noZone('a date without a time of day', name);
  const [is, zone] = TIME.exec(value) ?? [];
  if (is === undefined || CANONICAL.test(value)) return undefined;
  return zone === undefined
    ? noZone('a time without a zone', name)
    : { is: 'a time in another format', sql: `${STRFTIME}${name})` };
}

function fromNumber({ name, nullable }: Column, value: string, digits: string): Conversion | undefined {
  if (!Number.isSafeInteger(Number(digits))) return undefined;
  if (digits.startsWith('-'))
    return nullable
      ? { is: 'a negative number', sql: `nullif(${name}, ${value})`, if: 'it means "not measured"' }
      : undefined;
  const sql = `CAST(${name} AS INTEGER)`;
  if (value.startsWith("'")) return { is: 'a number stored as text', sql };
  return digits.includes('.') ? { is: 'a whole number stored as REAL', sql } : undefined;
}
