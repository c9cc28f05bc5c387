import { describe, expect, it } from 'vitest';

import {
  ALLOW,
  BUILT_IN,
  CACHE_CLASSES,
  createHeaderTables,
  type HeaderList,
} from '../../../proxy/snapshot/headers.js';
import { BUCKETS, DEFAULT_QUOTAS } from '../../../proxy/limiter/gcra.js';
import { EXPOSED, HEADERS } from '../support.js';

const fieldsOf = (list: HeaderList): Record<string, string> =>
  Object.fromEntries(list.flatMap((name, at) => (at % 2 === 0 ? [[name, list[at + 1] ?? '']] : [])));

describe('createHeaderTables', () => {
  it('gives content the lifetimes that are declared for its class, whatever its bucket', () => {
    const { content } = createHeaderTables(HEADERS, DEFAULT_QUOTAS);
    for (const name of CACHE_CLASSES)
      for (const bucket of BUCKETS)
        expect(fieldsOf(content[name][bucket])).toMatchObject(HEADERS.content[name]);
  });

  it('states the policy in force, in whole seconds', () => {
    const { content } = createHeaderTables(HEADERS, {
      api: { burst: 7, emissionIntervalMs: 150 },
      download: { burst: 2, emissionIntervalMs: 500 },
      page: { burst: 1, emissionIntervalMs: 1 },
    });
    const policies = BUCKETS.map((bucket) => fieldsOf(content.record[bucket])['RateLimit-Policy']);
    expect(policies).toEqual(['"api";q=7;w=2', '"download";q=2;w=1, "api";q=7;w=2', '"page";q=1;w=1']);
  });
});

it('BUILT_IN has no response stored, any script read it, and nothing that only a snapshot can say', () => {
  const { content, notFound, error, options } = createHeaderTables(BUILT_IN, DEFAULT_QUOTAS);
  const expected = {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': EXPOSED,
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'X-Content-Type-Options': 'nosniff',
    'RateLimit-Policy': '"api";q=60;w=60',
    'Cache-Control': 'no-store',
  };
  for (const { api } of [...Object.values(content), notFound, error]) expect(fieldsOf(api)).toEqual(expected);
  expect(options.api).toEqual([...Object.entries(expected).flat(), ...ALLOW]);
  expect(fieldsOf(error.download)['RateLimit-Policy']).toBe('"download";q=12;w=720, "api";q=60;w=60');
  expect(fieldsOf(error.page)['RateLimit-Policy']).toBe('"page";q=240;w=60');
});
