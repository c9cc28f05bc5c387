/**
 * Guesses which tables and columns of another database are those of the contract, by their names and
 * by sampled values: a guess is sure if the name fits, and all sampled values keep the contract.
 */
import { Failure } from '../base/errors.js';
import type { Column } from '../schema/field.js';
import {
  RESOURCES,
  WITHHELD,
  historyTable,
  recordKey,
  recordTable,
  resourceOf,
  type Table,
} from '../schema/schema.js';
import { UNLIKE, isSeries, rankOfColumn, rankOfTable, refersByName, sharesWord } from '../schema/synonyms.js';
import type { Database } from '../base/sqlite/sqlite.js';
import { columnRules } from './contract.js';
import { conversionOf } from './hints.js';
import { literal, name } from './sql.js';

/** Rows of a table that are looked at: its first ones. */
const SAMPLED_ROWS = 1000;
/** A column with more texts than this holds no words of a list. */
const MOST_WORDS = 10;

/** A table or view of the database. */
export interface Source {
  readonly name: string;
  readonly isTable: boolean;
  readonly columns: readonly string[];
  /** The column that identifies a row. */
  readonly key: string | undefined;
}

/** An expression for a column of the contract. */
export interface Guess {
  readonly sql: string;
  readonly isSure: boolean;
  /** The column that it is made of. */
  readonly own: string;
  /** Whether it is right only for times in UTC. */
  readonly isInUtc?: boolean;
}

/** A view for a table of the contract. */
export interface View {
  readonly source: Source;
  /** Statements that give texts numbers. */
  readonly before: readonly string[];
  readonly from: string;
  /** By column of the contract; those that are sure come first. */
  readonly guesses: ReadonlyMap<string, readonly Guess[]>;
  /** The time by which the rows of a history are in order. */
  readonly time: Guess | undefined;
  /** The index that it needs. */
  readonly after: readonly string[];
}

/** The maintainer's own tables or views, by that of the contract, where they are not to be guessed. */
export type Named = Readonly<Record<string, string>>;

export class Guesses {
  readonly #database: Database;
  readonly #sources: readonly Source[];
  readonly #named: Named;
  /** The sources of records, by their kind. */
  readonly #records = new Map<string | null, Source>();

  /** @throws Failure usage: a named table is missing */
  constructor(database: Database, sources: readonly Source[], named: Named) {
    this.#database = database;
    this.#sources = sources;
    this.#named = named;
    for (const { kind, plural } of RESOURCES) {
      const source = this.#sourceNamed(plural) ?? recordsLike(plural, sources);
      if (source !== undefined) this.#records.set(kind, source);
    }
  }

  /** A view for a table of the contract; undefined if nothing looks like it. */
  viewOf(table: Table): View | undefined {
    const records = this.#records.get(table.kind);
    if (records === undefined) return undefined;
    if (recordKey(table) === 'id') return this.#view(table, records, records, records.key);
    const named = this.#sourceNamed(table.name);
    if (named !== undefined) return this.#view(table, named, records, this.#reference(table, named, records));
    const required = table.columns.filter(({ nullable }) => !nullable);
    return this.#sources
      .filter((own) => own.isTable && ![...this.#records.values()].includes(own))
      .flatMap((own) => {
        const refers = this.#reference(table, own, records);
        return refers === undefined ? [] : this.#view(table, own, records, refers);
      })
      .find(({ guesses }) => required.every((column) => guesses.get(column.name)?.[0]?.isSure));
  }

  #sourceNamed(table: string): Source | undefined {
    const { [table]: own } = this.#named;
    const found = this.#sources.find((source) => source.name.toLowerCase() === own?.toLowerCase());
    if (own === undefined || found !== undefined) return found;
    const known = this.#sources.map((source) => source.name).join(', ');
    throw Failure.usage(`there is no table "${own}" for ${table}, expected one of ${known}`);
  }

  /** @param refers the column that has the key of the records; if it isn't known, the first one */
  #view(table: Table, source: Source, records: Source, refers = source.columns[0] ?? ''): View {
    const ids = this.#idsOf(records);
    const [as, k] = [this.#identifier(source.name), this.#identifier(refers)];
    const guesses = new Map<string, readonly Guess[]>();
    const taken = new Set([source.key, refers]);
    const [key, order] = table.key;
    const number = key === undefined ? undefined : this.#fit(key, source, refers);
    const id = { sql: ids === undefined ? (number?.sql ?? k) : `${ids}.id`, own: refers };
    // What is required takes its column first: the last reading is not the first as well.
    for (const column of table.columns.toSorted((a, b) => Number(a.nullable) - Number(b.nullable))) {
      const found = column === key ? [{ ...id, isSure: true }] : this.#guesses(table, column, source, taken);
      guesses.set(column.name, found);
      if (found[0]?.isSure === true) taken.add(found[0].own);
    }
    const at = table.columns.find(({ type, nullable }) => type === 'time' && !nullable)?.name ?? '';
    const time = guesses.get(at)?.find(({ isSure }) => isSure);
    if (order?.type === 'ordinal' && time !== undefined) {
      const sql = `row_number() OVER (PARTITION BY ${id.sql} ORDER BY ${this.#sortable(time)})`;
      guesses.set(order.name, [{ ...time, sql }]);
    }
    const isText = guesses.get('platform_id')?.[0]?.sql.startsWith('CAST') !== true;
    const numbers = [
      `CREATE TABLE IF NOT EXISTS ${ids} (id INTEGER PRIMARY KEY, k ${isText ? 'TEXT' : 'INTEGER'} UNIQUE NOT NULL);`,
      `INSERT OR IGNORE INTO ${ids} (k) SELECT ${k} FROM ${as} ORDER BY ${k};`,
    ];
    return {
      source,
      guesses,
      time: source === records ? undefined : time,
      before: ids === undefined || source !== records ? [] : numbers,
      from: ids === undefined ? as : `${as} JOIN ${ids} ON ${ids}.k = ${as}.${k}`,
      after: source === records ? [] : this.#index(source, refers, time),
    };
  }

  /** Expressions for a column; those that are sure come first. */
  #guesses(
    table: Table,
    column: Column,
    source: Source,
    taken: ReadonlySet<string | undefined>,
  ): readonly Guess[] {
    const free = source.columns.filter((own) => !taken.has(own));
    // Where records get numbers of their own, the keys that others refer to are not their ids.
    const isElsewhere =
      column.identifies?.id === column.name &&
      [...this.#records.values()].some((records) => this.#idsOf(records) !== undefined);
    const fitting = isElsewhere ? [] : free.flatMap((own) => this.#fit(column, source, own) ?? []);
    const isAnyTime = column.type === 'time' && !column.nullable;
    return [
      ...this.#lookedUp(column, source),
      ...ranked(free, (own) => rankOfColumn(table.name, column.name, source.name, own)).flatMap(
        (own) => fitting.find((fit) => fit.own === own) ?? this.#unfit(column, source, own),
      ),
      ...(fitting.length === 1 && isSeries(table.name, source.name) ? fitting : []),
      ...this.#latest(table, column, source),
      ...fitting
        .filter(({ own }) => isAnyTime || sharesWord(table.name, column.name, own))
        .map((fit) => ({ ...fit, isSure: false })),
    ].toSorted((a, b) => Number(b.isSure) - Number(a.isSure));
  }

  /** What follows from keys: the id of the platform, and who an owner is. */
  #lookedUp(column: Column, source: Source): readonly Guess[] {
    const users = this.#records.get('user');
    if (column.isId === true && source.key !== undefined && this.#idsOf(source) !== undefined)
      return [this.#fit(column, source, source.key) ?? []].flat();
    const { identifies } = column;
    if (identifies?.kind !== 'user' || users === undefined) return [];
    const user = resourceOf('user');
    const owner = source.columns.find(
      (own) =>
        rankOfColumn('', identifies.id, source.name, own) !== UNLIKE && this.#refersTo(source, own, users),
    );
    const wanted = column.name === identifies.id ? 'id' : user.nameColumn;
    return owner === undefined ? [] : this.#value(recordTable(user), wanted, source, owner);
  }

  /** What the newest row of a series of readings says of its record. */
  #latest(table: Table, { name: column }: Column, source: Source): readonly Guess[] {
    const resource = RESOURCES.find(({ plural }) => plural === table.name);
    const history = resource?.histories.find(({ order }) => order.type === 'time');
    if (resource === undefined || history === undefined || source.key === undefined) return [];
    return this.#value(historyTable(resource, history), column, source, source.key);
  }

  /** A value of the view of another table, of its newest row with the key that is in a column of this one. */
  #value(table: Table, column: string | undefined, source: Source, own: string): readonly Guess[] {
    const view = table.columns.some((each) => each.name === column) ? this.viewOf(table) : undefined;
    const [value] = view?.guesses.get(column ?? '') ?? [];
    const [key] = view?.guesses.get(recordKey(table)) ?? [];
    if (view === undefined || value?.isSure !== true || key === undefined) return [];
    const [there, its] = [this.#identifier(view.source.name), this.#identifier(key.own)];
    const newest = view.time === undefined ? '' : ` ORDER BY ${this.#sortable(view.time)} DESC LIMIT 1`;
    const from = value === key ? view.from : there;
    const sql = `(SELECT ${value.sql} FROM ${from} WHERE ${there}.${its} = ${this.#identifier(source.name)}.${this.#identifier(own)}${newest})`;
    return [{ sql, isSure: true, own: '' }];
  }

  /** The column of a source that refers to records: by its name, and all that is in it. */
  #reference(table: Table, source: Source, records: Source): string | undefined {
    const plural = RESOURCES.find(({ kind }) => kind === table.kind)?.plural ?? '';
    return source.columns.find(
      (own) =>
        ((own === records.key && own !== 'id') || refersByName(plural, records.name, own)) &&
        this.#refersTo(source, own, records),
    );
  }

  /** Whether all values of a column are keys of records. */
  #refersTo(source: Source, own: string, records: Source): boolean {
    const keys = `SELECT ${name(records.key ?? '')} FROM ${name(records.name)}`;
    const [isKey] = this.#row(`SELECT count(*) > 0 AND min(v IN (${keys})) FROM ${sample(source, own)}`);
    return isKey === 1;
  }

  /** The table that numbers records whose keys are no numbers. */
  #idsOf(records: Source): string | undefined {
    const id = WITHHELD.key.find((column) => column.name === 'id');
    const { key = records.columns[0] ?? '' } = records;
    const isNumber = id !== undefined && this.#fit(id, records, key) !== undefined;
    const [values] = this.#row(`SELECT count(*) FROM ${sample(records, key)}`);
    return isNumber || values === 0 ? undefined : this.#identifier(`ids_${records.name.toLowerCase()}`);
  }

  /** The index by which a history is read, unless there is one that begins so. */
  #index({ name: table, isTable }: Source, first: string, time: Guess | undefined): readonly string[] {
    const [found] = this.#row(
      `SELECT count(*) FROM pragma_index_list(${literal(table)}) AS list, pragma_index_info(list.name) AS part` +
        ` WHERE part.seqno = 0 AND part.name = ${literal(first)}`,
    );
    const columns = [first, ...(time === undefined ? [] : [time.own])]
      .map((each) => this.#identifier(each))
      .join(', ');
    const called = this.#identifier(`${table}_by_${first}`);
    return isTable && found === 0
      ? [`CREATE INDEX IF NOT EXISTS ${called} ON ${this.#identifier(table)} (${columns});`]
      : [];
  }

  /** A column as the contract wants it; undefined if sampled values don't fit, or if there are none. */
  #fit(column: Column, source: Source, own: string): Guess | undefined {
    const plain = this.#qualified(source, own);
    const broken = this.#firstBroken(column, source, own, plain);
    if (broken === null) return { sql: plain, isSure: true, own };
    // A number may be an id of the platform, but is no name.
    if (broken === undefined || (column.type === 'text' && column.isId !== true)) return undefined;
    const { sql = plain, if: condition } = conversionOf({ ...column, name: plain }, broken) ?? {};
    if (this.#firstBroken(column, source, own, sql) !== null) return undefined;
    return { sql, isSure: true, own, isInUtc: condition !== undefined };
  }

  /** The first sampled value that breaks the contract; null if none does, undefined if there is none. */
  #firstBroken(column: Column, source: Source, own: string, sql: string): string | null | undefined {
    const { notAfter: _notAfter, nullWhere: _nullWhere, ...alone } = column;
    const rules = columnRules({ name: '', key: [], kind: null, columns: [{ ...alone, nullable: false }] });
    // A conversion must not lose a fraction.
    const loses = column.type === 'time' || column.type === 'boolean' ? 'FALSE' : `${name(column.name)} <> v`;
    const broken = [...rules.map((rule) => rule.broken), loses].join(' OR ');
    const [values, first] = this.#row(
      `SELECT count(*), min(CASE WHEN ${broken} THEN quote(v) END) FROM (SELECT ${sql} AS ${name(column.name)},` +
        ` ${name(own)} AS v FROM (SELECT * FROM ${name(source.name)} LIMIT ${SAMPLED_ROWS}) AS ${this.#identifier(source.name)})` +
        ` WHERE v IS NOT NULL`,
    );
    return values === 0 ? undefined : first;
  }

  /** A column that has the name, but not the values; those of a list of words are there to be replaced. */
  #unfit({ type }: Column, source: Source, own: string): readonly Guess[] {
    const [values, cases] = this.#row(
      `SELECT count(*), group_concat(' WHEN ' || q || ' THEN NULL', '') FROM (SELECT DISTINCT quote(v) AS q FROM ${sample(source, own)} ORDER BY 1)`,
    );
    const sql = this.#qualified(source, own);
    if (type === 'text' && values !== 0) return [];
    const isList = type === 'enum' && values !== 0 && values <= MOST_WORDS;
    return [{ sql: isList ? `CASE ${sql}${cases} END` : sql, isSure: false, own }];
  }

  /** An identifier, quoted only if it has to be: SQLite takes what is quoted and mistyped for a text. */
  #identifier(own: string): string {
    try {
      this.#database.prepare(`SELECT ${own} FROM (SELECT 1 AS ${own})`);
      return /^\w+$/.test(own) ? own : name(own);
    } catch {
      return name(own);
    }
  }

  /** A column in a view; with its table, if that of the numbers has one of this name, too. */
  #qualified(source: Source, own: string): string {
    return `${/^(?:id|k)$/i.test(own) ? `${this.#identifier(source.name)}.` : ''}${this.#identifier(own)}`;
  }

  /** A time that sorts: as it is kept, if that does. */
  #sortable({ sql, own }: Guess): string {
    return sql.includes('substr(') ? sql : this.#identifier(own);
  }

  /** A number, and maybe a text. */
  #row(sql: string): readonly [number, (string | null)?] {
    return this.#database.prepare<[], [number, string | null]>(sql).raw(true).get() ?? [0];
  }
}

/** The table that is called like the records of a kind, and has a key. */
const recordsLike = (plural: string, sources: readonly Source[]): Source | undefined =>
  ranked(
    sources.filter(({ isTable, key }) => isTable && key !== undefined),
    (own) => rankOfTable(plural, own.name),
  )[0];

/** Those that have a rank, the lowest first. */
const ranked = <T>(all: readonly T[], rankOf: (one: T) => number): readonly T[] =>
  all.filter((one) => rankOf(one) !== UNLIKE).toSorted((a, b) => rankOf(a) - rankOf(b));

/** The values `v` of a column in the first rows. */
const sample = (source: Source, own: string): string =>
  `(SELECT v FROM (SELECT ${name(own)} AS v FROM ${name(source.name)} LIMIT ${SAMPLED_ROWS}) WHERE v IS NOT NULL)`;
