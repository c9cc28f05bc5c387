import type { Choices } from '../../../data/sample/dice.js';

/** What hostile requests are put together from. Characters are bytes (latin1). */

/** The words of a text, and more that have spaces or are none. */
export function words(text: string, ...more: string[]): Choices<string> {
  const [first = '', ...rest] = [...text.split(' '), ...more];
  return [first, ...rest];
}

export const DOTS = words(
  '.. . ... %2e%2e %2E%2e .%2e %2e. %252e%252e %%32%65%%32%65 %c0%ae%c0%ae %c0%2e %e0%80%ae %f0%80%80%ae ' +
    '\xc0\xae\xc0\xae %u002e%u002e %uff0e ..%00 ..; ..%20 ..%0a .... %2e%2e%2e %ef%bc%8e%ef%bc%8e .%0d.',
  '. .',
);
export const SLASHES = words(
  '/ // \\ %2f %2F %5c %5C %252f %255c %c0%af %c1%9c %e0%80%af %ef%bc%8f \xc0\xaf /./ %2f%2f /;/ %00/ %u2215 %%32%66',
);
export const PLACES = words(
  'canary.txt other/canary.txt .env .gitignore .snapshot/ledger.json secret.json etc/passwd proc/self/environ ' +
    'proc/self/mem dev/zero snapshot.json .git/config windows/win.ini dist/.env .well-known/.hidden ' +
    'api/v1/group/secret.json package.json',
);
export const PREFIXES = words(
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
