/** A response for documentation: indented, with long lists visibly cut. */

/** Lists up to this length are shown whole. */
const WHOLE_LIST = 3;
/** How many entries of longer lists are shown. */
const SHOWN_ENTRIES = 2;

/** Replaces omitted entries. Not JSON, so that nobody mistakes it for the response. */
export const omission = (count: number): string => `… ${count} more`;

/** The JSON text, indented by two. */
export function sample(body: string): string {
  const value: unknown = JSON.parse(body);
  return indented(value, '');
}

function indented(value: unknown, indent: string): string {
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const entries: readonly unknown[] = value;
    if (entries.length === 0) return '[]';
    const shown = entries.length > WHOLE_LIST ? entries.slice(0, SHOWN_ENTRIES) : entries;
    const lines = shown.map((entry) => inner + indented(entry, inner)).join(',\n');
    const rest = entries.length - shown.length;
    return `[\n${lines}${rest === 0 ? '' : `,\n${inner}${omission(rest)}`}\n${indent}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([name, member]) => `${inner}${JSON.stringify(name)}: ${indented(member, inner)}`,
    );
    return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n${indent}}`;
  }
  return JSON.stringify(value);
}
