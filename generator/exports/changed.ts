/** Which of the bulk downloads a build writes, told by the documents that change: they say the same as the tables. */
import { EXPORTS } from './tables.js';
import type { Export } from './tables.js';

export class ChangedExports {
  readonly #changed = new Set<Export>();

  /** Whether documents of a route can still tell something. */
  isOpen(route: string): boolean {
    return EXPORTS.some((table) => table.route === route && !this.#changed.has(table));
  }

  /** Notes a document that was added, changed or removed. @param before, after its JSON, `{}` where there is none */
  note(route: string, before: string, after: string): void {
    const [old, next] = [members(before), members(after)];
    for (const table of EXPORTS) {
      if (table.route !== route) continue;
      const { history } = table;
      const listed = (document: ReadonlyMap<string, unknown>): string =>
        history === undefined ? '' : JSON.stringify(document.get(history.name) ?? []);
      if (history === undefined || listed(old) !== listed(next)) this.#changed.add(table);
    }
  }

  /** Whether a table is written: it changed, or it is of records of which a history changed, which may be computed from it. */
  has(table: Export): boolean {
    return (
      this.#changed.has(table) ||
      (table.history === undefined && [...this.#changed].some(({ resource }) => resource === table.resource))
    );
  }
}

/** The members of a JSON object. */
export function members(json: string): ReadonlyMap<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return new Map(typeof value === 'object' && value !== null ? Object.entries(value) : []);
  } catch {
    // A published file that is no JSON any more was tampered with; everything in it counts as new.
    return new Map();
  }
}
