import { array, assert as check, constantFrom, oneof, property, string as anyString } from 'fast-check';
import { expect, it } from 'vitest';

import { parseTarget } from '../../../proxy/tree/target.js';

/** Targets with more than their share of what makes a difference. */
const TARGETS = array(
  oneof(
    constantFrom(...'/ / . %2e %2F %61 %7E %25 %32 % %C3%A9 ? # \\ @ a'.split(' ')),
    anyString({ unit: 'binary-ascii', maxLength: 3 }),
  ),
  { maxLength: 10 },
).map((pieces) => `/${pieces.join('')}`);

function segmentsOf(path: string): string[] {
  return path
    .replace(/(.)\/$/, '$1')
    .split('/')
    .map(decodeURIComponent);
}

it('parseTarget redirects once, to what is canonical, on this host, and means the same', () => {
  // Reserved characters may stay as they are, or escaped; all that is unreserved has one form.
  const needless = /%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/i;
  const redirected = property(TARGETS, (target) => {
    const parsed = parseTarget(target);
    if (parsed.kind === 'target') return !needless.test(parsed.path);
    if (parsed.kind !== 'redirect') return true;
    const again = parseTarget(parsed.location);
    return (
      again.kind === 'target' &&
      new URL(parsed.location, 'http://register.example').host === 'register.example' &&
      segmentsOf(again.path).join('\n') === segmentsOf(parsed.path).join('\n')
    );
  });
  expect(() => check(redirected, { numRuns: 3_000 })).not.toThrow();
});
