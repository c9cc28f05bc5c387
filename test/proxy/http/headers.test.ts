import { describe, expect, it } from 'vitest';

import { DEFAULT_QUOTAS } from '../../proxy/config.js';
import { createHeaderTable, type HeaderList } from '../../proxy/headers.js';

const table = createHeaderTable(DEFAULT_QUOTAS, '<x>; rel="y"');

function valueOf(headers: HeaderList, name: string): string | undefined {
  const index = headers.findIndex((entry, place) => place % 2 === 0 && entry === name);
  return index === -1 ? undefined : headers[index + 1];
}

/** Word for word the table of decisions.md. */
const DECIDED = [
  [
    'record',
    'public, max-age=300, stale-while-revalidate=600, stale-if-error=86400',
    'max-age=3600, stale-while-revalidate=600, stale-if-error=86400',
  ],
  [
    'summary',
    'public, max-age=60, stale-while-revalidate=120, stale-if-error=3600',
    'max-age=300, stale-while-revalidate=120, stale-if-error=3600',
  ],
  ['download', 'public, max-age=3600, stale-if-error=86400', 'max-age=86400, stale-if-error=86400'],
  ['feed', 'public, max-age=900, stale-if-error=86400', 'max-age=900, stale-if-error=86400'],
  ['page', 'public, max-age=3600, stale-if-error=86400', 'max-age=86400, stale-if-error=86400'],
] as const;

const ALL = ['record', 'summary', 'download', 'feed', 'page', 'unrouted'] as const;

describe('createHeaderTable', () => {
  it.each(DECIDED)('keeps a %s as decided', (cacheClass, cacheControl, cdn) => {
    expect(valueOf(table.content[cacheClass], 'Cache-Control')).toBe(cacheControl);
    expect(valueOf(table.content[cacheClass], 'CDN-Cache-Control')).toBe(cdn);
  });

  it.each(ALL)('keeps a 404 of class %s for a minute, and other errors not at all', (answerClass) => {
    expect(valueOf(table.brief[answerClass], 'Cache-Control')).toBe('public, max-age=60');
    expect(valueOf(table.brief[answerClass], 'CDN-Cache-Control')).toBe('max-age=60');
    expect(valueOf(table.uncached[answerClass], 'Cache-Control')).toBe('no-store');
    expect(valueOf(table.uncached[answerClass], 'CDN-Cache-Control')).toBeUndefined();
  });

  it('never uses s-maxage, which forbids serving stale', () => {
    expect(JSON.stringify(table)).not.toContain('s-maxage');
  });

  it('puts CORS, nosniff and RateLimit-Policy on every answer', () => {
    for (const headers of [table.content, table.brief, table.uncached].flatMap((lists) =>
      Object.values(lists),
    )) {
      expect(valueOf(headers, 'Access-Control-Allow-Origin')).toBe('*');
      expect(valueOf(headers, 'Access-Control-Expose-Headers')).toBe(
        'ETag, Retry-After, RateLimit, RateLimit-Policy, Content-Range, Accept-Ranges, Age, Content-Disposition, Link',
      );
      expect(valueOf(headers, 'X-Content-Type-Options')).toBe('nosniff');
      expect(valueOf(headers, 'RateLimit-Policy')).toMatch(/^"(?:api|download)";q=\d+;w=\d+$/);
    }
  });

  it('tells downloads their own policy, and the others that of the API', () => {
    for (const answerClass of ALL) {
      const policy = answerClass === 'download' ? '"download";q=12;w=720' : '"api";q=60;w=60';
      expect(valueOf(table.brief[answerClass], 'RateLimit-Policy')).toBe(policy);
    }
    expect(valueOf(table.content.download, 'RateLimit-Policy')).toBe('"download";q=12;w=720');
  });

  it('tells the policy in force, in whole seconds', () => {
    const quotas = { api: { tokens: 7, refillMs: 150 }, download: { tokens: 2, refillMs: 500 } };
    const changed = createHeaderTable(quotas, undefined);
    expect(valueOf(changed.content.record, 'RateLimit-Policy')).toBe('"api";q=7;w=2');
    expect(valueOf(changed.content.download, 'RateLimit-Policy')).toBe('"download";q=2;w=1');
  });

  it('describes the API by Link on its answers and on what is nothing else, once it knows how', () => {
    const withLink = ALL.filter(
      (answerClass) => valueOf(table.uncached[answerClass], 'Link') === '<x>; rel="y"',
    );
    expect(withLink).toEqual(['record', 'summary', 'unrouted']);
    expect(JSON.stringify(createHeaderTable(DEFAULT_QUOTAS, undefined))).not.toContain('"Link"');
  });

  it('lets pages run nothing that stands in the page itself', () => {
    const policy = valueOf(table.content.page, 'Content-Security-Policy');
    expect(policy).toContain("default-src 'self'");
    expect(policy).not.toContain('unsafe');
    expect(valueOf(table.content.record, 'Content-Security-Policy')).toBeUndefined();
  });
});
