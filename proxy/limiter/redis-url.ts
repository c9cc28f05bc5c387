/** Where a Redis or Valkey server is, and how to log in there. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  readonly isEncrypted: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
}

const FORM = 'redis://user:password@host:6379/0';
const DEFAULT_PORT = 6379;
/** Whether a scheme means TLS. */
const SCHEMES = new Map([
  ['redis:', false],
  ['rediss:', true],
  ['valkey:', false],
  ['valkeys:', true],
]);

/**
 * `redis://[[user]:password@]host[:port][/database]`, `rediss://` for TLS.
 *
 * @throws Error saying what was expected. It never repeats any of the text: a malformed URL can have
 *   the password anywhere.
 */
export function parseRedisUrl(text: string): RedisAddress {
  if (!URL.canParse(text)) throw new Error(`a URL such as ${FORM}`);
  const url = new URL(text);
  const isEncrypted = SCHEMES.get(url.protocol);
  if (isEncrypted === undefined) throw new Error(`a URL such as ${FORM}, or rediss:// for TLS`);
  if (url.hostname === '') throw new Error(`a host in the URL, as in ${FORM}`);
  if (url.search !== '' || url.hash !== '') throw new Error(`a URL without "?" and "#", such as ${FORM}`);
  if (url.port === '0') throw new Error('a port from 1 to 65535');
  const [, database] = /^\/?(\d{0,4})$/.exec(url.pathname) ?? [];
  if (database === undefined) throw new Error(`a database number as the URL's path, as in ${FORM}`);
  return {
    host: url.hostname.replaceAll(/^\[|\]$/g, ''),
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
    isEncrypted,
    username: decode(url.username),
    password: decode(url.password),
    database: Number(database),
  };
}

/** Colons, slashes and at signs in a password are percent-encoded in a URL. */
function decode(text: string): string | undefined {
  try {
    return text === '' ? undefined : decodeURIComponent(text);
  } catch {
    throw new Error('"%" in user name and password written as "%25"');
  }
}
