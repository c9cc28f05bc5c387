import type { Dice } from '../../../data/sample/dice.js';
import { DOTS, PLACES, PREFIXES, SLASHES, TARGETS, words } from './words.js';

/** Requests whose target is what is hostile about them. */

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
