import { Command } from 'commander';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { OPTIONS, readSettings, type Settings } from '../../proxy/settings.js';

function resolve(args: readonly string[], variables: Readonly<Record<string, string>> = {}): Settings {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  return readSettings(command, args, process.env);
}

afterEach(() => vi.unstubAllEnvs());

const ALL =
  '--dist=tree --port=1 --host=::1 --trust-proxy=10.0.0.0/8 --redis=redis://r --max-connections=7 ' +
  '--max-connections-per-client=8 --admin-port=9 --admin-host=0.0.0.0 --ready-max-age=10 --access-log=true';

describe('readSettings', () => {
  it.each([
    ['--port', '65536|-1|80.5|http|| 80|1e3|0x50'],
    ['--dist', ''],
    ['--max-connections', '0|-1|many|1000001'],
    ['--admin-host', ''],
    ['--ready-max-age', '0|1h|1.5'],
    ['--access-log', 'yes'],
  ])('names a value of %s that it can not use, and what it expected', (flag, values) => {
    for (const value of values.split('|'))
      expect(() => resolve([`${flag}=${value}`])).toThrow(
        new RegExp(`^error: option '.*${flag} .*' argument '.*' is invalid. Expected `),
      );
  });

  it('names the variable if the value came from there', () => {
    expect(() => resolve([], { PROXY_PORT: 'http' })).toThrow(
      "value 'http' from env 'PROXY_PORT' is invalid. Expected a whole number from 0 to 65535.",
    );
  });

  const redisUrls =
    'redis:pa55word redis//:pa55word@host :pa55word@host:6379 http://:pa55word@host redis://:pa55word@ ' +
    'redis://:pa55word@host:port redis://:pa55word@host:0 redis://:pa55word@host/sessions ' +
    'redis://:pa55word@host?db=1 redis://:pa55word@host#1 redis://:pa55word%zz@host pa55word ' +
    'unix:pa55word unix: unix:/ unix://:pa55word@/run/redis.sock unix:////run/pa55word unix:/run/redis.sock? ' +
    'unix:/run/redis.sock?password=pa55word&db=x unix:/run/redis.sock?password=pa55word&host=other ' +
    'unix:/run/redis.sock?password=pa55word#1 /run/redis.sock?password=pa55word';
  it('refuses what is no URL of Redis without repeating it: it can hold a password', () => {
    for (const url of redisUrls.split(' '))
      for (const attempt of [() => resolve([`--redis=${url}`]), () => resolve([], { PROXY_REDIS: url })]) {
        expect(attempt, url).toThrow(/^--redis or PROXY_REDIS: expected a URL such as /);
        expect(attempt).toThrow(expect.not.stringContaining('pa55word'));
      }
  });

  it.each([
    ['rediss://u:p%40%3A%2F@[::1]:7/3', 'rediss://u:p%40%3A%2F@[::1]:7/3'],
    ['ValkeyS://h:7', 'rediss://h:7'],
    ['unix:///run/redis.sock', '/run/redis.sock'],
    ['unix:/r.sock?db=1&username=u&password=p%26%23', '/r.sock?db=1&username=u&password=p%26%23'],
  ])('takes "%s" as the URL of Redis', (url, expected) => {
    expect(resolve([`--redis=${url}`]).redis).toBe(expected);
  });

  it('has the defaults of the contract', () => {
    expect(resolve([])).toEqual({
      dist: 'dist',
      port: 8080,
      host: '127.0.0.1',
      maxConnections: 5_000,
      maxConnectionsPerClient: 256,
      adminHost: '127.0.0.1',
    });
  });

  it('prefers flags to the environment, and takes an empty variable for none', () => {
    const environment = { PROXY_PORT: '9000', PROXY_HOST: '', PATH: '/bin' };
    expect(resolve(['--port=9001'], environment)).toMatchObject({ port: 9001, host: '127.0.0.1' });
  });

  it('reads every setting from its flag and from its variable', () => {
    const flags = ALL.split(' ');
    expect(flags.map((flag) => flag.replace(/=.*/, ''))).toEqual(OPTIONS.map(({ long }) => long));
    const variables: Record<string, string> = {};
    for (const flag of flags) {
      const [name = '', value = ''] = flag.slice(2).split('=');
      variables[`PROXY_${name.replaceAll('-', '_').toUpperCase()}`] = value;
    }
    const numbers = { port: 1, maxConnections: 7, maxConnectionsPerClient: 8, adminPort: 9, readyMaxAge: 10 };
    const others = { dist: 'tree', host: '::1', redis: 'redis://r', adminHost: '0.0.0.0', accessLog: true };
    for (const { trustProxy, ...settings } of [resolve(flags), resolve([], variables)]) {
      expect(settings).toEqual({ ...numbers, ...others });
      expect(['10.0.0.1', '11.0.0.1'].map((each) => trustProxy?.(each))).toEqual([true, false]);
    }
  });

  it('refuses what is of the port for operations without that', () => {
    expect(() => resolve(['--ready-max-age=60'])).toThrow('--ready-max-age: expected --admin-port with it');
    expect(() => resolve(['--admin-host=::'])).toThrow('--admin-host: expected --admin-port with it');
  });

  it('refuses unknown variables of its own, and leaves others alone', () => {
    for (const name of ['PROXY_PRT', 'PROXY_API_TOKENS', 'PROXY_']) {
      expect(() => resolve([], { [name]: '1' })).toThrow(
        `${name}: no such setting; --help lists the variables`,
      );
      expect(() => resolve([], { [name]: '' })).not.toThrow();
    }
    const environment = { HTTP_PROXY: 'http://x', npm_config_proxy: 'x', PROXYPORT: '1', proxy_port: 'x' };
    expect(resolve([], environment).port).toBe(8080);
  });
});
