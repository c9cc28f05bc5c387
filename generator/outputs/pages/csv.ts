/** A list of a history as CSV (RFC 4180), as the downloads have it. Runs in the browser, compiled, and in tests. */

type Values = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Values => typeof value === 'object' && value !== null;

/** The values of an entry, with nested objects flattened: `owner_id`. */
const flattened = (entry: Values): ReadonlyMap<string, unknown> =>
  new Map(
    Object.entries(entry).flatMap(([name, value]): [string, unknown][] =>
      isObject(value)
        ? Object.entries(value).map(([part, each]) => [`${name}_${part}`, each])
        : [[name, value]],
    ),
  );

/** Null is empty; a measured empty text is `""`. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * @param first the first column of each row, such as the id of the record
 * @param entries oldest first
 */
export function csvOf(first: Values, entries: readonly Values[]): string {
  const rows = entries.map((entry) => flattened({ ...first, ...entry }));
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  // An object that is null has a column of its own, which is left out where others have its parts.
  const isLeftOut = (name: string): boolean =>
    names.some((other) => other.startsWith(`${name}_`)) &&
    rows.every((row) => (row.get(name) ?? null) === null);
  const columns = names.filter((name) => !isLeftOut(name));
  const lines = [columns, ...rows.map((row) => columns.map((name) => cell(row.get(name))))];
  return lines.map((line) => `${line.join(',')}\r\n`).join('');
}
