import { describe, expect, it } from 'vitest';

import { clientKey } from '../../../proxy/limiter/client-key.js';

describe('clientKey', () => {
  it('puts clients that have gone into one bucket instead of failing', () => {
    expect(clientKey(undefined)).toBe(clientKey(undefined));
  });

  it('is the address itself for IPv4', () => {
    expect(clientKey('192.0.2.7')).toBe('192.0.2.7');
  });

  it('is the /56 for IPv6: 256 networks of 64 bits share a bucket, the next does not', () => {
    const key = clientKey('2001:db8:0:1200::1');
    expect(clientKey('2001:db8:0:12ff:ffff:ffff:ffff:ffff')).toBe(key);
    expect(clientKey('2001:0db8:0000:1234::')).toBe(key);
    expect(clientKey('2001:db8:0:1300::1')).not.toBe(key);
    expect(clientKey('2001:db8:0:11ff::1')).not.toBe(key);
  });
});
