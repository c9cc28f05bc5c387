import { describe, expect, it } from 'vitest';

import { problemBody, PROBLEMS } from '../../proxy/problems.js';
import { uriReference } from '../../proxy/uri-reference.js';
import { problemOf } from './support.js';

function instanceOf(path: string): unknown {
  return problemOf({ text: problemBody('invalid_path', '', '', path).toString() }).instance;
}

describe('problemBody', () => {
  it('has the six keys of the contract in their order', () => {
    const body = problemBody(
      'not_found',
      'https://register.example/developers',
      'nothing here',
      '/x',
    ).toString('utf8');
    expect(body).toBe(
      '{"type":"https://register.example/developers#error-not_found","title":"Not found","status":404,' +
        '"detail":"nothing here","instance":"/x","error":"not_found"}',
    );
  });

  it('has the statuses of the contract', () => {
    const statuses = Object.entries(PROBLEMS).map(([code, { status }]) => `${code} ${status}`);
    expect(statuses).toEqual([
      'invalid_id 400',
      'invalid_limit 400',
      'invalid_path 400',
      'not_found 404',
      'method_not_allowed 405',
      'uri_too_long 414',
      'range_not_satisfiable 416',
      'rate_limited 429',
      'internal 500',
      'no_snapshot 503',
    ]);
  });

  it('repeats no more than 256 characters of a path, and no half of an escape', () => {
    expect(instanceOf(`/${'a'.repeat(5_000)}`)).toBe(`/${'a'.repeat(255)}`);
    expect(instanceOf(`/${'a'.repeat(254)}%41`)).toBe(`/${'a'.repeat(254)}`);
    expect(instanceOf(`/${'a'.repeat(253)}%41`)).toBe(`/${'a'.repeat(253)}`);
  });
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
});
