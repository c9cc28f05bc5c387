import { array, assert as check, constantFrom, oneof, property, string as anyString } from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseTarget, uriReference } from '../../../proxy/tree/target.js';

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

describe('uriReference', () => {
  it.each([
    ['/%zz', '/%25zz'],
    ['/%', '/%25'],
    ['/%41%', '/%41%25'],
    ['/\xe9 "<>\\^`{|}[]#\0\x7f', '/%E9%20%22%3C%3E%5C%5E%60%7B%7C%7D%5B%5D%23%00%7F'],
    ['//evil.example/', '/%2Fevil.example/'],
    ["/api/v1?limit=1&x=a:b@c!$'()*+,;=~-._", "/api/v1?limit=1&x=a:b@c!$'()*+,;=~-._"],
    ['/%C3%A9', '/%C3%A9'],
  ])('of %j is %s', (received, reference) => {
    expect(uriReference(received)).toBe(reference);
  });

  it('changes nothing that is one already', () => {
    const same = property(TARGETS, (target) => uriReference(uriReference(target)) === uriReference(target));
    expect(() => check(same)).not.toThrow();
  });
});
