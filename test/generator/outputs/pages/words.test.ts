/** The words of an operator in sentences, and the terms by the licence. */
import { describe, expect, it } from 'vitest';
import { asksForCredit } from '../../../../generator/outputs/licence.js';
import { interval, span } from '../../../../generator/outputs/pages/words.js';
import { withArticle, wordsIn } from '../../../../generator/schema/words.js';

describe('the words of an operator', () => {
  const inWords = wordsIn({
    words: {
      group: { one: 'island', many: 'islands' },
      user: { one: 'player', many: 'players' },
      item: { one: 'pet', many: 'pets' },
    },
    priceUnit: 'item tokens ($&)',
  });

  it.each([
    ['The largest groups', 'The largest islands'],
    ['Group renamed', 'Island renamed'],
    ['A group in this register', 'An island in this register'],
    ['a user or group that a user owns', 'a player or island that a player owns'],
    ['What did an item cost?', 'What did a pet cost?'],
    ['A group’s owner', 'An island’s owner'],
    ['groups, users, games and catalogue items', 'islands, players, games and pets'],
    ['Catalogue items measured', 'Pets measured'],
    ['currency units', 'item tokens ($&)'],
    // Names of fields, and words that only contain a kind.
    ['`group` of group_members and usernames, regroup', '`group` of group_members and usernames, regroup'],
  ])('replace the kinds: %s', (sentence, words) => {
    expect(inWords(sentence)).toBe(words);
  });

  it('leave every sentence as it is where there are none', () => {
    for (const none of [{}, { words: {} }])
      expect(wordsIn(none)('An item of a group, in currency units')).toBe(
        'An item of a group, in currency units',
      );
  });

  it.each(['an item', 'a group', 'a user', 'a game', 'an island', 'a universe', 'an Uplink'])(
    'have their article: %s',
    (words) => {
      expect(withArticle(words.replace(/^an? /, ''))).toBe(words);
    },
  );
});

it.each([
  [1, '1 second'],
  [90, '90 seconds'],
  [5400, '90 minutes'],
  [3600, '1 hour'],
  [172_800, '2 days'],
])('%i s are said in the largest unit that is exact: %s', (seconds, words) => {
  expect(span(seconds)).toBe(words);
  // As in `one more every second`.
  expect(interval(seconds)).toBe(words.replace('1 ', ''));
});

it.each([
  ['CC0', 'https://creativecommons.org/publicdomain/zero/1.0/', false],
  ['CC0 1.0 Universal', 'https://example.org/licence', false],
  ['Creative Commons Zero', 'https://creativecommons.org/publicdomain/zero/1.0/deed.de', false],
  ['PDDL-1.0', 'https://opendatacommons.org/licenses/pddl/1-0/', false],
  ['Public Domain', 'https://example.org/', false],
  ['CC BY 4.0', 'https://creativecommons.org/licenses/by/4.0/', true],
  ['ODbL 1.0', 'https://opendatacommons.org/licenses/odbl/1-0/', true],
  ['Not in the public domain', 'https://example.org/', true],
])('the licence %s (%s) asks for credit: %s', (name, url, asks) => {
  expect(asksForCredit({ name, url })).toBe(asks);
});
