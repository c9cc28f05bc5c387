import { describe, expect, it } from 'vitest';

import { resolveConfig, SETTINGS } from '../../proxy/config.js';

describe('resolveConfig', () => {
  it.each([
    ['port', '--port', ['65536', '-1', '80.5', 'http', '', ' 80', '1e3', '0x50']],
    ['apiTokens', '--api-tokens', ['0', '1.5', '1000001', 'many']],
    ['downloadRefillSeconds', '--download-refill-seconds', ['0', '0.0001', '-1', '86401', '1e3', '1s', '.5']],
    ['dist', '--dist', ['']],
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
    };
    expect(Object.keys(values)).toEqual(SETTINGS.map(({ key }) => key));
    const expected = {
      dist: 'tree',
      port: 1,
      host: '::1',
      quotas: { api: { tokens: 2, refillMs: 3 }, download: { tokens: 4, refillMs: 5000 } },
    };
    expect(resolveConfig(values, {})).toEqual(expected);
    expect(
      resolveConfig(
        {},
        Object.fromEntries(SETTINGS.map(({ key, environment }) => [environment, values[key]])),
      ),
    ).toEqual(expected);
  });

  it('freezes what it returns', () => {
    const config = resolveConfig({}, {});
    expect([config, config.quotas, config.quotas.api].every(Object.isFrozen)).toBe(true);
  });
});
