/** Lines and columns in JSON that people write, for messages about it. */
import { findNodeAtLocation, parseTree, printParseErrorCode, type ParseError } from 'jsonc-parser';
import { parseJson } from '../base/portable.js';

/** A place in a text; both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** What was expected, by the parser's name for the error. */
const EXPECTED: Readonly<Record<string, string>> = {
  PropertyNameExpected: 'a key in double quotes',
  ValueExpected: 'a value',
  InvalidSymbol: 'a key or value, texts in double quotes',
  ColonExpected: '":" after the key',
  CommaExpected: '"," or the end of the list',
  CloseBraceExpected: '"}"',
  CloseBracketExpected: '"]"',
  EndOfFileExpected: 'the end of the file',
  InvalidCommentToken: 'no comment',
};

/** Finds the places of the keys in a JSON text, as far as it is JSON. */
export function placesIn(text: string) {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { disallowComments: true });
  const placeAt = (offset: number): Position => {
    const lines = text.slice(0, offset).split('\n');
    return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
  };
  const [first] = errors;
  const expected = EXPECTED[first === undefined ? '' : printParseErrorCode(first.error)] ?? 'JSON';
  return {
    /**
     * Where the text stops being JSON, and what was expected there; undefined if it is JSON. The
     * parser that finds places is not the one that decides.
     */
    error: parseJson(text) !== undefined ? undefined : { ...placeAt(first?.offset ?? 0), expected },
    /** The place of a key, or of the object that lacks it. */
    positionOf: (path: readonly PropertyKey[]): Position => {
      const keys = path.map((key) => (typeof key === 'number' ? key : String(key)));
      const paths = keys.map((_, index) => keys.slice(0, keys.length - index));
      const found = paths.map((each) => root && findNodeAtLocation(root, each));
      const node = found.find((each) => each !== undefined) ?? root;
      const isMember = node?.parent?.type === 'property';
      return placeAt((isMember ? node.parent?.offset : node?.offset) ?? 0);
    },
  };
}
