/**
 * Guesses which tables and columns of another database are those of the contract, by their names and
 * by sampled values: a guess is sure if the name fits, and all sampled values keep the contract.
 */
import { Failure, onOneLine } from '../base/errors.js';
import type { Column } from '../schema/field.js';
import {
  RESOURCES,
  TABLES,
  WITHHELD,
  historyTable,
  recordKey,
  recordTable,
  resourceOf,
  type Table,
} from '../schema/schema.js';
import {
  UNLIKE,
  isSecret,
  isSeries,
  rankOfColumn,
  rankOfTable,
  refersByName,
  sharesWord,
} from '../schema/synonyms.js';
import type { Database } from '../base/sqlite/sqlite.js';
import { columnRules } from './contract.js';
import { conversionOf } from './hints.js';
import { literal, name } from './sql.js';

/** Rows of a table that are looked at: its first ones. */
const SAMPLED_ROWS = 1000;
/** A column with more texts than this holds no words of a list. */
const MOST_WORDS = 10;
/** In bytes. */
const LONGEST_WORD = 100;

/**
 * Whether a text can be written in SQL to be edited: a line break would end a comment, and what follows
 * be a command of the sqlite3 shell; and a name that is no valid UTF-8 has no text.
 */
export const isPlain = (text: string): boolean => onOneLine(text) === text && !text.includes('\ufffd');

/** A table or view of the database. */
export interface Source {
  readonly name: string;
  readonly isTable: boolean;
  readonly columns: readonly string[];
  /** The columns that together identify a row; none if they are not known. */
  readonly key: readonly string[];
  /** The columns that can't be NULL. */
  readonly notNull: readonly string[];
  /** Whether it has the name of a table of the contract. */
  readonly isContract: boolean;
}

/** The columns of what looks like accounts of staff, from which nothing is drafted. */
export const secretsOf = ({ columns }: Pick<Source, 'columns'>): readonly string[] =>
  columns.filter(isSecret);

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
  /** Conditions on the rows of a history: that their columns were measured, and that their records are not gone. */
  readonly notNull: readonly string[];
  readonly ofRecords: readonly string[];
  /** By column of the contract; those that are sure come first. */
  readonly guesses: ReadonlyMap<string, readonly Guess[]>;
  /** The time by which the rows of a history are in order. */
  readonly time: Guess | undefined;
  /** Statements for the index that the view needs. */
  readonly after: readonly string[];
}

/** The tables or views that the maintainer names, instead of a guess, by the table of the contract. */
export type Named = Readonly<Record<string, string>>;

export class Guesses {
  readonly #database: Database;
  /** All sources, and those that may be guessed. */
  readonly #all: readonly Source[];
  readonly #sources: readonly Source[];
  readonly #named: Named;
  /** The sources of records, by their kind. */
  readonly #records = new Map<string | null, Source>();

  /** @throws Failure usage: a named table is missing, or none to draft from; or a history is named without its records */
  constructor(database: Database, sources: readonly Source[], named: Named) {
    this.#database = database;
    this.#all = sources;
    this.#sources = sources.filter((source) => !source.isContract && secretsOf(source).length === 0);
    this.#named = named;
    for (const resource of RESOURCES) {
      const { kind, plural } = resource;
      const source =
        this.#sourceNamed(plural) ??
        recordsLike(plural, this.#sources) ??
        keptBy(recordTable(resource), sources);
      if (source !== undefined) this.#records.set(kind, source);
    }
    for (const { name: table, kind } of TABLES)
      if (named[table] !== undefined && !this.#records.has(kind))
        throw Failure.usage(`nothing looks like the records of ${table}: name them, too, with --from`);
  }

  /** A view for a table of the contract; undefined if nothing looks like it. */
  viewOf(table: Table): View | undefined {
    const records = this.#records.get(table.kind);
    if (records === undefined) return undefined;
    if (recordKey(table) === 'id') return this.#view(table, records, records, keyOf(records));
    const named = this.#sourceNamed(table.name);
    if (named !== undefined)
      return this.#view(table, named, records, this.#reference(table, named, records) ?? firstOf(named));
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
    if (own === undefined) return undefined;
    const found = this.#all.find((source) => source.name.toLowerCase() === own.toLowerCase());
    const secrets = found === undefined ? [] : secretsOf(found);
    if (secrets.length > 0)
      throw Failure.usage(
        `"${own}" looks like accounts of staff (${secrets.join(', ')}): name a view of it that has no such column`,
      );
    if (found?.isContract === true)
      throw Failure.usage(
        `"${own}" has a name of the contract: in a copy, ALTER TABLE ${found.name} RENAME TO own_${found.name}, and name that`,
      );
    if (found !== undefined) return found;
    const known = this.#sources.map((source) => source.name).join(', ');
    throw Failure.usage(`there is no table "${own}" for ${table}, expected one of ${known}`);
  }

  /** @param refers the columns that have the key of the records */
  #view(table: Table, source: Source, records: Source, refers: readonly string[]): View {
    const ids = this.#idsOf(records);
    const [as, k] = [this.#identifier(source.name), refers.map((own) => this.#identifier(own))];
    const [one = ''] = refers;
    const guesses = new Map<string, readonly Guess[]>();
    const sole = source.key.length === 1 ? source.key : [];
    // A name may be a part of a record's key.
    const taken = new Set(source === records && refers.length > 1 ? [] : [...sole, ...refers]);
    const [key, order] = table.key;
    const number = key === undefined ? undefined : this.#fit(key, source, one);
    // A row with only a part of a key may belong to several records.
    const isWhole = refers.length === keyOf(records).length;
    const own = ids === undefined ? (number?.sql ?? k[0] ?? 'NULL') : `${ids}.id`;
    const id = { sql: isWhole ? own : 'NULL', own: one };
    // Required columns choose first, so that the time of the last reading is not that of the first as well.
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
    const numbers = ids === undefined ? undefined : numbersOf(ids, as, k, isText ? 'TEXT' : 'INTEGER');
    const isHistory = source !== records;
    const required = table.columns.filter(({ nullable, name: column }) => !nullable && column !== key?.name);
    const measured = required.flatMap((column) => guesses.get(column.name)?.[0] ?? []);
    return {
      source,
      guesses,
      time: isHistory ? time : undefined,
      before: numbers === undefined || isHistory ? [] : numbers.statements,
      from: numbers === undefined || !isWhole ? as : `${as} JOIN ${ids} ON ${numbers.joined}`,
      notNull: [
        ...new Set(
          measured
            .filter(({ isSure, own: each }) => isHistory && isSure && !source.notNull.includes(each))
            .map(({ own: each }) => `${this.#qualified(source, each)} IS NOT NULL`),
        ),
      ],
      ofRecords: isHistory && isWhole ? [this.#isThere(source, refers, records)] : [],
      after: isHistory ? this.#index(source, refers, time) : [],
    };
  }

  /** The condition that a row's record is not gone. */
  #isThere(source: Source, refers: readonly string[], records: Source): string {
    const own = refers.map((each) => this.#qualified(source, each)).join(', ');
    const keys = keyOf(records)
      .map((each) => this.#identifier(each))
      .join(', ');
    return `${refers.length === 1 ? own : `(${own})`} IN (SELECT ${keys} FROM ${this.#identifier(records.name)})`;
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
    const called = ranked(free, (own) => rankOfColumn(table.name, column.name, source.name, own)).flatMap(
      (own) => fitting.find((fit) => fit.own === own) ?? this.#unfit(column, source, own),
    );
    const latest = this.#latest(table, column, source);
    return [
      ...this.#lookedUp(column, source),
      ...(isAnyTime ? laterOf(called, latest) : []),
      ...called,
      ...(fitting.length === 1 && isSeries(table.name, source.name) ? fitting : []),
      ...latest,
      ...fitting
        .filter(({ own }) => isAnyTime || sharesWord(table.name, column.name, own))
        .map((fit) => ({ ...fit, isSure: false })),
    ].toSorted((a, b) => Number(b.isSure) - Number(a.isSure));
  }

  /** Values that follow from keys: the id of the platform, and the id and name of an owner. */
  #lookedUp(column: Column, source: Source): readonly Guess[] {
    const users = this.#records.get('user');
    const [key, ...others] = source.key;
    if (column.isId === true && key !== undefined && others.length === 0 && this.#idsOf(source) !== undefined)
      return [this.#fit(column, source, key) ?? []].flat();
    const { identifies } = column;
    if (identifies?.kind !== 'user' || users === undefined) return [];
    const user = resourceOf('user');
    const owner = source.columns.find(
      (own) =>
        rankOfColumn('', identifies.id, source.name, own) !== UNLIKE && this.#refersTo(source, [own], users),
    );
    const wanted = column.name === identifies.id ? 'id' : user.nameColumn;
    return owner === undefined ? [] : this.#value(recordTable(user), wanted, source, owner);
  }

  /** The value in the newest row of a series of readings of the record. */
  #latest(table: Table, { name: column }: Column, source: Source): readonly Guess[] {
    const resource = RESOURCES.find(({ plural }) => plural === table.name);
    const history = resource?.histories.find(({ order }) => order.type === 'time');
    const [key, ...others] = source.key;
    if (resource === undefined || history === undefined || key === undefined || others.length > 0) return [];
    return this.#value(historyTable(resource, history), column, source, key);
  }

  /** A value from the view of another table: of the newest row whose key is in a column of this table. */
  #value(table: Table, column: string | undefined, source: Source, own: string): readonly Guess[] {
    const view = table.columns.some((each) => each.name === column) ? this.viewOf(table) : undefined;
    const [value] = view?.guesses.get(column ?? '') ?? [];
    const [key] = view?.guesses.get(recordKey(table)) ?? [];
    if (view === undefined || value?.isSure !== true || key === undefined) return [];
    const [there, its] = [this.#identifier(view.source.name), this.#identifier(key.own)];
    const newest = view.time === undefined ? '' : ` ORDER BY ${this.#sortable(view.time)} DESC LIMIT 1`;
    const from = value === key ? view.from : there;
    const isOwn = `${there}.${its} = ${this.#identifier(source.name)}.${this.#identifier(own)}`;
    const sql = `(SELECT ${value.sql} FROM ${from} WHERE ${[isOwn, ...view.notNull].join(' AND ')}${newest})`;
    return [{ sql, isSure: true, own: '' }];
  }

  /** The columns of a source that refer to records: by their names, and all that is in them. */
  #reference(table: Table, source: Source, records: Source): readonly string[] | undefined {
    const plural = RESOURCES.find(({ kind }) => kind === table.kind)?.plural ?? '';
    const { key } = records;
    const candidates =
      key.length > 1
        ? [key].filter((own) => own.every((each) => source.columns.includes(each)))
        : source.columns
            .filter((own) => (key.includes(own) && own !== 'id') || refersByName(plural, records.name, own))
            .map((own) => [own]);
    return candidates.find((own) => this.#refersTo(source, own, records));
  }

  /** Whether all values of columns are keys of records. */
  #refersTo(source: Source, own: readonly string[], { key, name: records }: Source): boolean {
    if (key.length !== own.length) return false;
    const keys = `SELECT ${key.map(name).join(', ')} FROM ${name(records)}`;
    const columns = own.map(name).join(', ');
    const isThere = own.map((each) => `${name(each)} IS NOT NULL`).join(' AND ');
    const [isKey] = this.#row(
      `SELECT count(*) > 0 AND min((${columns}) IN (${keys})) FROM` +
        ` (SELECT ${columns} FROM ${name(source.name)} LIMIT ${SAMPLED_ROWS}) WHERE ${isThere}`,
    );
    return isKey === 1;
  }

  /** The table that numbers records whose keys are no numbers. */
  #idsOf(records: Source): string | undefined {
    const id = WITHHELD.key.find((column) => column.name === 'id');
    const ids = `ids_${records.name.toLowerCase()}`;
    const [key = '', ...others] = keyOf(records);
    if (others.length > 0) return this.#identifier(ids);
    const isNumber = id !== undefined && this.#fit(id, records, key) !== undefined;
    const [values] = this.#row(`SELECT count(*) FROM ${sample(records, key)}`);
    return isNumber || values === 0 ? undefined : this.#identifier(ids);
  }

  /** The index by which a history is read, unless there is one that begins so. */
  #index(
    { name: table, isTable }: Source,
    refers: readonly string[],
    time: Guess | undefined,
  ): readonly string[] {
    const [first = ''] = refers;
    const [found] = this.#row(
      `SELECT count(*) FROM pragma_index_list(${literal(table)}) AS list, pragma_index_info(list.name) AS part` +
        ` WHERE part.seqno = 0 AND part.name = ${literal(first)}`,
    );
    const columns = [...refers, ...(time === undefined ? [] : [time.own])]
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
    const loses = ['time', 'date', 'boolean'].includes(column.type) ? 'FALSE' : `${name(column.name)} <> v`;
    const broken = [...rules.map((rule) => rule.broken), loses].join(' OR ');
    const [values, first] = this.#row(
      `SELECT count(*), min(CASE WHEN ${broken} THEN quote(iif(typeof(v) IN ('text', 'blob'), substr(v, 1, ${LONGEST_WORD}), v)) END) FROM (SELECT ${sql} AS ${name(column.name)},` +
        ` ${name(own)} AS v FROM (SELECT * FROM ${name(source.name)} LIMIT ${SAMPLED_ROWS}) AS ${this.#identifier(source.name)})` +
        ` WHERE v IS NOT NULL`,
    );
    return values === 0 ? undefined : first;
  }

  /** A column whose name fits, but not its values. A list of words is written out, to be replaced. */
  #unfit({ type }: Column, source: Source, own: string): readonly Guess[] {
    const [values, cases] = this.#row(
      `SELECT count(*), CASE WHEN max(octet_length(v)) <= ${LONGEST_WORD} THEN group_concat(' WHEN ' || quote(v) || ' THEN NULL', '') END` +
        ` FROM (SELECT DISTINCT v FROM ${sample(source, own)} ORDER BY quote(v))`,
    );
    const sql = this.#qualified(source, own);
    if (type === 'text' && values !== 0) return [];
    const isList = type === 'enum' && values <= MOST_WORDS && typeof cases === 'string' && isPlain(cases);
    return [{ sql: isList ? `CASE ${sql}${cases} END` : sql, isSure: false, own }];
  }

  /** An identifier, quoted only if it has to be: SQLite takes what is quoted and mistyped for a text. */
  #identifier(own: string): string {
    if (!/^\w+$/.test(own)) return name(own);
    try {
      // A word such as CURRENT_TIME is no column, even where one is called so.
      const read = this.#database.prepare<[]>(`SELECT ${own} FROM (SELECT 'own' AS ${own})`).pluck().get();
      return read === 'own' ? own : name(own);
    } catch {
      return name(own);
    }
  }

  /** A column in a view; with its table, if that of the numbers has one of this name, too. */
  #qualified(source: Source, own: string): string {
    return `${/^(?:id|k\d*)$/i.test(own) ? `${this.#identifier(source.name)}.` : ''}${this.#identifier(own)}`;
  }

  /** An expression that sorts by a time: the column itself, unless its values don't sort. */
  #sortable({ sql, own }: Guess): string {
    return sql.includes('substr(') ? sql : this.#identifier(own);
  }

  /** The first row of a query for a number, and perhaps a text. */
  #row(sql: string): readonly [number, (string | null)?] {
    return this.#database.prepare<[], [number, string | null]>(sql).raw(true).get() ?? [0];
  }
}

/**
 * The table that numbers keys: the statements that fill it, and the condition that joins it to a source.
 * @param type of a key of one column
 */
function numbersOf(ids: string, source: string, key: readonly string[], type: 'TEXT' | 'INTEGER') {
  const columns = key.map((_, index) => (key.length === 1 ? 'k' : `k${index + 1}`));
  const declared =
    key.length === 1
      ? `k ${type} UNIQUE NOT NULL`
      : `${columns.map((each) => `${each} NOT NULL`).join(', ')}, UNIQUE (${columns.join(', ')})`;
  const own = key.join(', ');
  return {
    statements: [
      `CREATE TABLE IF NOT EXISTS ${ids} (id INTEGER PRIMARY KEY, ${declared});`,
      `INSERT OR IGNORE INTO ${ids} (${columns.join(', ')}) SELECT ${own} FROM ${source} ORDER BY ${own};`,
    ],
    joined: key.map((each, index) => `${ids}.${columns[index]} = ${source}.${each}`).join(' AND '),
  };
}

/** The table of the contract itself, if it has all required columns. */
const keptBy = ({ name: table, columns }: Table, sources: readonly Source[]): Source | undefined =>
  sources.find(
    (source) =>
      source.name.toLowerCase() === table &&
      secretsOf(source).length === 0 &&
      columns.every((column) => column.nullable || source.columns.includes(column.name)),
  );

/** The table that is named like the records of a kind, and has a key. */
const recordsLike = (plural: string, sources: readonly Source[]): Source | undefined =>
  ranked(
    // A key of several columns without an id is that of a relation.
    sources.filter(({ isTable, key }) => isTable && (key.length === 1 || key.some(isNamedId))),
    (own) => rankOfTable(plural, own.name),
  )[0];

/** A reading measures its record as well, which was therefore measured at the later of both times. */
function laterOf(called: readonly Guess[], [latest]: readonly Guess[]): readonly Guess[] {
  const own = called.find(({ isSure }) => isSure);
  if (own === undefined || latest === undefined) return [];
  return [{ ...own, sql: `max(${own.sql}, coalesce(${latest.sql}, ''))` }];
}

export const isNamedId = (column: string): boolean => column.toLowerCase() === 'id';

/** A source's first column, which may be its key. */
const firstOf = ({ columns }: Source): readonly string[] => columns.slice(0, 1);

/** The columns that identify a row; if they aren't known, the first one. */
const keyOf = (source: Source): readonly string[] => (source.key.length > 0 ? source.key : firstOf(source));

/** Those that have a rank, the lowest first. */
const ranked = <T>(all: readonly T[], rankOf: (one: T) => number): readonly T[] =>
  all.filter((one) => rankOf(one) !== UNLIKE).toSorted((a, b) => rankOf(a) - rankOf(b));

/** The values `v` of a column in the first rows. */
const sample = (source: Source, own: string): string =>
  `(SELECT v FROM (SELECT ${name(own)} AS v FROM ${name(source.name)} LIMIT ${SAMPLED_ROWS}) WHERE v IS NOT NULL)`;
