/** What is withheld since the last snapshot, and what it takes from the published part of a register. */
import { z } from 'zod';
import { countReferring, countTable } from './counts.js';
import type { Counts, TableCounts } from './counts.js';
import { readJson } from '../files.js';
import { OwnFolder } from '../links.js';
import type { WithheldMarks } from '../tree/index-json.js';
import type { Exclusions, Register } from '../register/database.js';
import { exclusion, name } from '../register/sql.js';
import { ROUTES, filler, routeNamed } from '../routes/index.js';
import { KINDS } from '../schema/field.js';
import type { Resource } from '../schema/field.js';
import { RESOURCES, tablesOf } from '../schema/index.js';
import { newestOf } from '../schema/time.js';
import { markOf } from './withheld.js';

export class NewlyWithheld {
  readonly #register: Register;
  /** The register's exclusions without what is newly withheld, and with nothing else withheld. */
  readonly #without: Record<string, readonly unknown[]> = {};
  readonly #alone: Record<string, readonly unknown[]> = {};

  /** @param before what was withheld in the last snapshot; if it is not known, all is new */
  constructor(register: Register, before: WithheldMarks | undefined) {
    this.#register = register;
    const all = register.exclusions();
    const known = { withheld: new Set(before?.records), withheld_name: new Set(before?.names) };
    for (const kind of KINDS) {
      for (const list of ['withheld', 'withheld_name'] as const) {
        const table = exclusion(list, kind);
        const values = all[table] ?? [];
        const isKnown = (value: unknown): boolean => known[list].has(markOf(list, kind, value));
        this.#without[table] = values.filter(isKnown);
        this.#alone[table] = values.filter((value) => !isKnown(value));
      }
      // Invalid records stay excluded.
      const table = exclusion('excluded', kind);
      const ids = new Set(this.#alone[exclusion('withheld', kind)]);
      this.#without[table] = (all[table] ?? []).filter((value) => !ids.has(value));
      this.#alone[table] = all[table] ?? [];
    }
  }

  /**
   * Counts what would be published if nothing were newly withheld. A record that the register no
   * longer has counts by its document, and with a value in each column; its histories are not known.
   * @param out the published tree
   */
  countsWithout(out: string): Counts {
    const counts = RESOURCES.flatMap((resource) => {
      const gone = withExclusions(this.#register, this.#alone, () =>
        goneRecords(this.#register, resource, out),
      );
      return tablesOf(resource).map((table) => {
        const counted = withExclusions(this.#register, this.#without, () =>
          countTable(this.#register, resource.kind, table),
        );
        return [table.name, table.name === resource.plural ? withRecords(counted, gone) : counted] as const;
      });
    });
    return Object.fromEntries(counts);
  }

  /** The number of a kind's records that refer to a newly withheld one, now or in a history. */
  referring(resource: Resource): number {
    return withExclusions(this.#register, this.#alone, () => countReferring(this.#register, resource));
  }
}

/** Adds records with a value in each column. @param measuredAt a time for each */
const withRecords = ({ rows, values, newest }: TableCounts, measuredAt: readonly string[]): TableCounts => ({
  rows: rows + measuredAt.length,
  values: Object.fromEntries(
    Object.entries(values).map(([column, count]) => [column, count + measuredAt.length] as const),
  ),
  newest: newestOf([...measuredAt, newest]),
});

/** Does some work as if a connection's exclusions were others. */
function withExclusions<T>(register: Register, others: Exclusions, work: () => T): T {
  const own = register.exclusions();
  const replace = (lists: Exclusions): void => {
    for (const list of Object.keys(own)) register.execute(`DELETE FROM ${list}`);
    register.exclude(lists);
  };
  replace(others);
  try {
    return work();
  } finally {
    replace(own);
  }
}

const recordSchema = z.object({ measured_at: z.string() });

/** Withheld records that have a document, but no row: when each was measured. */
function goneRecords(register: Register, { kind, plural, record }: Resource, out: string): readonly string[] {
  const ids = `SELECT value FROM ${exclusion('withheld', kind)}`;
  const [fileOf, own] = [filler(routeNamed(ROUTES, record.route).file), new OwnFolder(out)];
  // A view may be slow to search, so it is read once.
  const gone = register.rows<[number]>(`${ids} EXCEPT SELECT id FROM ${name(plural)} WHERE id IN (${ids})`);
  return [...gone].flatMap(([id]) => {
    const { data } = recordSchema.safeParse(readJson(own.readable(fileOf(id))));
    return data === undefined ? [] : [data.measured_at];
  });
}
