import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

import { descriptorWarning } from '../../proxy/descriptors.js';

describe('descriptorWarning', () => {
  it('warns of more connections than there are file descriptors for, and says how many there are', async () => {
    const limit = Number(execFileSync('/bin/sh', ['-c', 'ulimit -n']).toString());
    expect(await descriptorWarning(limit - 256)).toBeUndefined();
    expect(await descriptorWarning(limit)).toBe(
      `--max-connections ${limit} is more than ${limit} file descriptors allow: ` +
        `raise the limit (ulimit -n) or set it to ${limit - 256}`,
    );
  });
});
