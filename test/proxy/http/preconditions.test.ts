import { describe, expect, it } from 'vitest';

import { isNotModified, parseHttpDate } from '../../proxy/conditions.js';

const ETAG = '"0123456789abcdef0123456789abcdef"';
const MODIFIED = Date.UTC(2026, 10, 20, 8, 0, 0) / 1000;
const DATE = 'Fri, 20 Nov 2026 08:00:00 GMT';

function notModified(headers: Record<string, string>): boolean {
  return isNotModified(headers, { etag: ETAG, modifiedSeconds: MODIFIED });
}

describe('isNotModified by If-None-Match', () => {
  it.each([
    ['another tag', '"x"'],
    ['the tag without quotes', ETAG.slice(1, -1)],
    ['the tag within another', `"a${ETAG.slice(1)}`],
    ['half of the tag', ETAG.slice(0, -1)],
    ['lower-case weak prefix', `w/${ETAG}`],
    ['a space in the prefix', `W/ ${ETAG}`],
    ['tags without a comma', `"x" ${ETAG}`],
    ['words before', `x, ${ETAG}`],
    ['words after', `${ETAG}, x`],
    ['asterisk in a list', `"x", *`],
    ['nothing', ''],
    ['quotes only', '"'],
    ['200 kB of quotes', '"'.repeat(200_001)],
    ['200 kB of commas and spaces', `${', '.repeat(100_000)}x`],
  ])('is false for %s, and quick', (_name, value) => {
    const startedMs = performance.now();
    expect(notModified({ 'if-none-match': value })).toBe(false);
    expect(performance.now() - startedMs).toBeLessThan(500);
  });

  it.each([
    ['the tag', ETAG],
    ['its weak form', `W/${ETAG}`],
    ['a list with it', `"x", W/"y",${ETAG}`],
    ['a list with empty elements', `,, ${ETAG} ,`],
    ['tags that hold commas', `"a,b", ${ETAG}`],
    ['tags that hold obs-text', `"\xe9", ${ETAG}`],
    ['an empty tag beside it', `"", ${ETAG}`],
    ['asterisk', '*'],
    ['asterisk in spaces', ' * '],
  ])('is true for %s', (_name, value) => {
    expect(notModified({ 'if-none-match': value })).toBe(true);
  });

  it('decides alone: If-Modified-Since counts for nothing beside it, even if it is malformed', () => {
    expect(notModified({ 'if-none-match': '"x"', 'if-modified-since': DATE })).toBe(false);
    expect(notModified({ 'if-none-match': 'x', 'if-modified-since': DATE })).toBe(false);
    expect(notModified({ 'if-none-match': ETAG, 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' })).toBe(
      true,
    );
  });
});

describe('isNotModified by If-Modified-Since', () => {
  it.each([
    ['Fri, 20 Nov 2026 07:59:59 GMT', false],
    [DATE, true],
    ['Fri, 20 Nov 2026 08:00:01 GMT', true],
    ['Friday, 20-Nov-26 08:00:00 GMT', true],
    ['Fri Nov 20 08:00:00 2026', true],
  ])('%s: %s', (value, expected) => {
    expect(notModified({ 'if-modified-since': value })).toBe(expected);
  });

  it('is false without either field', () => {
    expect(notModified({})).toBe(false);
  });
});

describe('parseHttpDate', () => {
  it.each([
    '',
    '1',
    '2026',
    '2099-01-01T00:00:00Z',
    'Fri, 20 Nov 2026 08:00:00',
    'Fri, 20 Nov 2026 08:00:00 UTC',
    'Fri, 20 Nov 2026 08:00:00 +0000',
    'fri, 20 nov 2026 08:00:00 gmt',
    'Fri, 31 Feb 2026 08:00:00 GMT',
    'Fri, 00 Nov 2026 08:00:00 GMT',
    'Fri, 20 Nov 2026 24:00:00 GMT',
    'Fri, 20 Nov 2026 08:60:00 GMT',
    'Fri, 20 Nov 2026 8:00:00 GMT',
    ` ${DATE}`,
    `${DATE}, ${DATE}`,
  ])('takes %j for no date', (text) => {
    expect(parseHttpDate(text)).toBeUndefined();
  });

  it('reads the three forms of RFC 9110 §5.6.7', () => {
    const seconds = Date.UTC(1994, 10, 6, 8, 49, 37) / 1000;
    expect(parseHttpDate('Sun, 06 Nov 1994 08:49:37 GMT')).toBe(seconds);
    expect(parseHttpDate('Sunday, 06-Nov-94 08:49:37 GMT')).toBe(seconds);
    expect(parseHttpDate('Sun Nov  6 08:49:37 1994')).toBe(seconds);
  });
});
