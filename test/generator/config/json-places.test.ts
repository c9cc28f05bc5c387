/** Where something stands in a JSON text, and where that is no JSON. */
import { assert, constantFrom, json, nat, oneof, property, string, tuple } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { placesIn } from '../../../generator/config/json-places.js';

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('placesIn', () => {
  it('finds an error where JSON.parse does, and no other, in JSON that somebody damaged', () => {
    const additions = constantFrom('', ',', '"', '}', '\\', '\n', '0', 'x', '//');
    const damaged = tuple(json(), nat(), nat(3), additions).map(([text, at, cut, added]) => {
      const start = at % (text.length + 1);
      return text.slice(0, start) + added + text.slice(start + cut);
    });
    assert(
      property(oneof(damaged, json(), string()), (text) => {
        expect(placesIn(text).error === undefined).toBe(isJson(text));
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['', 1, 1, 'a value'],
    ['\n  {"a": 1,\n  }', 3, 3, 'a key in double quotes'],
    ['{"a": 1\n "b": 2}', 2, 2, '"," or the end of the list'],
    ['{"a" 1}', 1, 6, '":" after the key'],
    ['{"a": }', 1, 7, 'a value'],
    ["{'a': 1}", 1, 2, 'a key or value, texts in double quotes'],
    ['{} {}', 1, 4, 'the end of the file'],
  ])('says of %j what was expected at line %i, column %i', (text, line, column, expected) => {
    expect(placesIn(text).error).toEqual({ line, column, expected });
  });

  it('finds keys by their path, and the object of one that is missing', () => {
    const places = placesIn('{\r\n  "a": { "b.c": 1 },\n  "l": [0, { "\\u0062": 2 }]\n}');
    expect(places.error).toBeUndefined();
    expect(places.positionOf([])).toEqual({ line: 1, column: 1 });
    expect(places.positionOf(['none'])).toEqual({ line: 1, column: 1 });
    expect(places.positionOf(['a', 'b.c'])).toEqual({ line: 2, column: 10 });
    expect(places.positionOf(['a', 'none'])).toEqual({ line: 2, column: 3 });
    expect(places.positionOf(['l', 1, 'b'])).toEqual({ line: 3, column: 14 });
  });
});
