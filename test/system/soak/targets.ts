/** What hostile requests are put together from, and those whose target is what is hostile about them. Characters are bytes (latin1). */
import type { Choices, Dice } from '../../../data/sample/dice.js';

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
    '/api/v1/group/666/ /log/efd62e2505583bf5/tile/ /log/efd62e2505583bf5/tile/0/ /log/',
  '',
);
export const TARGETS = words(
  '/ /api/v1 /api/v1/group/7 /api/v1/group/8 /api/v1/group/666 /nothing /api/v1/largest?limit=3 ' +
    '/group/7/history.json /downloads/groups.csv /api/v1/group/667 /log/efd62e2505583bf5/checkpoint ' +
    '/log/efd62e2505583bf5/tile/0/000.p/5 /log/efd62e2505583bf5/tile/out/canary.txt',
);
export const METHODS = words(
  'GET HEAD POST PUT DELETE PATCH TRACE CONNECT OPTIONS PROPFIND get Get GETT G PRI SOURCE M-SEARCH QUERY LOCK BREW ' +
    '\0GET GET\t - MKCOL PURGE BAN LINK SEARCH UNSUBSCRIBE',
  'X'.repeat(5_000),
  '',
  'GET GET',
);
export const ENDS = words('\r\n \r\n \r\n \n \r \r\r\n \n\r \0\r\n', ' \r\n');

/** One request, in one packet or in several. */
export type Make = (dice: Dice) => string | readonly string[];

export const request = (method: string, target: string, ...fields: string[]): string =>
  [`${method} ${target} HTTP/1.1`, 'Host: x', ...fields, '', ''].join('\r\n');

/** Any bytes. */
export function bytes(dice: Dice, length: number): string {
  return Array.from({ length }, () => String.fromCharCode(dice.below(256))).join('');
}

/** Some of something. */
function repeat(dice: Dice, most: number, part: () => string): string {
  return Array.from({ length: 1 + dice.below(most) }, part).join('');
}

export const TARGET_RECIPES: Readonly<Record<string, Make>> = {
  traversal: (dice) => {
    const climb = repeat(dice, 8, () => dice.pick(DOTS) + dice.pick(SLASHES));
    const ending = dice.pick(['', '%00.json', '.json', '/', '?x=y', '#', '%20', '\x01', '.', '::$DATA']);
    return request(
      dice.pick(['GET', 'GET', 'HEAD']),
      dice.pick(PREFIXES) + climb + dice.pick(PLACES) + ending,
    );
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
    const escape = (): string =>
      `%${hex.charAt(dice.below(hex.length))}${hex.charAt(dice.below(hex.length))}`;
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
