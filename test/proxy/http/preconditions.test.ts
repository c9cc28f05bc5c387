import { assert as check, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  evaluatePreconditions,
  isRangeCurrent,
  parseHttpDate,
  type Outcome,
} from '../../../proxy/http/preconditions.js';

const ETAG = '"0123456789abcdef0123456789abcdef"';
const DATE = 'Fri, 20 Nov 2026 08:00:00 GMT';
const BEFORE = 'Fri, 20 Nov 2026 07:59:59 GMT';
const AFTER = 'Fri, 20 Nov 2026 08:00:01 GMT';
const VALIDATORS = { etag: ETAG, modifiedSeconds: Date.UTC(2026, 10, 20, 8, 0, 0) / 1000 };

const evaluate = (headers: Record<string, string>): Outcome => evaluatePreconditions(headers, VALIDATORS);
const both = (list: string): Outcome[] => [
  evaluate({ 'if-none-match': list }),
  evaluate({ 'if-match': list }),
];

describe('evaluatePreconditions', () => {
  it('finds the tag in no list of others, nor in what is no list, and is quick', () => {
    const alike = [ETAG.slice(1, -1), `"a${ETAG.slice(1)}`, ETAG.slice(0, -1), `w/${ETAG}`, `W/ ${ETAG}`];
    const noLists = [`"x" ${ETAG}`, `x, ${ETAG}`, `${ETAG}, x`, '"x", *', '', '"'];
    const long = ['"'.repeat(200_001), `${', '.repeat(100_000)}x`];
    const startedMs = performance.now();
    for (const list of ['"x"', ...alike, ...noLists, ...long])
      expect(both(list), list.slice(0, 50)).toEqual(['proceed', 'failed']);
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });

  it('finds the tag in lists, and its weak form for If-None-Match alone', () => {
    const lists = [ETAG, `"x", W/"y",${ETAG}`, `W/${ETAG}, ${ETAG}`, `,, ${ETAG} ,`, '*', ' * '];
    for (const list of [...lists, `"a,b", ${ETAG}`, `"\xe9", ${ETAG}`, `"", ${ETAG}`])
      expect(both(list), list).toEqual(['not_modified', 'proceed']);
    expect(both(`W/${ETAG}`)).toEqual(['not_modified', 'failed']);
  });

  it.each<[expected: Outcome, headers: Record<string, string>]>([
    ['proceed', {}],
    ['proceed', { 'if-modified-since': BEFORE }],
    ['not_modified', { 'if-modified-since': DATE }],
    // Of a tree restored from a backup, a client that has the withdrawn version has the later date.
    ['proceed', { 'if-modified-since': AFTER }],
    ['proceed', { 'if-modified-since': '1' }],
    ['failed', { 'if-unmodified-since': BEFORE }],
    ['proceed', { 'if-unmodified-since': DATE }],
    ['proceed', { 'if-unmodified-since': AFTER }],
    ['proceed', { 'if-unmodified-since': '1' }],
    ['proceed', { 'if-unmodified-since': '' }],
    // If-None-Match counts alone, even if it is no list.
    ['proceed', { 'if-none-match': '"x"', 'if-modified-since': DATE }],
    ['proceed', { 'if-none-match': 'x', 'if-modified-since': DATE }],
    ['not_modified', { 'if-none-match': ETAG, 'if-modified-since': BEFORE }],
    // If-Match comes first, and keeps If-Unmodified-Since out; that comes before the others.
    ['failed', { 'if-match': '"x"', 'if-none-match': ETAG }],
    ['not_modified', { 'if-match': ETAG, 'if-none-match': ETAG }],
    ['proceed', { 'if-match': ETAG, 'if-unmodified-since': BEFORE }],
    ['failed', { 'if-match': '"x"', 'if-unmodified-since': DATE }],
    ['failed', { 'if-unmodified-since': BEFORE, 'if-none-match': ETAG }],
    ['failed', { 'if-unmodified-since': BEFORE, 'if-modified-since': DATE }],
    ['not_modified', { 'if-unmodified-since': DATE, 'if-modified-since': DATE }],
  ])('is %s for %j', (expected, headers) => {
    expect(evaluate(headers)).toBe(expected);
  });
});

it('isRangeCurrent wants the very tag, or no If-Range', () => {
  expect(isRangeCurrent({}, VALIDATORS)).toBe(true);
  // No date either: two snapshots may be published within its second.
  const fields = [ETAG, `W/${ETAG}`, '"x"', '*', `${ETAG}, ${ETAG}`, DATE];
  expect(fields.filter((field) => isRangeCurrent({ 'if-range': field }, VALIDATORS))).toEqual([ETAG]);
});

describe('parseHttpDate', () => {
  it('reads the three forms of RFC 9110 §5.6.7, and what Date writes', () => {
    const seconds = Date.UTC(1994, 10, 6, 8, 49, 37) / 1000;
    expect(parseHttpDate('Sun, 06 Nov 1994 08:49:37 GMT')).toBe(seconds);
    expect(parseHttpDate('Sunday, 06-Nov-94 08:49:37 GMT')).toBe(seconds);
    expect(parseHttpDate('Sun Nov  6 08:49:37 1994')).toBe(seconds);
    const anySecond = integer({ min: 0, max: Date.UTC(9999, 11, 31) / 1000 });
    check(property(anySecond, (at) => parseHttpDate(new Date(at * 1000).toUTCString()) === at));
  });

  it('takes two-digit years from 70 on for those of the last century, and reads a leap second', () => {
    expect(parseHttpDate('Thursday, 01-Jan-70 00:00:00 GMT')).toBe(0);
    expect(parseHttpDate('Tuesday, 01-Jan-69 00:00:00 GMT')).toBe(Date.UTC(2069, 0, 1) / 1000);
    expect(parseHttpDate('Sat, 31 Dec 2016 23:59:60 GMT')).toBe(Date.UTC(2017, 0, 1) / 1000);
  });

  it('takes nothing else for a date', () => {
    const forms = [
      '',
      '1',
      '2026',
      '2099-01-01T00:00:00Z',
      DATE.toLowerCase(),
      ` ${DATE}`,
      `${DATE}, ${DATE}`,
    ];
    const zones = ['', ' UTC', ' +0000'].map((zone) => DATE.replace(' GMT', zone));
    const days = ['31 Feb', '00 Nov'].map((day) => DATE.replace('20 Nov', day));
    const times = ['24:00:00', '08:60:00', '08:00:61', '8:00:00'].map((time) =>
      DATE.replace('08:00:00', time),
    );
    const read = [...forms, ...zones, ...days, ...times].filter((text) => parseHttpDate(text) !== undefined);
    expect(read).toEqual([]);
  });
});
