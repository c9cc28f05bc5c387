/** Hostile requests by chance, the same for the same seed, and those with a name. Characters are bytes (latin1). */
import { Dice, type Choices } from '../../../data/sample/dice.js';

/** The words of a text, and more that have spaces or are none. */
function words(text: string, ...more: string[]): Choices<string> {
  const [first = '', ...rest] = [...text.split(' '), ...more];
  return [first, ...rest];
}

const DOTS = words(
  '.. . ... %2e%2e .%2e %252e%252e %%32%65%%32%65 %c0%ae%c0%ae %e0%80%ae \xc0\xae\xc0\xae %u002e%u002e ..%00 ..; .%0d.',
);
const SLASHES = words(
  '/ // \\ %2f %2F %5c %252f %c0%af %e0%80%af %ef%bc%8f \xc0\xaf /./ %2f%2f /;/ %00/ %%32%66',
);
const PLACES = words(
  'canary.txt other/canary.txt .env .gitignore .snapshot/ledger.json secret.json etc/passwd proc/self/environ dev/zero ' +
    'dist/.env .well-known/.hidden api/v1/group/secret.json',
);
const PREFIXES = words(
  '/ /api/v1/ /api/v1/group/ /downloads/ /.well-known/ // /./ //a@b/ //[::1/ http://x/ file:// http:///',
  '',
);
const TARGETS = words(
  '/ /api/v1 /api/v1/ /api/v1/group/7 /api/v1/group/8 /api/v1/group/666 /api/v1/group/667 /nothing ' +
    '/api/v1/largest?limit=3 /group/7/history.json /downloads/groups.csv * //a@[# /%0d%0aX:y /a\x7f',
  `/${'a'.repeat(3_000)}`,
  `/api/v1?${'a=b&'.repeat(5_000)}`,
);
const METHODS = words(
  'HEAD HEAD POST OPTIONS CONNECT TRACE PROPFIND get GETT PRI PURGE \0GET GET\t',
  'X'.repeat(5_000),
  '',
);
const VERSIONS = words('HTTP/1.0 HTTP/1.2 HTTP/2.0 HTTP/9.9 ICE/1.0 ', 'HTTP/1.1 x');
const ENDS = words('\n \r \r\r\n \n\r \0\r\n', ' \r\n', '\r\n folded\r\n');
/** What is no request of HTTP. */
const OTHERS = words(
  '\r\n\r\n\r\n *1\r\n$4\r\nPING\r\n SSH-2.0-x\r\n \0\0\0\0 \x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'GET /api/v1\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
  '',
);

export const request = (method: string, target: string, ...fields: string[]): string =>
  [`${method} ${target} HTTP/1.1`, 'Host: x', ...fields, '', ''].join('\r\n');

const INNER = request('GET', '/.env');
const BODIES = words(
  'x',
  `0\r\n\r\n${INNER}`,
  `4\r\nbeef\r\n0\r\n\r\n${INNER}`,
  `4;${'x'.repeat(20_000)}\r\n`,
  INNER,
);
const FIELDS: Choices<readonly [names: Choices<string>, values: Choices<string>]> = [
  [['Host'], words('x x\0 x/../.. x@y [::1 x:port ../../.. é', 'a'.repeat(9_000))],
  [
    ['Transfer-Encoding', 'Transfer-Encoding ', ' Transfer-Encoding', 'Transfer_Encoding'],
    words('chunked Chunked xchunked chunked;q=1 gzip,chunked "chunked" \vchunked', 'chunked, identity'),
  ],
  [['Content-Length', 'Content-Length '], words('0 4 +4 -1 0x4 4,5 99999999999999999999 1e1', '4, 4')],
  [
    ['Range'],
    words(
      `bytes=0-3 bytes=-7 bytes=20- bytes=0-0,3-5 bytes=--1 bytes=3000000- bytes=-0 items=0-1 bytes=-${'9'.repeat(30)}`,
      `bytes=0-${',5-'.repeat(400)}`,
    ),
  ],
  [
    ['If-Range', 'If-None-Match', 'If-Match'],
    words('"x" W/"x" *', '', '"x", '.repeat(3_000), 'Fri, 20 Nov 2026'),
  ],
  [
    ['Accept-Encoding'],
    words('br gzip br;q=2 *;q=0 br;q=-1,gzip identity;q=0', 'br,'.repeat(4_000), 'gzip ; q = 1 , zstd'),
  ],
  [['Expect', 'Upgrade', 'Connection'], words('100-continue x websocket close Upgrade keep-alive,Upgrade')],
  [
    ['X', 'X', 'X', '', 'X'.repeat(17_000)],
    words('', 'y', 'é', ' folded', 'a'.repeat(16_384), 'a'.repeat(70_000)),
  ],
];

const repeated = (dice: Dice, most: number, part: () => string): string =>
  Array.from({ length: 1 + dice.below(most) }, part).join('');
const bytes = (dice: Dice, most: number): string =>
  repeated(dice, most, () => String.fromCharCode(dice.below(256)));

/** One request, in one packet or in several, which are sent one by one. */
export function hostileRequest(seed: number, index: number): readonly Buffer[] {
  const dice = new Dice(seed, 'hostile', index);
  const climb = (): string =>
    dice.pick(PREFIXES) +
    repeated(dice, 8, () => dice.pick(DOTS) + dice.pick(SLASHES)) +
    dice.pick(PLACES) +
    dice.pick(['', '', ...words('%00.json .json / ?x=y # %20 \x01 ::$DATA'), `%${bytes(dice, 2)}`]);
  const fields = Array.from({ length: dice.below(3) }, () => {
    const [names, values] = dice.pick(FIELDS);
    return `${dice.pick(names)}: ${dice.pick(values)}`;
  });
  const end = dice.once(20) ? dice.pick(ENDS) : '\r\n';
  const target = dice.once(3) ? climb() : dice.pick(TARGETS);
  let text = request(dice.once(4) ? dice.pick(METHODS) : 'GET', target, ...fields).replaceAll('\r\n', end);
  if (dice.once(12)) text = text.replace('HTTP/1.1', dice.pick(VERSIONS));
  if (dice.once(8)) text += dice.pick(BODIES);
  if (dice.once(30)) text = dice.pick(OTHERS) + bytes(dice, 50);
  for (let left = dice.once(10) ? 6 : 0; left > 0; left -= 1) {
    const at = dice.below(text.length);
    text = text.slice(0, at) + bytes(dice, 3) + text.slice(at + dice.below(3));
  }
  const size = Math.max(1, dice.once(6) ? Math.ceil(text.length / (1 + dice.below(30))) : text.length);
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    Buffer.from(text.slice(at * size, (at + 1) * size), 'latin1'),
  );
}

const get = (target: string, ...fields: string[]): string => request('GET', target, ...fields);
const ABSENT = get('/api/v1/group/x');

/** Attacks that have a name, each with the statuses that it gets, none if the connection is just closed. */
export const KNOWN_ATTACKS: readonly (readonly [name: string, bytes: string, statuses: string])[] = [
  ['encoded separator, CVE-2021-41773', get('/api/.%2e/.%2e/.%2e/canary.txt'), '400'],
  ['doubly encoded, CVE-2021-42013', get('/api/%%32%65%%32%65/canary.txt'), '400'],
  ['overlong dots, CVE-2000-0884', get('/%c0%ae%c0%ae/canary.txt'), '400'],
  ['NUL and an ending', get('/.env%00.json'), '400'],
  ['hidden among the public dotfiles', get('/.well-known/.hidden'), '404'],
  ['a link that leads out', get('/api/v1/group/666'), '404'],
  ['a compressed sibling by its name', get('/api/v1/group/8.json.br'), '400'],
  ['a URL as path', get('//evil.example/..'), '400'],
  ['an authority that Express takes for one', get('//user@host#'), '400'],
  ['an authority that no parser takes', get('//a@[#'), '400'],
  ['a redirect split by CR LF', get('/api/v1/%0d%0aSet-Cookie:x=y/'), '400'],
  ['a file by absolute form', get('file:///etc/passwd'), '400'],
  ['CL.TE', get('/api/v1', 'Content-Length: 4', 'Transfer-Encoding: chunked') + `0\r\n\r\n${INNER}`, '400'],
  ['CL.CL', get('/api/v1', 'Content-Length: 0', 'Content-Length: 9') + INNER, '400'],
  ['TE.TE', get('/api/v1', 'Transfer-Encoding: chunked', 'Transfer-Encoding: x') + '0\r\n\r\n', '400'],
  ['a space before the colon', get('/api/v1', 'Content-Length : 5') + 'hello', '400'],
  ['a body of GET that is a request', get('/api/v1', `Content-Length: ${ABSENT.length}`) + ABSENT, '200'],
  ['a tunnel', request('CONNECT', '127.0.0.1:22'), ''],
  [
    'Apache Killer, CVE-2011-3192',
    get('/downloads/groups.csv', `Range: bytes=0-${',5-'.repeat(1_300)}`),
    '200',
  ],
  ['an overflowing range, CVE-2015-1635', get('/api/v1', 'Range: bytes=0-18446744073709551615'), '206'],
  ['an overflowing suffix, CVE-2017-7529', get('/api/v1', 'Range: bytes=-9223372036854775608'), '206'],
  ['HTTP/2 without asking', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '400'],
  ['TLS to a plain port', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', '400'],
];
