/** Examples of what a build would change: a few documents of each route, with the members that differ. */
import { join } from 'node:path';
import { readText } from '../base/files.js';
import { parseJson } from '../base/portable.js';
import { EXAMPLES } from '../publish/publisher.js';
import { replacingFile, type StageSpec } from '../publish/stage.js';
import { filler, urlsOf } from '../routes/route.js';
import type { ComparedRoute, NextState } from '../state/next.js';

export interface ExampleChange {
  readonly what: 'added' | 'changed' | 'removed';
  readonly url: string;
  /** Set for a changed document. */
  readonly fields?: readonly FieldChange[];
}

export type FieldChange =
  /** A value is undefined if the member is missing. */
  | { readonly field: string; readonly from: unknown; readonly to: unknown }
  /** For a list: the entries that only one of the documents has. */
  | { readonly field: string; readonly removed: readonly unknown[]; readonly added: readonly unknown[] };

/** At most `EXAMPLES` of each kind of change for each of the routes. */
export function examplesIn(
  { out, paths }: StageSpec,
  next: NextState,
  routes: readonly ComparedRoute[],
): ExampleChange[] {
  return routes.flatMap(({ id, route }) => {
    const { name } = route;
    const [urls, fileOf] = [urlsOf(route), filler(route.file)];
    const examples: ExampleChange[] = [];
    const counts = { added: 0, changed: 0, removed: 0 };
    for (const { key, hash, replaced } of next.differences(id)) {
      const what = hash === null ? 'removed' : replaced === 0 ? 'added' : 'changed';
      counts[what] += 1;
      if (counts[what] > EXAMPLES) continue;
      const [url] = urls(key);
      const file = fileOf(key);
      const [before, after] = [join(out, file), replacingFile(paths, name, file)].map(readText);
      examples.push(
        what === 'changed' ? { what, url, fields: fieldChanges(before ?? '', after ?? '') } : { what, url },
      );
    }
    return examples;
  });
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
