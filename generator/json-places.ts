/** Lines and columns in JSON that people write, for messages about it. */

/** A place in a text; both count from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface JsonPlaces {
  /** Where the text stops being JSON, and what was expected there; undefined if it is JSON. */
  readonly error: (Place & { readonly expected: string }) | undefined;
  /** @returns the place of a key, or of the object that lacks it */
  readonly of: (path: readonly PropertyKey[]) => Place;
}

/** A mark, a string, or a number or word. */
const TOKEN =
  /[{}[\],:]|"(?:[ !#-[\]-\u{10FFFF}]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/uy;
const SPACE = /[ \t\r\n]*/y;

const nameOf = (path: readonly PropertyKey[]): string => JSON.stringify(path.map(String));

class Unexpected extends Error {}

/** Finds the places of the keys in a JSON text, as far as it is JSON. */
export function placesIn(text: string): JsonPlaces {
  const offsets = new Map<string, number>();
  let offset = 0;

  const matched = (pattern: RegExp): string => {
    pattern.lastIndex = offset;
    return pattern.exec(text)?.[0] ?? '';
  };
  /** The next token; empty at the end, and where there is none. */
  const next = (): string => {
    offset += matched(SPACE).length;
    return matched(TOKEN);
  };
  const take = (isExpected: (token: string) => boolean, expected: string): string => {
    const token = next();
    if (token === '' || !isExpected(token)) throw new Unexpected(expected);
    offset += token.length;
    return token;
  };
  const takeValue = (path: readonly string[]): void => {
    const first = take((token) => !/^[}\],:]/.test(token), path.length === 0 ? 'an object' : 'a value');
    if (first === '{') takeList('}', () => takeMember(path));
    if (first === '[') takeList(']', (index) => takeValue([...path, String(index)]));
  };
  const takeMember = (path: readonly string[]): void => {
    next();
    const start = offset;
    const key = take((token) => token.startsWith('"'), 'a key in double quotes');
    const member = [...path, String(JSON.parse(key))];
    offsets.set(nameOf(member), start);
    take((token) => token === ':', '":" after the key');
    takeValue(member);
  };
  const takeList = (end: string, takeEntry: (index: number) => void): void => {
    if (next() === end) offset += end.length;
    else {
      for (let index = 0; ; index += 1) {
        takeEntry(index);
        if (take((token) => token === ',' || token === end, `"," or "${end}"`) === end) return;
      }
    }
  };
  const expected = ((): string | undefined => {
    try {
      takeValue([]);
      next();
      return offset === text.length ? undefined : 'the end of the file';
    } catch (error) {
      if (error instanceof Unexpected) return error.message;
      throw error;
    }
  })();

  const placeAt = (end: number): Place => {
    const lines = text.slice(0, end).split('\n');
    return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
  };
  return {
    error: expected === undefined ? undefined : { ...placeAt(offset), expected },
    of: (path) => {
      const lengths = path.map((_, index) => path.length - index);
      const found = lengths.map((length) => offsets.get(nameOf(path.slice(0, length))));
      return placeAt(found.find((each) => each !== undefined) ?? text.search(/\S|$/));
    },
  };
}
