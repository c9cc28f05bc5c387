/** Compressed siblings: that they hold one stream. Which documents have some, `verify` knows. */
import { expect, it } from 'vitest';
import { codeOf } from '../../../generator/base/errors.js';
import { CODINGS } from '../../../generator/tree/codings.js';

it.each(CODINGS)(
  'a compressed sibling with anything but one stream in it is not decoded: %o',
  ({ encode, decode }) => {
    const content = Buffer.alloc(5_000, 'content ');
    const stream = encode(content);
    const nothing = encode(Buffer.alloc(0));
    const outcome = (most: number, ...parts: readonly Uint8Array[]): string => {
      try {
        return decode(Buffer.concat(parts), most).equals(content) ? 'the content' : 'something else';
      } catch (error) {
        return codeOf(error) === undefined ? 'a defect' : 'refused';
      }
    };
    expect(outcome(content.length, stream)).toBe('the content');
    for (const parts of [
      [stream, Buffer.from('garbage')],
      [stream, Buffer.alloc(9)],
      [stream, nothing],
      [stream.subarray(0, -1)],
      [],
    ])
      expect(outcome(content.length, ...parts)).toBe('refused');
    // Some clients read the first one only.
    expect(outcome(content.length, nothing, stream)).not.toBe('the content');
    expect(outcome(content.length - 1, stream)).toBe('refused');
  },
);
