/** Values of documents, which are as their schema says, or of another version. */

/** The members of a JSON object. */
export type Values = Readonly<Record<string, unknown>>;

interface Types {
  readonly string: string;
  readonly number: number;
  readonly boolean: boolean;
}
type Shaped<S extends Readonly<Record<string, keyof Types>>> = { readonly [Name in keyof S]: Types[S[Name]] };

export const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Tells objects that have members of these types. */
export const shaped =
  <const S extends Readonly<Record<string, keyof Types>>>(shape: S) =>
  (value: unknown): value is Values & Shaped<S> =>
    isObject(value) && Object.entries(shape).every(([name, type]) => typeof value[name] === type);

export const objectIn = (value: unknown) => (isObject(value) ? value : null);
export const textIn = (value: unknown) => (typeof value === 'string' ? value : null);
export const numberIn = (value: unknown) => (typeof value === 'number' ? value : null);

/** When the members of a group were last read, as each change says; null if there is no change. */
export const lastReading = (change: Values) => textIn(Object.values(change).find(isObject)?.['to_at']);

/** The elements of a list that are as expected. */
export const listIn = <T>(value: unknown, isExpected: (element: unknown) => element is T): readonly T[] =>
  Array.isArray(value) ? value.filter(isExpected) : [];

export const isReading = shaped({ measured_at: 'string', member_count: 'number' });
