import { expect, it } from 'vitest';

import { errorCode, rateLimitedLog } from '../../proxy/log.js';

it('rateLimitedLog writes one line per interval, and then how many it left out', () => {
  let nowMs = 0;
  const lines: string[] = [];
  const log = rateLimitedLog({ clock: () => nowMs, log: (line) => void lines.push(line) }, 1_000);
  for (const line of ['a', 'b', 'c']) log(line);
  nowMs = 999;
  log('d');
  nowMs = 1_000;
  log('e');
  nowMs = 2_000;
  log('f');
  expect(lines).toEqual(['a', 'e (and 3 more since the last such line)', 'f']);
});

it('errorCode is the code of an error that has one', () => {
  expect(errorCode(Object.assign(new Error('no such file'), { code: 'ENOENT' }))).toBe('ENOENT');
  expect([new Error('x'), Object.assign(new Error('x'), { code: 7 }), 'ENOENT', null].map(errorCode)).toEqual(
    [undefined, undefined, undefined, undefined],
  );
});
