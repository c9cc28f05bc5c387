/** Examples of what a build would change: a few documents of each route, with the members that differ. */
import { parseJson } from '../base/portable.js';
import { EXAMPLES, type Example, type Written } from '../publish/stage.js';

export interface ExampleChange {
  readonly what: Example['what'];
  readonly url: string;
  /** Set for a changed document. */
  readonly fields?: readonly FieldChange[];
}

export type FieldChange =
  /** A value is undefined if the member is missing. */
  | { readonly field: string; readonly from: unknown; readonly to: unknown }
  /** For a list: the entries that only one of the documents has. */
  | { readonly field: string; readonly removed: readonly unknown[]; readonly added: readonly unknown[] };

/** @param written of all routes, in the order of the keys of each */
export function examplesOf(written: readonly Written[]): readonly ExampleChange[] {
  const byRoute = new Map<string, Example[]>();
  for (const { route, examples } of written) byRoute.set(route, [...(byRoute.get(route) ?? []), ...examples]);
  return [...byRoute.values()].flatMap((examples) =>
    (['added', 'changed', 'removed'] as const).flatMap((wanted) =>
      examples
        .filter(({ what }) => what === wanted)
        .slice(0, EXAMPLES)
        .map(({ what, url, texts }) =>
          texts === undefined ? { what, url } : { what, url, fields: fieldChanges(...texts) },
        ),
    ),
  );
}

/** The members in which two JSON objects differ. */
function fieldChanges(before: string, after: string): FieldChange[] {
  const [old, next] = [members(before), members(after)];
  return [...new Set([...old.keys(), ...next.keys()])].flatMap((field): FieldChange[] => {
    const [from, to] = [old.get(field), next.get(field)];
    if (JSON.stringify(from) === JSON.stringify(to)) return [];
    if (!Array.isArray(from) || !Array.isArray(to)) return [{ field, from, to }];
    const [removed, added] = [entriesOnlyIn(from, to), entriesOnlyIn(to, from)];
    // Only the order differs: both lists are shown whole.
    return removed.length + added.length === 0 ? [{ field, from, to }] : [{ field, removed, added }];
  });
}

function entriesOnlyIn(list: readonly unknown[], other: readonly unknown[]): readonly unknown[] {
  const known = new Set(other.map((entry) => JSON.stringify(entry)));
  return list.filter((entry) => !known.has(JSON.stringify(entry)));
}

/** The members of a JSON object. */
function members(json: string): ReadonlyMap<string, unknown> {
  // A feed is not JSON, and a published file may have been altered.
  const value = parseJson(json);
  return new Map(typeof value === 'object' && value !== null ? Object.entries(value) : []);
}
