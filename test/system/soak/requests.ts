import { Dice, type Choices } from '../../../data/sample/dice.js';
import type { HostileRequest } from './session.js';

/** Hostile requests by chance, the same for the same seed. Characters are bytes (latin1). */

/** The words of a text, and more that have spaces or are none. */
export function words(text: string, ...more: string[]): Choices<string> {
  const [first = '', ...rest] = [...text.split(' '), ...more];
  return [first, ...rest];
}

const DOTS = words(
  '.. . ... %2e%2e %2E%2e .%2e %2e. %252e%252e %%32%65%%32%65 %c0%ae%c0%ae %c0%2e %e0%80%ae %f0%80%80%ae ' +
    '\xc0\xae\xc0\xae %u002e%u002e %uff0e ..%00 ..; ..%20 ..%0a .... %2e%2e%2e %ef%bc%8e%ef%bc%8e .%0d.',
  '. .',
);
const SLASHES = words(
  '/ // \\ %2f %2F %5c %5C %252f %255c %c0%af %c1%9c %e0%80%af %ef%bc%8f \xc0\xaf /./ %2f%2f /;/ %00/ %u2215 %%32%66',
);
const PLACES = words(
  'canary.txt other/canary.txt .env .gitignore .snapshot/ledger.json secret.json etc/passwd proc/self/environ ' +
    'proc/self/mem dev/zero snapshot.json .git/config windows/win.ini dist/.env .well-known/.hidden ' +
    'api/v1/group/secret.json package.json',
);
const PREFIXES = words(
  '/ /api/v1/ /api/v1/group/ /api/v1/group/7/ /downloads/ /group/7/ /.well-known/ /api/v1/largest/ /static/ // /./ ' +
    '/api/v1/group/666/',
  '',
);
const TARGETS = words(
  '/ /api/v1 /api/v1/group/7 /api/v1/group/8 /api/v1/group/666 /nothing /api/v1/largest?limit=3 ' +
    '/group/7/history.json /downloads/groups.csv /api/v1/group/667',
);
const METHODS = words(
  'GET HEAD POST PUT DELETE PATCH TRACE CONNECT OPTIONS PROPFIND get Get GETT G PRI SOURCE M-SEARCH QUERY LOCK BREW ' +
    '\0GET GET\t - MKCOL PURGE BAN LINK SEARCH UNSUBSCRIBE',
  'X'.repeat(5_000),
  '',
  'GET GET',
);
const ENDS = words('\r\n \r\n \r\n \n \r \r\r\n \n\r \0\r\n', ' \r\n');

/** One request, in one packet or in several. */
type Make = (dice: Dice) => string | readonly string[];

const request = (method: string, target: string, ...fields: string[]): string =>
  [`${method} ${target} HTTP/1.1`, 'Host: x', ...fields, '', ''].join('\r\n');

function bytes(dice: Dice, length: number): string {
  return Array.from({ length }, () => String.fromCharCode(dice.below(256))).join('');
}

function repeat(dice: Dice, most: number, part: () => string): string {
  return Array.from({ length: 1 + dice.below(most) }, part).join('');
}

const TARGET_RECIPES: Readonly<Record<string, Make>> = {
  traversal: (dice) => {
    const climb = repeat(dice, 8, () => dice.pick(DOTS) + dice.pick(SLASHES));
    const end = dice.pick(['', '%00.json', '.json', '/', '?x=y', '#', '%20', '\x01', '.', '::$DATA']);
    return request(dice.pick(['GET', 'GET', 'HEAD']), dice.pick(PREFIXES) + climb + dice.pick(PLACES) + end);
  },
  'control characters': (dice) => {
    const control = dice.pick(words('\0 %00 \x01 %0d%0a \x7f %7f \x1b[2J %0a %c2%85 \x0b \t'));
    return request('GET', `${dice.pick(TARGETS)}${control}${dice.pick(['', 'x', '.json', '/../../.env'])}`);
  },
  'authority and fragment': (dice) => {
    const authority = repeat(dice, 3, () =>
      dice.pick(['a', '@', ':', '[', ']', '::1', 'x.example', '%40', '']),
    );
    return request(
      dice.pick(['GET', 'HEAD']),
      `//${authority}${dice.pick(['', '/', '/api/v1'])}${dice.pick(['#', '?#', '#/api/v1', ''])}`,
    );
  },
  'percent garbage': (dice) => {
    const hex = '0123456789abcdefABCDEFgGzZ%. ';
    const escape = () => `%${hex.charAt(dice.below(hex.length))}${hex.charAt(dice.below(hex.length))}`;
    return request('GET', dice.pick(PREFIXES) + repeat(dice, 30, escape));
  },
  'raw bytes in the target': (dice) => request('GET', `/${bytes(dice, 1 + dice.below(60))}`),
  'absolute form': (dice) => {
    const scheme = dice.pick(
      words('http:// https:// HTTP:// file:// gopher:// http: // javascript: http:///'),
    );
    const authority = dice.pick(words('x user@x x:99999 [::1] [ 127.0.0.1:6379 x@y@z %2e%2e é\0 '));
    const climb = repeat(dice, 4, () => dice.pick(DOTS) + dice.pick(SLASHES));
    return request(
      dice.pick(['GET', 'HEAD', 'OPTIONS']),
      `${scheme}${authority}/${climb}${dice.pick(PLACES)}`,
    );
  },
};

function anyRange(dice: Dice): string {
  const odd = ['9'.repeat(30), '-1', 'x', ' 1', '0x1', '1e3', '+1', '2999999', '3000000'] as const;
  const number = (): string => dice.pick(['', '0', '1', '3', '7', '8', '20', dice.pick(odd)]);
  const range = (): string =>
    `${number()}${dice.pick(['-', '-', '-', '-', '-', '-', '--', '', ':', '\t-'])}${number()}`;
  const unit = dice.pick(
    words('bytes= bytes= bytes= bytes= bytes= bytes= Bytes= items= bytes = none= ', 'bytes '),
  );
  return unit + Array.from({ length: 1 + dice.below(dice.pick([1, 1, 1, 3, 400])) }, range).join(',');
}

/** Codings that are nearly `chunked`, and names that are nearly `Transfer-Encoding`. */
const CODED = ['identity, chunked', 'chunked, identity', 'chunked\r\nTransfer-Encoding: x', 'gzip, chunked'];
const NAMES = ['Transfer-Encoding ', ' Transfer-Encoding', 'X\r\nTransfer-Encoding'];

const RECIPES: Readonly<Record<string, Make>> = {
  ...TARGET_RECIPES,
  'bad host': (dice) => {
    const host = dice.pick(
      words(' x\0 x/../.. x@y x,y [::1 x:port ../../.. <x> é', 'x y', 'a'.repeat(9_000)),
    );
    const lines = [`GET ${dice.pick(TARGETS)} HTTP/1.${dice.pick(['0', '1', '1'])}`];
    const count = dice.below(4);
    for (let index = 0; index < count; index += 1)
      lines.push(`${dice.pick(['Host', 'host', 'HOST', 'Host '])}: ${host}`);
    return [...lines, '', ''].join('\r\n');
  },
  'duplicate fields': (dice) => {
    const lengths = ['Content-Length: 0', 'Content-Length: 5', 'Transfer-Encoding: chunked'] as const;
    const field = dice.pick(['Range: bytes=0-1', 'If-None-Match: *', 'If-Range: "x"', dice.pick(lengths)]);
    const other = dice.pick(['Range: bytes=1-', 'Host: y', 'Accept-Encoding: br', dice.pick(lengths)]);
    const fields = Array.from({ length: 1 + dice.below(60) }, () => (dice.once(2) ? field : other));
    return request('GET', dice.pick(TARGETS), ...fields);
  },
  'huge fields': (dice) => {
    const size = dice.pick([8_000, 16_200, 16_384, 17_000, 70_000, 1_000_000]);
    const whole = dice.pick([
      request('GET', '/api/v1', `X-Long: ${'a'.repeat(size)}`),
      request('GET', '/api/v1', `${'X'.repeat(size)}: a`),
      request('GET', '/api/v1', 'a: b\r\n'.repeat(size / 6).trimEnd()),
      request('GET', `/${'a'.repeat(size)}`),
      request('GET', `/api/v1?${'a=b&'.repeat(size / 4)}`),
      request('GET', '/api/v1/group/8', `Accept-Encoding: ${'br,'.repeat(size / 3)}`),
      request('GET', '/api/v1/group/8', `If-None-Match: ${'"x", '.repeat(size / 5)}`),
    ]);
    const at = dice.below(whole.length);
    return [whole.slice(0, at), whole.slice(at)];
  },
  'slow fields': (dice) => {
    const whole = request('GET', dice.pick(TARGETS), `X: ${bytes(dice, 3)}`, 'Range: bytes=0-3');
    const cut = 1 + dice.below(12);
    return Array.from({ length: Math.ceil(whole.length / cut) }, (_, index) =>
      whole.slice(index * cut, (index + 1) * cut),
    );
  },
  smuggling: (dice) => {
    const inner = request('GET', dice.pick(['/.env', '/api/v1/group/7', '/../canary.txt']));
    const coding = dice.pick(
      words('chunked Chunked xchunked chunked;q=1 "chunked" \vchunked ', ' chunked', '\tchunked', ...CODED),
    );
    const length = dice.pick(words('0 4 +4 -1 0x4 4,5 99999999999999999999 ١ 1e1 ', '4, 4', '4 '));
    const name = dice.pick(words('Transfer-Encoding Transfer_Encoding', ...NAMES));
    const body = dice.pick([
      `0\r\n\r\n${inner}`,
      `4\r\nbeef\r\n0\r\n\r\n${inner}`,
      `4;${'x'.repeat(20_000)}\r\nbeef\r\n`,
      'fffffffffffffffff\r\n',
      inner,
    ]);
    const lengths = [`Content-Length: ${length}`];
    const codings = [`${name}: ${coding}`];
    const fields = dice.pick([lengths, codings, [...lengths, ...codings], [...codings, ...lengths]]);
    return request(dice.pick(['GET', 'POST', 'HEAD']), '/api/v1', ...fields) + body;
  },
  ranges: (dice) => {
    const fields = [
      `Range: ${anyRange(dice)}`,
      `If-Range: ${dice.pick(['"x"', 'W/"x"', '*', '', 'Fri, 20 Nov 2026 08:00:00 GMT'])}`,
    ];
    const method = dice.pick(['GET', 'GET', 'GET', 'HEAD']);
    return request(method, dice.pick(TARGETS), ...fields.slice(0, dice.once(3) ? 2 : 1));
  },
  negotiation: (dice) => {
    const coding = (): string =>
      dice.pick(words('br gzip * identity x-gzip BR  ; zstd', bytes(dice, 3).replaceAll(/[^ -~]/g, '?'))) +
      dice.pick(['', '', ';q=0', ';q=1', ';q=0.5', ';q=2', ';q=-1', ';q=', '; q = 1', ';q=0.0001', ';x=y']);
    const list = Array.from({ length: 1 + dice.below(8) }, coding).join(dice.pick([',', ', ', ' , ', ',,']));
    return request(dice.pick(['GET', 'HEAD']), '/api/v1/group/8', `Accept-Encoding: ${list}`);
  },
  methods: (dice) => {
    const more = dice.pick(['', 'Upgrade: websocket', 'Upgrade: h2c', 'Expect: 100-continue', 'Expect: x']);
    const fields = more === '' ? [] : ['Connection: Upgrade', more, 'Content-Length: 3'];
    return request(dice.pick(METHODS), dice.pick([...TARGETS, '*', 'x:443']), ...fields);
  },
  'other protocols': (dice) =>
    dice.pick([
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
      'SSH-2.0-x\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'GET /api/v1\r\n',
      'GET /api/v1 HTTP/1.2\r\nHost: x\r\n\r\n',
      'GET /api/v1 HTTP/2.0\r\nHost: x\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
      '\r\n\r\n\r\n',
      '*1\r\n$4\r\nPING\r\n',
      'EHLO x\r\n',
      ' ',
      'GET /api/v1 HTTP/1.1',
      'GET /api/v1 HTTP/9.9\r\n\r\n',
      'GET /api/v1 ICE/1.0\r\n\r\n',
      '\0\0\0\0',
      bytes(dice, 1 + dice.below(500)),
    ]),
  'line ends': (dice) => {
    const parts = [
      `GET ${dice.pick(TARGETS)} HTTP/1.1`,
      'Host: x',
      dice.pick(['X: y', ' folded', 'X : y', ': y', 'X', 'X:']),
      '',
    ];
    return parts.map((part) => part + dice.pick(ENDS)).join('');
  },
  mutation: (dice) => {
    const fields = ['Range: bytes=0-5', 'Accept-Encoding: gzip, br', 'If-None-Match: "x"'];
    const whole = request('GET', dice.pick(TARGETS), ...fields).split('');
    for (let left = 1 + dice.below(6); left > 0; left -= 1) {
      whole.splice(dice.below(whole.length), dice.below(3), bytes(dice, dice.below(3)));
    }
    return whole.join('');
  },
};

const KINDS: Choices<string> = ['traversal', 'traversal', ...Object.keys(RECIPES)];

export function hostileRequest(seed: number, index: number): HostileRequest {
  const dice = new Dice(seed, 'hostile', index);
  const kind = dice.pick(KINDS);
  const made = RECIPES[kind]?.(dice) ?? '';
  const packets = (typeof made === 'string' ? [made] : made).map((packet) => Buffer.from(packet, 'latin1'));
  return { kind, packets };
}
