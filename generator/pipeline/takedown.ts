/**
 * Takedowns: what is withheld leaves the tree with the next build, whatever else that does. `withheldOf`
 * says what is withheld now, in the terms of `publish/`, whose `Takedown` says whether any of it is new.
 * If so, all downloads are written, and no change file of earlier snapshots stays. `NewlyWithheld` says
 * what of the losses that explains, so that the removal guard never holds a takedown up.
 */
import { hash } from 'node:crypto';
import type { Withheld } from '../publish/plan.js';
import type { Exclusions, Register } from '../register/database.js';
import { withheldAs } from '../register/functions.js';
import { exclusion, name } from '../register/sql.js';
import { KINDS, type Kind, type Resource } from '../schema/field.js';
import { RESOURCES, tablesOf } from '../schema/schema.js';
import { z } from 'zod';
import { countReferring, countTable, type Counts, type TableCounts } from './counts.js';
import { readJson } from '../base/files.js';
import { OwnFolder } from '../base/links.js';
import type { WithheldMarks } from '../state/schema.js';
import { ROUTES, routeNamed } from '../routes/routes.js';
import { filler } from '../routes/route.js';
import { newestOf } from '../schema/time.js';

/** Enough hex digits to avoid collisions among any number of names. */
const MARK_DIGITS = 32;

/** @param lists the exclusions (see sql.ts) */
export function withheldOf(lists: Exclusions): Withheld {
  const values = (list: 'withheld' | 'withheld_name', kind: Kind): readonly unknown[] =>
    lists[exclusion(list, kind)] ?? [];
  const marks = (list: 'withheld' | 'withheld_name'): string[] => [
    ...new Set(KINDS.flatMap((kind) => values(list, kind).map((value) => markOf(list, kind, value)))),
  ];
  return {
    keys: new Map(
      RESOURCES.map(({ kind, record }) => [record.route, new Set(values('withheld', kind).map(Number))]),
    ),
    marks: { records: marks('withheld'), names: marks('withheld_name') },
  };
}

/**
 * How the state remembers an entry. A record is marked by its kind and id, so that a build can name
 * one that it would publish again. A name is marked by a hash, which only shows whether it is new: one
 * for all spellings, since another one in the register takes nothing more down.
 */
const markOf = (list: 'withheld' | 'withheld_name', kind: Kind, value: unknown): string =>
  list === 'withheld'
    ? `${kind} ${Number(value)}`
    : hash('sha256', `${kind}\u0000${withheldAs(String(value))}`).slice(0, MARK_DIGITS);

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
