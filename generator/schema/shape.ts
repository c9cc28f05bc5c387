/** What is published: values, and the shapes of documents, for documentation and exports. */

/** 2^53 - 1: the largest integer that every JSON reader keeps exact (RFC 8259, section 6). */
export const MAX_INTEGER = Number.MAX_SAFE_INTEGER;

/** The longest text that a register may hold, in bytes of UTF-8: 1 MiB, which every client can take. */
export const MAX_TEXT_BYTES = 1_048_576;

/**
 * `id` and `ordinal`: integer 1 .. 2^53-1 · `count`: integer 0 .. 2^53-1 · `boolean`: 0 or 1 in the
 * register, true or false in JSON · `time`: RFC 3339 UTC in whole seconds · `date`: such a time, or a
 * day, `2020-09-16` · `text`: any valid UTF-8 of at most 1 MiB, kept exactly · `enum`: one of `values`.
 */
export type ColumnType = 'id' | 'ordinal' | 'count' | 'boolean' | 'time' | 'date' | 'text' | 'enum';

/**
 * The types of columns, and of other published values. `difference`: a signed integer · `duration`:
 * seconds, to the millisecond · `path`: a URL path · `url`: an absolute URL · `reference`: a URL or
 * a path · `sha256`: a hash in lower-case hexadecimal.
 */
export type ValueType = ColumnType | 'difference' | 'duration' | 'path' | 'url' | 'reference' | 'sha256';

/** The unit of prices, for which operators may have another name. */
export const PRICE_UNIT = 'currency units';

/** A published value. `null` means "not measured", or a withheld owner or creator. */
export interface Value {
  readonly name: string;
  readonly type: ValueType;
  readonly nullable: boolean;
  readonly description: string;
  /** Missing for the paths in a record's links, which follow from its id. */
  readonly example?: string | number | boolean;
  /** The unit of a count, for people: `members`. */
  readonly unit?: string;
  /** What null means, if it may be null: `not measured`. Missing if the description says so. */
  readonly nullMeans?: string;
  /** The words of an `enum`: the only ones in a register, but more may be added. */
  readonly values?: readonly string[];
  /** What each of these words means, if that is not obvious. */
  readonly meanings?: Readonly<Record<string, string>>;
}

/** What null means in a register, and where nothing else is said. */
export const NOT_MEASURED = 'not measured';

export type Shape = ValueShape | ObjectShape | ListShape | ValuesShape | MapShape;

/** Records and histories always have all their members; other documents may lack some. */
interface Presence {
  readonly optional?: true;
}

export interface ValueShape extends Value, Presence {
  readonly is: 'value';
}

export interface ObjectShape extends Presence {
  readonly is: 'object';
  readonly name: string;
  readonly nullable: boolean;
  /** As for a value. */
  readonly nullMeans?: string;
  readonly description: string;
  readonly members: readonly Shape[];
}

/** A list of objects. */
export interface ListShape extends Presence {
  readonly is: 'list';
  readonly name: string;
  readonly nullable: boolean;
  /** As for a value. */
  readonly nullMeans?: string;
  readonly description: string;
  readonly members: readonly Shape[];
}

/** A list of plain values. */
export interface ValuesShape extends Presence {
  readonly is: 'values';
  readonly name: string;
  readonly description: string;
  readonly of: ValueShape;
}

/** Members whose names depend on the content: `of` has their shape, and describes the names. */
export interface MapShape extends Presence {
  readonly is: 'map';
  readonly name: string;
  readonly description: string;
  readonly of: Shape;
}
