import type { HostileRequest } from './session.js';

/** Attacks that have a name, each with what has to come of it; the contract has more. */

export interface KnownAttack extends HostileRequest {
  /** The statuses answered, in order; none if the connection is just closed. */
  readonly statuses: readonly number[];
}

function known(kind: string, bytes: string, ...statuses: number[]): KnownAttack {
  return { kind, packets: [Buffer.from(bytes, 'latin1')], statuses };
}

const get = (target: string, ...fields: string[]): string =>
  [`GET ${target} HTTP/1.1`, 'Host: x', ...fields, '', ''].join('\r\n');

const INNER = get('/api/v1/group/x');

export const KNOWN_ATTACKS: readonly KnownAttack[] = [
  known('encoded separator, CVE-2021-41773', get('/api/.%2e/.%2e/.%2e/canary.txt'), 400),
  known('doubly encoded, CVE-2021-42013', get('/api/%%32%65%%32%65/canary.txt'), 400),
  known('overlong dots, CVE-2000-0884', get('/%c0%ae%c0%ae/canary.txt'), 400),
  known('overlong slash', get('/..%c0%af../canary.txt'), 400),
  known('path parameters', get('/..;/canary.txt'), 404),
  known('NUL and an ending', get('/.env%00.json'), 400),
  known('dotfile', get('/.env'), 404),
  known('dotfile encoded', get('/%2eenv'), 404),
  known('dot-folder', get('/.snapshot/ledger.json'), 404),
  known('hidden among the public dotfiles', get('/.well-known/.hidden'), 404),
  known('a file no route names', get('/secret.json'), 404),
  known('an encoded slash in an id', get('/api/v1/group/..%2f..%2fsecret'), 400),
  known('a link that leads out', get('/api/v1/group/666'), 404),
  known('a compressed sibling by its name', get('/api/v1/group/8.json.br'), 400),
  known('a drive', get('/C:/canary.txt'), 404),
  known('an alternate stream', get('/api/v1::$DATA'), 404),
  known('a template', get('/${jndi:ldap://x/a}'), 404),
  known('Shellshock, CVE-2014-6271', get('/api/v1', 'User-Agent: () { :; }; echo canary'), 200),
  known('a URL as path', get('//evil.example/..'), 400),
  known('an authority that Express takes for one', get('//user@host#'), 400),
  known('an authority that no parser takes', get('//a@[#'), 400),
  known('an authority and a path', get('//a@b/api/v1#'), 400),
  known('a redirect split by CR LF', get('/api/v1/%0d%0aSet-Cookie:x=y/'), 400),
  known('a file by absolute form', get('file:///etc/passwd'), 400),
  known('two hosts', get('/api/v1', 'Host: y'), 400),
  known('no host', 'GET /api/v1 HTTP/1.1\r\n\r\n', 400),
  known('a host with a path', 'GET /api/v1 HTTP/1.1\r\nHost: x/../..\r\n\r\n', 400),
  known(
    'CL.TE',
    get('/api/v1', 'Content-Length: 4', 'Transfer-Encoding: chunked') + '0\r\n\r\nGET /.env',
    400,
  ),
  known('CL.CL', get('/api/v1', 'Content-Length: 0', 'Content-Length: 9') + 'GET /.env', 400),
  known('TE.TE', get('/api/v1', 'Transfer-Encoding: chunked', 'Transfer-Encoding: x') + '0\r\n\r\n', 400),
  known('a coding that is none', get('/api/v1', 'Transfer-Encoding: xchunked') + '0\r\n\r\n', 400),
  known('a space before the colon', get('/api/v1', 'Content-Length : 5') + 'hello', 400),
  known('a length in hexadecimal', get('/api/v1', 'Content-Length: 0x5') + 'hello', 400),
  known('a signed length', get('/api/v1', 'Content-Length: +5') + 'hello', 400),
  known('a body of GET that is a request', get('/api/v1', `Content-Length: ${INNER.length}`) + INNER, 200),
  known('a tunnel', 'CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n\r\n'),
  known('a method that does not exist', get('/api/v1').replace('GET', 'GETT'), 400),
  known('another version', get('/api/v1').replace('HTTP/1.1', 'HTTP/2.0'), 505),
  known(
    'Apache Killer, CVE-2011-3192',
    get('/downloads/groups.csv', `Range: bytes=0-${',5-'.repeat(1_300)}`),
    200,
  ),
  known('an overflowing range, CVE-2015-1635', get('/api/v1', 'Range: bytes=0-18446744073709551615'), 206),
  known('an overflowing suffix, CVE-2017-7529', get('/api/v1', 'Range: bytes=-9223372036854775608'), 206),
  known('HTTP/2 without asking', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400),
  known('TLS to a plain port', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400),
];
