/** What to do about a wrong value, if its cause is known. */
import type { Column } from '../schema/field.js';

/** The beginning of a call that gives a time as the contract wants it. */
const STRFTIME = `strftime('%Y-%m-%dT%H:%M:%SZ', `;

/** Unix times from 1973 to 5138, in seconds; in milliseconds a thousand times as much. */
const UNIX_SECONDS = { least: 1e8, most: 1e11 };

/** A number, which may be stored as text. */
const NUMBER = /^'?(-?\d+(?:\.\d+)?(?:e\+?\d+)?)'?$/;
/** A date and a time of day that SQLite reads, maybe with a fraction and a zone. */
const TIME = /^'\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?\s*(z|[+-]\d\d:\d\d)?'$/i;
const CANONICAL = /^'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ'$/;
/** Dates that SQLite doesn't read as they are, maybe with a time of day. */
const SLASHED = /^'\d{4}\/\d\d\/\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?'$/i;
const DAY_FIRST = /^'\d\d\.\d\d\.\d{4}(?: \d\d:\d\d(?::\d\d)?)?'$/;
const DATE = /^'\d{4}-\d\d-\d\d'$/;
const WORDS = /^'(?:true|yes|t|y|on|false|no|f|n|off)'$/i;

/**
 * A hint for the maintainer; undefined if the cause is not known.
 * @param value as findings show it: texts in single quotes
 */
export function hintFor(column: Column, value: string): string | undefined {
  const { name, type } = column;
  if (type === 'enum') return undefined;
  const [, digits] = NUMBER.exec(value) ?? [];
  if (type === 'text') return digits === value ? `a number: CAST(${name} AS TEXT)` : undefined;
  if (type === 'time') return digits === undefined ? timeHint(name, value) : unixHint(name, Number(digits));
  if (type === 'boolean' && WORDS.test(value))
    return `a boolean stored as text: CASE ${name} WHEN … THEN 1 WHEN … THEN 0 END`;
  return digits === undefined ? undefined : numberHint(column, value, digits);
}

const isUnixTime = (seconds: number): boolean => seconds >= UNIX_SECONDS.least && seconds < UNIX_SECONDS.most;

function unixHint(name: string, time: number): string | undefined {
  if (isUnixTime(time)) return `looks like a Unix time in seconds: ${STRFTIME}${name}, 'unixepoch')`;
  if (!isUnixTime(time / 1000)) return undefined;
  return `looks like a Unix time in milliseconds: ${STRFTIME}${name} / 1000, 'unixepoch')`;
}

function timeHint(name: string, value: string): string | undefined {
  const noZone = (what: string, sql: string): string =>
    `${what}; if it is in UTC: ${STRFTIME}${sql}), else it is local time (see docs/your-register.md#times)`;
  if (SLASHED.test(value)) return noZone('a date with slashes', `replace(${name}, '/', '-')`);
  if (DAY_FIRST.test(value)) {
    const [year, month, day] = ['7, 4', '4, 2', '1, 2'].map((part) => `substr(${name}, ${part})`);
    return noZone(
      'a date with the day first',
      `${year} || '-' || ${month} || '-' || ${day} || substr(${name}, 11)`,
    );
  }
  if (DATE.test(value)) return noZone('a date without a time of day', name);
  const [is, zone] = TIME.exec(value) ?? [];
  if (is === undefined || CANONICAL.test(value)) return undefined;
  return zone === undefined
    ? noZone('a time without a zone', name)
    : `a time in another format: ${STRFTIME}${name})`;
}

function numberHint({ name, nullable }: Column, value: string, digits: string): string | undefined {
  if (!Number.isSafeInteger(Number(digits))) return undefined;
  if (digits.startsWith('-'))
    return nullable ? `a negative number; if it means "not measured": nullif(${name}, ${value})` : undefined;
  const cast = `CAST(${name} AS INTEGER)`;
  if (value.startsWith("'")) return `a number stored as text: ${cast}`;
  return digits.includes('.') ? `a whole number stored as REAL: ${cast}` : undefined;
}
