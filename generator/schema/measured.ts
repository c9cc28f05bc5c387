/** What a register measures. What it doesn't measure is published as null, or not at all. */
import type { Document, Field, Resource } from './field.js';
import { MEASURED_TABLES, RESOURCES, tablesOf } from './schema.js';

/** The names of what a register may lack: kinds and histories by their tables, and columns. */
export const MEASURABLE: readonly string[] = MEASURED_TABLES.flatMap(({ name, columns }) => [
  name,
  ...columns.flatMap((column) => (column.nullable ? [`${name}.${column.name}`] : [])),
]);

/** The same names, and those of the histories of kinds among them. */
export const withHistories = (names: readonly string[]): readonly string[] => [
  ...new Set([
    ...names,
    ...RESOURCES.filter(({ plural }) => names.includes(plural)).flatMap(({ histories }) =>
      histories.map(({ table }) => table),
    ),
  ]),
];

/** The tables, and columns of them, that a register measures. */
export class Measured {
  readonly #absent: ReadonlySet<string>;

  /** @param absent what is not measured: `items`, `group_names`, `groups.verified` */
  constructor(absent: readonly string[] = []) {
    this.#absent = new Set(absent);
  }

  /** Whether a table is measured, or a column of one (`groups.verified`). */
  has(what: string): boolean {
    const [table = ''] = what.split('.');
    return !this.#absent.has(table) && !this.#absent.has(what);
  }

  /** Whether any of these is measured; true for what depends on nothing that is. */
  hasAny(all: readonly string[] | undefined): boolean {
    return all?.some((what) => this.has(what)) ?? true;
  }
}

/** The kinds that a register measures. */
export const measuredKinds = (measured: Measured): readonly Resource[] =>
  RESOURCES.filter(({ plural }) => measured.has(plural));

/** The sources of a field of a resource; undefined for a field that every register has. */
function sourcesOf(field: Field, { plural, histories }: Resource): readonly string[] | undefined {
  switch (field.is) {
    case 'column':
      return [`${plural}.${field.column.name}`];
    case 'object':
      return field.fields.map(({ column }) => `${plural}.${column.name}`);
    case 'list':
    case 'derived':
      return histories.flatMap(({ name, table }) => (name === field.history ? [table] : []));
    case 'computed':
    case 'links':
      return undefined;
  }
}

/** The fields of a record that a register measures, or of its document of histories. */
export const measuredFields = (
  resource: Resource,
  measured: Measured,
  { fields }: Document = resource.record,
): readonly Field[] => fields.filter((field) => measured.hasAny(sourcesOf(field, resource)));

/** Why a source is not measured: for want of `games`, `histories of names of groups`, `groups.name`. */
function missing(source: string, measured: Measured): string {
  const [table = ''] = source.split('.');
  const resource = RESOURCES.find((each) => tablesOf(each).some(({ name }) => name === table));
  if (resource === undefined) throw new TypeError(`no resource has a table "${table}"`);
  const { plural, histories } = resource;
  if (!measured.has(plural)) return plural;
  const history = histories.find((each) => each.table === table);
  return history === undefined ? source : `histories of ${history.name} of ${plural}`;
}

/** Why nothing is published of some tables and columns: `games are not measured by this register`. */
export function absenceOf(sources: readonly string[], measured: Measured): string {
  const things = [...new Set(sources.map((source) => missing(source, measured)))];
  const isColumn = things.length === 1 && things[0]?.includes('.') === true;
  return `${enumerated(things)} ${isColumn ? 'is' : 'are'} not measured by this register`;
}

/** The description of something for a register that lacks one of some sources. */
export interface Without {
  readonly some: readonly string[];
  readonly description: string;
}

/** A description, and what becomes of it if some of its sources are not measured. */
export interface Description {
  readonly description: string;
  readonly measures?: readonly string[];
  /** What each source in `measures` adds. */
  readonly contents?: Readonly<Record<string, string>>;
  readonly without?: Without;
}

/** A description that leaves out what is not measured. */
export function descriptionFor(
  { description, measures = [], contents, without }: Description,
  measured: Measured,
): string {
  if (without?.some.some((what) => !measured.has(what)) === true) return without.description;
  const some = measures.filter((what) => measured.has(what));
  if (contents === undefined || some.length === 0 || some.length === measures.length) return description;
  const text = enumerated(some.map((what) => contents[what] ?? ''));
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `groups, games and catalogue items` */
export const enumeratedKinds = (kinds: readonly Resource[]): string =>
  enumerated(kinds.map(({ kind, plural }) => (kind === 'item' ? `catalogue ${plural}` : plural)));

/** `groups, users and games`: several things in a sentence. */
export const enumerated = (words: readonly string[], conjunction = 'and'): string =>
  words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} ${conjunction} ${words.at(-1) ?? ''}`;
