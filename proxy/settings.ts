/** What the operator can set, by flag or environment. */

/** Something the operator can set. */
export interface Setting {
  /** As commander reads it; one without a value is on or off. */
  readonly flag: string;
  /** Key among commander's options. */
  readonly key: string;
  readonly environment: string;
  readonly description: string;
  readonly fallback?: string;
  /** Its value can hold a password, and is never printed. */
  readonly isSecret?: boolean;
}

/** Every setting once: the command line, the environment and --help follow this list. */
export const SETTINGS = [
  {
    flag: '--dist <folder>',
    key: 'dist',
    environment: 'PROXY_DIST',
    description: 'the published tree',
    fallback: 'dist',
  },
  {
    flag: '--port <number>',
    key: 'port',
    environment: 'PROXY_PORT',
    description: 'port to listen on',
    fallback: '8080',
  },
  {
    flag: '--host <address>',
    key: 'host',
    environment: 'PROXY_HOST',
    description: 'address to listen on',
    fallback: '127.0.0.1',
  },
  {
    flag: '--api-tokens <number>',
    key: 'apiTokens',
    environment: 'PROXY_API_TOKENS',
    description: 'requests a client may make at once',
  },
  {
    flag: '--api-refill-seconds <seconds>',
    key: 'apiRefillSeconds',
    environment: 'PROXY_API_REFILL_SECONDS',
    description: 'after how long one of them is back',
  },
  {
    flag: '--download-tokens <number>',
    key: 'downloadTokens',
    environment: 'PROXY_DOWNLOAD_TOKENS',
    description: 'downloads a client may make at once',
  },
  {
    flag: '--download-refill-seconds <seconds>',
    key: 'downloadRefillSeconds',
    environment: 'PROXY_DOWNLOAD_REFILL_SECONDS',
    description: 'after how long one of them is back',
  },
  {
    flag: '--trust-proxy <ranges>',
    key: 'trustProxy',
    environment: 'PROXY_TRUST_PROXY',
    description:
      'proxies whose X-Forwarded-For is believed: CIDR ranges, loopback, linklocal, private, separated by commas',
  },
  {
    flag: '--redis <url>',
    key: 'redis',
    environment: 'PROXY_REDIS',
    description: 'Redis or Valkey server in which several proxies share their limits',
    isSecret: true,
  },
  {
    flag: '--max-connections <number>',
    key: 'maxConnections',
    environment: 'PROXY_MAX_CONNECTIONS',
    description: 'connections open at once; further ones are closed unanswered',
    fallback: '10000',
  },
  {
    flag: '--admin-port <number>',
    key: 'adminPort',
    environment: 'PROXY_ADMIN_PORT',
    description: 'port on 127.0.0.1 for /healthz, /readyz and /metrics',
  },
  {
    flag: '--max-age <seconds>',
    key: 'maxAge',
    environment: 'PROXY_MAX_AGE',
    description: 'not ready if the snapshot was built longer ago',
  },
  {
    flag: '--access-log',
    key: 'accessLog',
    environment: 'PROXY_ACCESS_LOG',
    description: 'a JSON line on stdout for each request, the address of its client shortened',
  },
  {
    flag: '--access-log-full-addresses',
    key: 'accessLogFullAddresses',
    environment: 'PROXY_ACCESS_LOG_FULL_ADDRESSES',
    description: 'whole addresses in it',
  },
] as const satisfies readonly Setting[];
