import { describe, expect, it } from 'vitest';

import { evaluatePreconditions, isRangeCurrent } from '../../../proxy/http/conditions.js';

const ETAG = '"0123456789abcdef0123456789abcdef"';
const DATE = 'Fri, 20 Nov 2026 08:00:00 GMT';
const BEFORE = 'Fri, 20 Nov 2026 07:59:59 GMT';
const AFTER = 'Fri, 20 Nov 2026 08:00:01 GMT';
const VALIDATORS = { etag: ETAG, lastModified: DATE };
const WEAK = { etag: `W/${ETAG}`, lastModified: DATE };

const evaluate = (headers: Record<string, string>) => evaluatePreconditions(headers, VALIDATORS);
const both = (list: string) => [evaluate({ 'if-none-match': list }), evaluate({ 'if-match': list })];

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

  it.each<[expected: string, headers: Record<string, string>]>([
    ['proceed', {}],
    // Of a tree restored from a backup, a client that has the withdrawn version has the later date.
    ['proceed', { 'if-modified-since': AFTER }],
    ['proceed', { 'if-unmodified-since': AFTER }],
    // Dates as nobody sends them back to us.
    ['proceed', { 'if-unmodified-since': '1' }],
    ['proceed', { 'if-unmodified-since': 'Friday, 20-Nov-26 07:59:59 GMT' }],
    ['proceed', { 'if-unmodified-since': `${BEFORE}, ${BEFORE}` }],
    ['proceed', { 'if-modified-since': 'Friday, 20-Nov-26 08:00:00 GMT' }],
    // If-None-Match counts alone, even if it is no list.
    ['proceed', { 'if-none-match': '"x"', 'if-modified-since': DATE }],
    ['not_modified', { 'if-none-match': ETAG, 'if-modified-since': BEFORE }],
    // If-Match comes first, and keeps If-Unmodified-Since out; that comes before the others.
    ['failed', { 'if-match': '"x"', 'if-none-match': ETAG }],
    ['proceed', { 'if-match': ETAG, 'if-unmodified-since': BEFORE }],
    ['failed', { 'if-match': '"x"', 'if-unmodified-since': DATE }],
    ['failed', { 'if-unmodified-since': BEFORE, 'if-none-match': ETAG }],
    ['failed', { 'if-unmodified-since': BEFORE, 'if-modified-since': DATE }],
    ['not_modified', { 'if-unmodified-since': DATE, 'if-modified-since': DATE }],
  ])('is %s for %j', (expected, headers) => {
    expect(evaluate(headers)).toBe(expected);
  });
});

it('a weak tag of ours matches for If-None-Match alone', () => {
  for (const tag of [ETAG, WEAK.etag]) {
    expect(evaluatePreconditions({ 'if-none-match': `"x", ${tag}` }, WEAK)).toBe('not_modified');
    expect(evaluatePreconditions({ 'if-match': tag }, WEAK)).toBe('failed');
    expect(isRangeCurrent({ 'if-range': tag }, WEAK)).toBe(false);
  }
  expect(evaluatePreconditions({ 'if-none-match': '"x"' }, WEAK)).toBe('proceed');
  expect(evaluatePreconditions({ 'if-match': '*' }, WEAK)).toBe('proceed');
});

it('isRangeCurrent wants the very tag, or no If-Range', () => {
  expect(isRangeCurrent({}, VALIDATORS)).toBe(true);
  // No date either: two snapshots may be published within its second.
  const fields = [ETAG, `W/${ETAG}`, '"x"', '*', `${ETAG}, ${ETAG}`, DATE];
  expect(fields.filter((field) => isRangeCurrent({ 'if-range': field }, VALIDATORS))).toEqual([ETAG]);
});
