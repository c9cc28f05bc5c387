import { describe, expect, it } from 'vitest';

import { FAILURE_LOG_MS } from '../../proxy/config.js';
import { createFailureLog } from '../../proxy/failure-log.js';

describe('createFailureLog', () => {
  it('lets one line through each second, and then says how many it kept back', () => {
    let nowMs = 0;
    const lines: string[] = [];
    const log = createFailureLog({ clock: () => nowMs, log: (line) => void lines.push(line) });
    for (const line of ['a', 'b', 'c']) log(line);
    nowMs = FAILURE_LOG_MS - 1;
    log('d');
    nowMs = FAILURE_LOG_MS;
    log('e');
    nowMs *= 2;
    log('f');
    expect(lines).toEqual(['a', 'e (and 3 more since the last such line)', 'f']);
  });
});
