import { describe, expect, it } from 'vitest';

import { resolveConfig } from '../../proxy/config.js';
import { SETTINGS } from '../../proxy/settings.js';

describe('resolveConfig', () => {
  it.each([
    ['port', '--port', ['65536', '-1', '80.5', 'http', '', ' 80', '1e3', '0x50']],
    ['apiTokens', '--api-tokens', ['0', '1.5', '1000001', 'many']],
    ['downloadRefillSeconds', '--download-refill-seconds', ['0', '0.0001', '-1', '86401', '1e3', '1s', '.5']],
    ['dist', '--dist', ['']],
    ['maxConnections', '--max-connections', ['0', '-1', 'many', '1000001']],
    ['adminPort', '--admin-port', ['65536', 'localhost:9000', '']],
    ['maxAge', '--max-age', ['0', '1h', '1.5']],
    ['accessLog', '--access-log', ['yes', '']],
  ])('names a %s it can not use, and what was expected', (key, flag, values) => {
    for (const value of values) {
      expect(() => resolveConfig({ [key]: value }, {})).toThrow(`${flag} "${value}": expected `);
    }
  });

  it('names the variable if the value came from there', () => {
    expect(() => resolveConfig({}, { PROXY_PORT: 'http' })).toThrow(
      'PROXY_PORT "http": expected a whole number from 0 to 65535',
    );
  });

  it('has the defaults of the contract', () => {
    expect(resolveConfig({}, {})).toEqual({
      dist: 'dist',
      port: 8080,
      host: '127.0.0.1',
      quotas: { api: {}, download: {} },
      trustProxy: [],
      redis: undefined,
      maxConnections: 10_000,
      adminPort: undefined,
      maxAgeMs: undefined,
      accessLog: 'off',
    });
  });

  it('prefers flags to the environment, and takes an empty variable for none', () => {
    const environment = { PROXY_PORT: '9000', PROXY_HOST: '', PROXY_API_TOKENS: '5', PATH: '/bin' };
    const config = resolveConfig({ port: '9001' }, environment);
    expect(config).toMatchObject({ port: 9001, host: '127.0.0.1', quotas: { api: { tokens: 5 } } });
  });

  it('reads every setting from its flag and from its variable', () => {
    const values: Record<string, string> = {
      dist: 'tree',
      port: '1',
      host: '::1',
      apiTokens: '2',
      apiRefillSeconds: '0.003',
      downloadTokens: '4',
      downloadRefillSeconds: '5',
      trustProxy: '10.0.0.0/8',
      redis: 'redis://r',
      maxConnections: '6',
      adminPort: '7',
      maxAge: '8',
      accessLog: 'true',
      accessLogFullAddresses: '1',
    };
    expect(Object.keys(values)).toEqual(SETTINGS.map(({ key }) => key));
    const expected = {
      dist: 'tree',
      port: 1,
      host: '::1',
      quotas: { api: { tokens: 2, refillMs: 3 }, download: { tokens: 4, refillMs: 5000 } },
      trustProxy: [{ address: '10.0.0.0', prefix: 8, family: 'ipv4' }],
      redis: { host: 'r', port: 6379, isEncrypted: false, database: 0 },
      maxConnections: 6,
      adminPort: 7,
      maxAgeMs: 8_000,
      accessLog: 'full',
    };
    expect(resolveConfig(values, {})).toEqual(expected);
    expect(
      resolveConfig(
        {},
        Object.fromEntries(SETTINGS.map(({ key, environment }) => [environment, values[key]])),
      ),
    ).toEqual(expected);
  });

  it('takes flags without a value, and words for them from the environment', () => {
    expect(resolveConfig({ accessLog: true }, {}).accessLog).toBe('short');
    expect(resolveConfig({}, { PROXY_ACCESS_LOG: '1' }).accessLog).toBe('short');
    expect(resolveConfig({}, { PROXY_ACCESS_LOG: 'false' }).accessLog).toBe('off');
  });

  it('refuses a setting that means nothing without another one', () => {
    expect(() => resolveConfig({ accessLogFullAddresses: true }, {})).toThrow(
      '--access-log-full-addresses: expected --access-log beside it',
    );
    expect(() => resolveConfig({}, { PROXY_MAX_AGE: '60' })).toThrow(
      '--max-age: expected --admin-port beside it',
    );
  });

  it('freezes what it returns', () => {
    const config = resolveConfig({}, {});
    expect([config, config.quotas, config.quotas.api].every(Object.isFrozen)).toBe(true);
  });
});
