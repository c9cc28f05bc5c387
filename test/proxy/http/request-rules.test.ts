import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';

import { findViolation, settleBody } from '../../../proxy/http/request-rules.js';

/** As Node hands over a request of HTTP/1.1 with these fields. */
function request(rawHeaders: string[], httpVersion = '1.1'): IncomingMessage {
  const incoming = new IncomingMessage(new Socket());
  incoming.httpVersion = httpVersion;
  incoming.httpVersionMajor = Number(httpVersion.split('.')[0]);
  incoming.rawHeaders = rawHeaders;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    incoming.headers[rawHeaders[index]!.toLowerCase()] ??= rawHeaders[index + 1];
  }
  return incoming;
}

function isRefused(rawHeaders: string[], httpVersion?: string): boolean {
  return findViolation(request(rawHeaders, httpVersion)) !== undefined;
}

describe('findViolation: Host', () => {
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
  ])('refuses %j', (host) => {
    expect(findViolation(request(['Host', host]))).toEqual({
      code: 'invalid_request',
      detail: 'Host header: expected exactly one, with a host and an optional port',
    });
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
  ])('accepts %j', (host) => {
    expect(isRefused(['Host', host])).toBe(false);
  });

  it('wants exactly one, but of HTTP/1.0, which may go without', () => {
    expect(isRefused([])).toBe(true);
    expect(isRefused([], '1.0')).toBe(false);
    for (const version of ['1.0', '1.1']) {
      expect(isRefused(['Host', 'a', 'X', 'y', 'hOST', 'a'], version)).toBe(true);
    }
  });

  it('is quick with a long one', () => {
    const startedMs = performance.now();
    for (const part of ['a', '%', '%2', '[', ':', 'a:', '[v1.']) isRefused(['Host', part.repeat(16_000)]);
    expect(performance.now() - startedMs).toBeLessThan(500);
  });
});

describe('findViolation: Transfer-Encoding', () => {
  it.each([
    ['chunked', false],
    ['Chunked', false],
    ['gzip, chunked', false],
    ['gzip,\tchunked ', false],
    ['gzip', true],
    ['chunked, gzip', true],
    ['xchunked', true],
    ['chunked;q=1', true],
    ['', true],
  ])('of %j is refused: %s', (coding, expected) => {
    expect(isRefused(['Host', 'x', 'Transfer-Encoding', coding])).toBe(expected);
  });
});

describe('findViolation: version', () => {
  it.each([
    ['1.0', undefined],
    ['1.1', undefined],
    ['0.9', 'version_not_supported'],
    ['2.0', 'version_not_supported'],
  ])('%s: %s', (version, code) => {
    expect(findViolation(request(['Host', 'x'], version))?.code).toBe(code);
  });

  it('comes before anything else that is wrong', () => {
    expect(findViolation(request([], '2.0'))).toEqual({
      code: 'version_not_supported',
      detail: 'HTTP/2.0: expected HTTP/1.1',
    });
  });
});

describe('settleBody', () => {
  it.each([
    ['no body', [], false, true],
    ['an empty one', ['Content-Length', '0'], true, true],
    ['a short one', ['Content-Length', '65536'], true, true],
    ['a long one', ['Content-Length', '65537'], true, false],
    ['one of unknown length', ['Transfer-Encoding', 'chunked'], true, false],
    ['one that waits to be asked for', ['Content-Length', '5', 'Expect', '100-continue'], true, false],
  ] as const)('of %s: %j may be to come: %s, keeps the connection: %s', (_name, fields, isToCome, isKept) => {
    const incoming = request([...fields]);
    const response = new ServerResponse(incoming);
    response.shouldKeepAlive = true;
    expect(settleBody(incoming, response)).toBe(isToCome);
    expect(response.shouldKeepAlive).toBe(isKept);
  });
});
