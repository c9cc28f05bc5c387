/** Where something stands in a JSON text, and where that is no JSON. */
import { assert, constantFrom, json, nat, oneof, property, string, tuple } from 'fast-check';
import { expect, it } from 'vitest';
import { placesIn } from '../../../generator/config/json-places.js';

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

it('placesIn finds an error where JSON.parse does, and no other, in JSON that somebody damaged', () => {
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
])('placesIn says of %j what was expected at line %i, column %i', (text, line, column, expected) => {
  expect(placesIn(text).error).toEqual({ line, column, expected });
});
