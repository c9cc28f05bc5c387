import { describe, expect, it } from 'vitest';

import { acceptedCodings, prefersHtml } from '../../../proxy/http/negotiation.js';

describe('acceptedCodings', () => {
  it('is none without a field, and for what names neither or is malformed', () => {
    const fields =
      '|  |,,|identity|deflate, zstd|br;q=0, gzip;q=0|*;q=0|br;q=0.000|br;q=2|br;q=|br;q=0.1234|br;q=-1|' +
      'b r|bröt|brotli|identity, gzip;q=0.9, br;q=0.5|gzip;q=0, br;q=0, *|identity;q=0';
    for (const field of [undefined, ...fields.split('|')]) expect(acceptedCodings(field), field).toEqual([]);
  });

  it.each([
    ['gzip;q=1.0, br;q=1.000', 'br gzip'],
    ['gzip, br;q=0.9', 'gzip br'],
    ['br;q=0.001', 'br'],
    ['br ; q=0.5 ,\tgzip;Q=0.6', 'gzip br'],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=0.5, *;q=0.1', 'gzip br'],
    ['gzip;q=0.5, identity;q=0.5', 'gzip'],
    ['identity;q=0, gzip;q=0.1', 'gzip'],
    ['br, br;q=0', 'br'],
    ['nonsense here, gzip', 'gzip'],
    ['br;level=4', 'br'],
  ])('of %j is %s', (field, codings) => {
    expect(acceptedCodings(field).join(' ')).toBe(codings);
  });
});

describe('prefersHtml', () => {
  it('is so for browsers, and where HTML has more weight than problem documents', () => {
    const fields =
      'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8|' +
      'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7|' +
      'text/html|TEXT/HTML|text/html;q=0.001|text/html;charset=utf-8|,text/html, ,\t|text/html, text/html;q=0|' +
      'text/html; charset="utf-8" ; Q=0.5, application/json;q=0.4|text/html;q=0, text/html|' +
      'text/html, application/json;q=0, application/*;q=1, application/problem+json;q=0.9|' +
      'text/html;q=0.5, application/*;q=0.4, */*|application/json;q=0.5, text/html, */*;q=0.1';
    for (const field of fields.split('|')) expect(prefersHtml(field), field).toBe(true);
  });

  it('is not so for others, and for what is malformed', () => {
    const others =
      '| , |*/*|text/*|text/plain|application/xhtml+xml|text/html;q=0|text/html;q=0.000, */*;q=0|' +
      'application/json, text/html;q=0.5|text/html, application/json|text/html, */*|' +
      'application/problem+json, text/html;q=0.9, application/json;q=0|' +
      'text/html;q=0.8, application/*;q=0.8|text/html;q=0.5, application/json;q=0.1, application/json;q=0.5';
    const malformed =
      // As Java sends it.
      'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2|' +
      'text/html;q=1.1|text/html;q=|text/html;q=0.1234|text/html;q="1"|text/html;q|text/html; level|' +
      'text/html,application/|text/html text/plain|text/html, é/x|text/html, "|text/html;a="b,c"|text / html|' +
      'a/, text/html|/b, text/html|(a)/b, text/html|a/b/c, text/html|a/b c, text/html';
    for (const field of [undefined, ...others.split('|'), ...malformed.split('|')])
      expect(prefersHtml(field), field).toBe(false);
  });
});

it('fields of 16 KiB are read quickly', () => {
  const startedMs = performance.now();
  for (const part of [',', 'br,', 'a;q=', ' ', '\t;', '*;q=0.1,'])
    acceptedCodings(part.repeat(16_384 / part.length));
  for (const part of [',', 'a/b,', ' ', '\t;', '*/*;q=0.1,', 'a/b;c="', ';a=b', ' ; ', 'a/b ; c=d ', '/'])
    for (const before of ['', 'a/b', 'text/html;a="'])
      prefersHtml(`${before}${part.repeat(16_384 / part.length)}!`);
  expect(performance.now() - startedMs).toBeLessThan(1_000);
});
