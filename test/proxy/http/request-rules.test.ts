import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';

import { hasKnownLength, hasValidHost } from '../../proxy/request-rules.js';

/** As Node hands over a request of HTTP/1.1 with these fields. */
function request(rawHeaders: string[], httpVersion = '1.1'): IncomingMessage {
  const incoming = new IncomingMessage(new Socket());
  incoming.httpVersion = httpVersion;
  incoming.rawHeaders = rawHeaders;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    incoming.headers[rawHeaders[index]!.toLowerCase()] ??= rawHeaders[index + 1];
  }
  return incoming;
}

describe('hasValidHost', () => {
  it.each([
    'a b',
    'a/b',
    'a?b',
    'a#b',
    'user@a',
    'a:b',
    'a:80:80',
    '[::1',
    '::1',
    '[zz]',
    'a%',
    'a%2',
    'a\\b',
    '<a>',
    'é',
  ])('is false for %j', (host) => {
    expect(hasValidHost(request(['Host', host]))).toBe(false);
  });

  it.each([
    'register.example',
    'REGISTER.example:8080',
    'register.example:',
    '127.0.0.1:80',
    '[::1]:8080',
    '[2001:db8::7]',
    '[v1.a:b]',
    'a_b.example',
    'a%20b',
    '',
  ])('is true for %j', (host) => {
    expect(hasValidHost(request(['Host', host]))).toBe(true);
  });

  it('wants exactly one, but of HTTP/1.0, which may go without', () => {
    expect(hasValidHost(request([]))).toBe(false);
    expect(hasValidHost(request([], '1.0'))).toBe(true);
    for (const version of ['1.0', '1.1']) {
      expect(hasValidHost(request(['Host', 'a', 'X', 'y', 'hOST', 'a'], version))).toBe(false);
    }
  });

  it('is quick with a long one', () => {
    const startedMs = performance.now();
    for (const part of ['a', '%', '%2', '[', ':', 'a:', '[v1.'])
      hasValidHost(request(['Host', part.repeat(16_000)]));
    expect(performance.now() - startedMs).toBeLessThan(500);
  });
});

describe('hasKnownLength', () => {
  it.each([
    ['chunked', true],
    ['Chunked', true],
    ['gzip, chunked', true],
    ['gzip,\tchunked ', true],
    ['gzip', false],
    ['chunked, gzip', false],
    ['xchunked', false],
    ['chunked;q=1', false],
    ['', false],
  ])('of Transfer-Encoding %j is %s', (coding, expected) => {
    expect(hasKnownLength(request(['Transfer-Encoding', coding]))).toBe(expected);
  });
});
