/** The findings of a check, and how they are shown. */

/** One violation of the contract. */
export interface Finding {
  readonly table: string;
  /** The row, as `id = 7`; empty if the table itself is meant. */
  readonly key: string;
  readonly column: string;
  readonly value: string;
  readonly expected: string;
}

export interface CheckReport {
  /** At most `SHOWN_PER_COLUMN` for each column of a table. */
  readonly findings: readonly Finding[];
  /** Violations beyond those shown, per column. */
  readonly more: readonly { readonly table: string; readonly column: string; readonly count: number }[];
  readonly total: number;
  /** Whether the rest can be published without the affected records. */
  readonly skippable: boolean;
}

export const SHOWN_PER_COLUMN = 20;

/** `groups id = 7: measured_at is 'yesterday', expected a time …` */
export const describe = ({ table, key, column, value, expected }: Finding): string =>
  `${[table, key].filter(Boolean).join(' ')}: ${column} is ${value}, expected ${expected}`;

/** Whether a register with this report may be published. */
export const isPublishable = ({ total, skippable }: CheckReport, skipInvalid: boolean): boolean =>
  total === 0 || (skipInvalid && skippable);

/** The number of violations in one column of a table. */
interface Count {
  readonly table: string;
  readonly column: string;
  readonly count: number;
}

/** The findings of one step. */
export interface Found {
  /** At most `SHOWN_PER_COLUMN` for each column of a table. */
  readonly findings: readonly Finding[];
  readonly counts: readonly Count[];
  readonly skippable: boolean;
}

/** Collects findings, and only counts those beyond `SHOWN_PER_COLUMN`. */
export class Findings {
  readonly #findings: Finding[] = [];
  readonly #counts = new Map<string, Count>();
  #shown = new Map<string, number>();
  #skippable = true;

  add(finding: Finding, skippable: boolean): void {
    const { table, column } = finding;
    this.addAll({ findings: [finding], counts: [{ table, column, count: 1 }], skippable });
  }

  addAll({ findings, counts, skippable }: Found): void {
    for (const finding of findings) {
      const place = placeOf(finding);
      const shown = this.#shown.get(place) ?? 0;
      if (shown === SHOWN_PER_COLUMN) continue;
      this.#shown.set(place, shown + 1);
      this.#findings.push(finding);
    }
    for (const { table, column, count } of counts) {
      const place = placeOf({ table, column });
      this.#counts.set(place, { table, column, count: (this.#counts.get(place)?.count ?? 0) + count });
    }
    if (!skippable) this.#skippable = false;
  }

  found(): Found {
    return { findings: this.#findings, counts: [...this.#counts.values()], skippable: this.#skippable };
  }

  report(): CheckReport {
    const { findings, counts, skippable } = this.found();
    return {
      findings,
      more: counts
        .map((place) => ({ ...place, count: place.count - SHOWN_PER_COLUMN }))
        .filter(({ count }) => count > 0),
      total: counts.reduce((sum, { count }) => sum + count, 0),
      skippable,
    };
  }
}

const placeOf = ({ table, column }: { readonly table: string; readonly column: string }): string =>
  `${table}.${column}`;

/** Longer values are cut. */
const SHOWN_CHARACTERS = 120;

/** Formats a row's key. @param row its columns, starting with the key's, as `asText` yields them */
export const keyText = (key: readonly string[], row: readonly unknown[]): string =>
  key.map((column, index) => `${column} = ${shorten(row[index])}`).join(', ');

/** Beyond JSON's escapes, these break lines or control a terminal: DEL, C1, separators, bidi. */
const STEERING = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Formats a value from `asText`: single quotes, control characters escaped, long ones cut. */
export function shorten(value: unknown): string {
  const text = String(value).replaceAll(
    /"(?:[^"\\]|\\.)*"/g,
    (json) => `'${json.slice(1, -1).replaceAll('\\"', '"')}'`,
  );
  const shown = text.replaceAll(STEERING, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return shown.length > SHOWN_CHARACTERS ? `${shown.slice(0, SHOWN_CHARACTERS)}…` : shown;
}
