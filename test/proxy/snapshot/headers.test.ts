import { describe, expect, it } from 'vitest';

import {
  ALLOW,
  BUILT_IN,
  CACHE_CLASSES,
  createHeaderTables,
  type HeaderList,
  type HeaderTables,
} from '../../../proxy/snapshot/headers.js';
import { BUCKETS, DEFAULT_QUOTAS, type BucketName } from '../../../proxy/limiter/gcra.js';
import { EXPOSED, HEADERS } from '../support.js';

const tables = createHeaderTables(HEADERS, DEFAULT_QUOTAS);
const builtIn = createHeaderTables(BUILT_IN, DEFAULT_QUOTAS);

function valueOf(headers: HeaderList, name: string): string | undefined {
  const index = headers.findIndex((entry, place) => place % 2 === 0 && entry === name);
  return index === -1 ? undefined : headers[index + 1];
}

/** Every list of a table. */
function listsOf({
  content,
  notFound,
  error,
  options,
}: HeaderTables): readonly [bucket: BucketName, list: HeaderList][] {
  return [...Object.values(content), notFound, error, options].flatMap((lists) =>
    BUCKETS.map((bucket): [BucketName, HeaderList] => [bucket, lists[bucket]]),
  );
}

const POLICIES: Readonly<Record<BucketName, string>> = {
  api: '"api";q=60;w=60',
  download: '"download";q=12;w=720, "api";q=60;w=60',
  page: '"page";q=240;w=60',
};

describe('createHeaderTables', () => {
  it.each(CACHE_CLASSES)(
    'gives content of class %s the lifetimes that are declared, whatever its bucket',
    (name) => {
      for (const bucket of BUCKETS) {
        const headers = tables.content[name][bucket];
        for (const [field, value] of Object.entries(HEADERS.content[name])) {
          expect(valueOf(headers, field)).toBe(value);
        }
        expect(valueOf(headers, 'CDN-Cache-Control')).toContain('max-age=');
        expect(valueOf(headers, 'Accept-Ranges')).toBe('bytes');
      }
    },
  );

  it('states the policy in force, in whole seconds', () => {
    const quotas = {
      api: { burst: 7, emissionIntervalMs: 150 },
      download: { burst: 2, emissionIntervalMs: 500 },
      page: { burst: 1, emissionIntervalMs: 1 },
    };
    const { content } = createHeaderTables(HEADERS, quotas);
    expect(valueOf(content.record.api, 'RateLimit-Policy')).toBe('"api";q=7;w=2');
    expect(valueOf(content.download.download, 'RateLimit-Policy')).toBe('"download";q=2;w=1, "api";q=7;w=2');
    expect(valueOf(content.page.page, 'RateLimit-Policy')).toBe('"page";q=1;w=1');
  });
});

describe('BUILT_IN', () => {
  it('has no response stored, any script read it, and nothing that only a snapshot can say', () => {
    for (const [bucket, headers] of listsOf(builtIn)) {
      const expected = {
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Expose-Headers': EXPOSED,
        'Cross-Origin-Resource-Policy': 'cross-origin',
        'X-Content-Type-Options': 'nosniff',
        'RateLimit-Policy': POLICIES[bucket],
        'Cache-Control': 'no-store',
      };
      expect(headers).toEqual([
        ...Object.entries(expected).flat(),
        ...(headers.includes('Allow') ? ALLOW : []),
      ]);
    }
    expect(builtIn.options.api).toContain('Allow');
    expect(builtIn.error.api).not.toContain('Allow');
  });
});
