/** A list of a history as CSV (RFC 4180), as the downloads have it. Runs in the browser, compiled, and in tests. */

type Values = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Values => typeof value === 'object' && value !== null;

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
  const rows = entries.map((entry): Values => ({ ...first, ...entry }));
  const names = keysOf(rows);
  const columns = names.flatMap((name): (readonly [name: string, part?: string])[] => {
    const values = rows.map((row) => row[name] ?? null);
    // A nested object has a column for each of its parts, also in rows in which it is null.
    const parts = keysOf(values.filter(isObject)).map((part) => [name, part] as const);
    const isUnknown =
      values.every((value) => value === null) && names.some((other) => other.startsWith(`${name}_`));
    return parts.length > 0 ? parts : isUnknown ? [] : [[name]];
  });
  const lines = rows.map((row) =>
    columns.map(([name, part]) => {
      const value = row[name];
      return cell(part === undefined ? value : isObject(value) ? value[part] : null);
    }),
  );
  const head = columns.map((column) => column.join('_'));
  return [head, ...lines].map((line) => `${line.join(',')}\r\n`).join('');
}

const keysOf = (objects: readonly Values[]): readonly string[] => [...new Set(objects.flatMap(Object.keys))];
