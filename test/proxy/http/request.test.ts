import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';

import { findViolation } from '../../../proxy/http/request.js';

/** As Node hands over a request with these fields. */
function request(rawHeaders: readonly string[]): IncomingMessage {
  const incoming = new IncomingMessage(new Socket());
  incoming.httpVersion = '1.1';
  incoming.httpVersionMajor = 1;
  incoming.rawHeaders = [...rawHeaders];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    incoming.headers[rawHeaders[index]!.toLowerCase()] ??= rawHeaders[index + 1];
  }
  return incoming;
}

const isRefused = (rawHeaders: string[]): boolean => findViolation(request(rawHeaders)) !== undefined;

describe('findViolation', () => {
  it('refuses a Host that is none', () => {
    const hosts = 'a b|a/b|a?b|a#b|user@a|a:b|a:80:80|[::1|::1|[zz]|a%|a%2|a\\b|<a>|é'.split('|');
    // And at once: a long one would otherwise take longer than any test may.
    const long = ['%', '%2', '[', 'a:', '[v1.'].map((part) => part.repeat(16_000));
    expect([...hosts, ...long].filter((host) => !isRefused(['Host', host]))).toEqual([]);
    expect(findViolation(request(['Host', 'a b']))).toEqual({
      code: 'invalid_request',
      detail: 'Host header: expected exactly one, with a host and an optional port',
    });
  });

  it('accepts one with a port, an address, underscores or escapes, and an empty one', () => {
    const hosts =
      'register.example REGISTER.example:8080 register.example: 127.0.0.1:80 [::1]:8080 [2001:db8::7] [v1.a:b] ' +
      'a_b.example a%20b ';
    expect(hosts.split(' ').filter((host) => isRefused(['Host', host]))).toEqual([]);
  });

  it('wants chunked as the only coding', () => {
    const codings = ['chunked', 'Chunked', 'chunked '];
    const others = ['gzip', 'gzip, chunked', 'chunked, gzip', 'xchunked', 'chunked;q=1', ''];
    const refused = [...codings, ...others].filter((each) =>
      isRefused(['Host', 'x', 'Transfer-Encoding', each]),
    );
    expect(refused).toEqual(others);
  });
});
