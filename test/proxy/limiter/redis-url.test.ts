import { describe, expect, it } from 'vitest';

import { parseRedisUrl } from '../../../proxy/limiter/redis-url.js';

const SECRET = 'pa55word';

describe('parseRedisUrl', () => {
  it.each([
    `redis:${SECRET}`,
    `redis//:${SECRET}@host`,
    `:${SECRET}@host:6379`,
    `http://:${SECRET}@host`,
    `redis://:${SECRET}@`,
    `redis://:${SECRET}@host:port`,
    `redis://:${SECRET}@host:65536`,
    `redis://:${SECRET}@host:0`,
    `redis://:${SECRET}@host/sessions`,
    `redis://:${SECRET}@host/-1`,
    `redis://:${SECRET}@host?db=1`,
    `redis://:${SECRET}%zz@host`,
    SECRET,
  ])('refuses "%s", and the refusal does not repeat it', (url) => {
    const refusal = (): unknown => parseRedisUrl(url);
    expect(refusal).toThrow(/^(a|"%") /);
    expect(refusal).toThrow(expect.not.stringContaining(SECRET));
  });

  it('reads address, login and database, and knows the schemes of Valkey and of TLS', () => {
    const plain = {
      host: 'h',
      port: 6379,
      isEncrypted: false,
      username: undefined,
      password: undefined,
      database: 0,
    };
    expect(parseRedisUrl('redis://h')).toEqual(plain);
    expect(parseRedisUrl('valkey://h/')).toEqual(plain);
    expect(parseRedisUrl('rediss://h:7')).toEqual({ ...plain, port: 7, isEncrypted: true });
    expect(parseRedisUrl('valkeys://h')).toEqual({ ...plain, isEncrypted: true });
    expect(parseRedisUrl('redis://u:p%40%3A%2F@[::1]:7/3')).toEqual({
      ...plain,
      host: '::1',
      port: 7,
      username: 'u',
      password: 'p@:/',
      database: 3,
    });
    expect(parseRedisUrl('redis://:p@h')).toEqual({ ...plain, password: 'p' });
  });
});
