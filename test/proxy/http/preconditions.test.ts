import { assert as check, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  evaluatePreconditions,
  isRangeCurrent,
  parseHttpDate,
  type Outcome,
} from '../../../proxy/http/preconditions.js';

const ETAG = '"0123456789abcdef0123456789abcdef"';
const MODIFIED = Date.UTC(2026, 10, 20, 8, 0, 0) / 1000;
const DATE = 'Fri, 20 Nov 2026 08:00:00 GMT';

const BEFORE = 'Fri, 20 Nov 2026 07:59:59 GMT';
const AFTER = 'Fri, 20 Nov 2026 08:00:01 GMT';

function evaluate(headers: Record<string, string>): Outcome {
  return evaluatePreconditions(headers, { etag: ETAG, modifiedSeconds: MODIFIED });
}

/** Lists that do not have the tag, some of which are no lists. */
const OTHER_LISTS: readonly [string, string][] = [
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
];

/** Lists that have it in its strong form. */
const LISTS: readonly [string, string][] = [
  ['the tag', ETAG],
  ['a list with it', `"x", W/"y",${ETAG}`],
  ['a list with both of its forms', `W/${ETAG}, ${ETAG}`],
  ['a list with empty elements', `,, ${ETAG} ,`],
  ['tags that hold commas', `"a,b", ${ETAG}`],
  ['tags that hold obs-text', `"\xe9", ${ETAG}`],
  ['an empty tag beside it', `"", ${ETAG}`],
  ['asterisk', '*'],
  ['asterisk in spaces', ' * '],
];

/** The outcome, which is quick whatever the field. */
function quickly(headers: Record<string, string>): Outcome {
  const startedMs = performance.now();
  const outcome = evaluate(headers);
  expect(performance.now() - startedMs).toBeLessThan(500);
  return outcome;
}

describe('evaluatePreconditions: lists', () => {
  it.each(OTHER_LISTS)('lack the tag: %s', (_name, value) => {
    expect(quickly({ 'if-none-match': value })).toBe('proceed');
    expect(quickly({ 'if-match': value })).toBe('failed');
  });

  it.each(LISTS)('have the tag: %s', (_name, value) => {
    expect(evaluate({ 'if-none-match': value })).toBe('not_modified');
    expect(evaluate({ 'if-match': value })).toBe('proceed');
  });

  it('have its weak form, which matches weakly alone', () => {
    expect(evaluate({ 'if-none-match': `W/${ETAG}` })).toBe('not_modified');
    expect(evaluate({ 'if-match': `W/${ETAG}` })).toBe('failed');
  });
});

describe('evaluatePreconditions: If-None-Match', () => {
  it('decides alone: If-Modified-Since counts for nothing beside it, even if the list is malformed', () => {
    expect(evaluate({ 'if-none-match': '"x"', 'if-modified-since': DATE })).toBe('proceed');
    expect(evaluate({ 'if-none-match': 'x', 'if-modified-since': DATE })).toBe('proceed');
    expect(evaluate({ 'if-none-match': ETAG, 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' })).toBe(
      'not_modified',
    );
  });
});

describe('evaluatePreconditions: If-Modified-Since', () => {
  it.each([
    [BEFORE, 'proceed'],
    [DATE, 'not_modified'],
    // After a rollback, a client that has the withdrawn version has the later date.
    [AFTER, 'proceed'],
    ['Friday, 20-Nov-26 08:00:00 GMT', 'not_modified'],
    ['Fri Nov 20 08:00:00 2026', 'not_modified'],
    ['1', 'proceed'],
  ])('%s: %s', (value, expected) => {
    expect(evaluate({ 'if-modified-since': value })).toBe(expected);
  });

  it('proceeds without any field', () => {
    expect(evaluate({})).toBe('proceed');
  });
});

describe('evaluatePreconditions: If-Match', () => {
  it('comes before If-None-Match, and keeps If-Unmodified-Since out', () => {
    expect(evaluate({ 'if-match': '"x"', 'if-none-match': ETAG })).toBe('failed');
    expect(evaluate({ 'if-match': ETAG, 'if-none-match': ETAG })).toBe('not_modified');
    expect(evaluate({ 'if-match': ETAG, 'if-unmodified-since': BEFORE })).toBe('proceed');
    expect(evaluate({ 'if-match': '"x"', 'if-unmodified-since': DATE })).toBe('failed');
  });
});

describe('evaluatePreconditions: If-Unmodified-Since', () => {
  it.each([
    [BEFORE, 'failed'],
    [DATE, 'proceed'],
    [AFTER, 'proceed'],
    ['Friday, 20-Nov-26 07:59:59 GMT', 'failed'],
    ['1', 'proceed'],
    ['', 'proceed'],
  ])('%s: %s', (value, expected) => {
    expect(evaluate({ 'if-unmodified-since': value })).toBe(expected);
  });

  it('comes before If-None-Match and If-Modified-Since', () => {
    expect(evaluate({ 'if-unmodified-since': BEFORE, 'if-none-match': ETAG })).toBe('failed');
    expect(evaluate({ 'if-unmodified-since': BEFORE, 'if-modified-since': DATE })).toBe('failed');
    expect(evaluate({ 'if-unmodified-since': DATE, 'if-modified-since': DATE })).toBe('not_modified');
  });
});

describe('isRangeCurrent', () => {
  it.each([
    [undefined, true],
    [ETAG, true],
    [`W/${ETAG}`, false],
    ['"x"', false],
    ['*', false],
    [`${ETAG}, ${ETAG}`, false],
    // No strong validator: two snapshots may be published within its second.
    [DATE, false],
  ])('of If-Range %s is %s', (value, expected) => {
    const headers = value === undefined ? {} : { 'if-range': value };
    expect(isRangeCurrent(headers, { etag: ETAG, modifiedSeconds: MODIFIED })).toBe(expected);
  });
});

describe('parseHttpDate', () => {
  it.each([
    '',
    '1',
    '2026',
    '2099-01-01T00:00:00Z',
    'fri, 20 nov 2026 08:00:00 gmt',
    'Fri, 20 Nov 2026 08:00:00',
    'Fri, 20 Nov 2026 08:00:00 UTC',
    'Fri, 20 Nov 2026 08:00:00 +0000',
    'Fri, 31 Feb 2026 08:00:00 GMT',
    'Fri, 00 Nov 2026 08:00:00 GMT',
    'Fri, 20 Nov 2026 24:00:00 GMT',
    'Fri, 20 Nov 2026 08:60:00 GMT',
    'Fri, 20 Nov 2026 08:00:61 GMT',
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

  it('takes two-digit years from 70 on for those of the last century', () => {
    expect(parseHttpDate('Thursday, 01-Jan-70 00:00:00 GMT')).toBe(0);
    expect(parseHttpDate('Tuesday, 01-Jan-69 00:00:00 GMT')).toBe(Date.UTC(2069, 0, 1) / 1000);
  });

  it('reads a leap second, the only time it has a 61st second for', () => {
    expect(parseHttpDate('Sat, 31 Dec 2016 23:59:60 GMT')).toBe(Date.UTC(2017, 0, 1) / 1000);
  });

  it('reads what Date writes', () => {
    expect(() =>
      check(
        property(integer({ min: 0, max: Date.UTC(9999, 11, 31) / 1000 }), (seconds) => {
          return parseHttpDate(new Date(seconds * 1000).toUTCString()) === seconds;
        }),
      ),
    ).not.toThrow();
  });
});
