/** Options and the operator file: defaults, and every mistake named with its place. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { assert, constantFrom, json, nat, oneof, property, string, tuple } from 'fast-check';
import { buildConfig } from '../../../generator/config/config.js';
import { Failure } from '../../../generator/base/errors.js';
import { OPERATOR } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { siteOf } from '../../support/site.js';
import { isSibling, readTree } from '../../support/tree.js';
import { containing, fields } from '../../support/values.js';
import { placesIn } from '../../../generator/config/json-places.js';

const path = temporary();
const valid: unknown = JSON.parse(readFileSync(OPERATOR, 'utf8'));

const changed = (changes: object) => JSON.stringify({ ...fields(valid), ...changes });

function configOf(content: string | Buffer) {
  const operator = path('operator.json');
  writeFileSync(operator, content);
  return buildConfig({ operator });
}

function failure(action: () => unknown): Failure {
  try {
    action();
  } catch (error) {
    if (error instanceof Failure) return error;
  }
  throw new Error('expected a failure');
}

const HOST = 'https://api.example';

describe('buildConfig', () => {
  it.each([
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['HTTPS://Register.Example:443//', 'https://register.example'],
    ['http://Register.Example:80', 'http://register.example'],
    ['http://[2001:DB8:0::1]:8080', 'http://[2001:db8::1]:8080'],
  ])('has one spelling of a base URL: "%s" is %s', (baseUrl, expected) => {
    expect(buildConfig({ operator: OPERATOR, baseUrl }).operator.baseUrl).toBe(expected);
  });

  it('has one spelling of the URLs of an operator, all over the tree', async () => {
    const operator = path('operator.json');
    const odd = {
      base_url: 'HTTPS://Register.Bücher.Example:443/',
      url: 'HTTPS://Bücher.Example',
      contact: 'https://Bücher.Example/contact me',
      licence: { name: 'Own', url: 'https://Bücher.Example:443/licence' },
      source_url: 'https://Bücher.Example/ä',
      imprint: 'https://Bücher.Example/imprint',
    };
    writeFileSync(operator, changed(odd));
    const { out } = await siteOf(path, '', { operator });
    const texts = [...readTree(out)].filter(([file]) => !isSibling(file)).map(([, { text }]) => text);
    const urls = texts
      .flatMap((text) => text.match(/https?:[^\s"<>')]*example[^\s"<>')]*/gi) ?? [])
      // Those in queries of others.
      .map((url) => url.replaceAll('%3A', ':').replaceAll('%2F', '/'));
    expect(urls.length).toBeGreaterThan(100);
    expect(urls.filter((url) => /[^!-~]|[A-Z].*example|:443/.test(url))).toEqual([]);
  });

  it.each(['', 'api.example', 'ftp://api.example', ...['/?a=b', '/#a', '/api'].map((end) => HOST + end)])(
    'takes no "%s" for a base URL',
    (baseUrl) => {
      const refused = failure(() => buildConfig({ operator: OPERATOR, baseUrl }));
      expect(refused).toMatchObject({ exitCode: 2, message: containing(JSON.stringify(baseUrl)) });
    },
  );
});

function messageOf(content: string | Buffer): string {
  const { message, exitCode } = failure(() => configOf(content));
  expect(exitCode).toBe(2);
  expect(message).toMatch(/^operator file ".*operator\.json"/);
  expect(message).not.toMatch(/\.$/m);
  // Zod's own words.
  expect(message).not.toMatch(/[Ii]nvalid|Too |Unrecognized|received|undefined/);
  return message;
}

const WORD = 'expected text of 1 to 40 characters without spaces around it';
const LONG = 'x'.repeat(41);

describe('an operator file', () => {
  it('must be there, and no folder', () => {
    const [missing, folder] = [path('operator.json'), path('folder')];
    mkdirSync(folder);
    for (const [operator, message] of [
      [missing, `operator file "${missing}" does not exist (--operator)`],
      [folder, `operator file "${folder}" can't be read`],
    ] as const) {
      const refused = failure(() => buildConfig({ operator }));
      expect(refused).toMatchObject({ exitCode: 3, message: containing(message) });
    }
  });

  it.each([
    ['JSON', '{"name": "x",}', 'is not JSON'],
    ['an object', '[]', 'expected an object'],
    [
      'UTF-8',
      Buffer.from('{\n  "name": "Café"\n}', 'latin1'),
      'line 2, column 15 (byte 0xe9), expected a text',
    ],
    [
      'whole',
      Buffer.from('\uFEFF{ "name": "ä').subarray(0, -1),
      'is not UTF-8 at line 1, column 12 (byte 0xc3)',
    ],
    ['without surrogates', Buffer.from('22eda0bd22', 'hex'), 'line 1, column 2 (byte 0xed)'],
  ])('must be %s', (_, content, message) => {
    expect(messageOf(content)).toContain(message);
  });

  it('has all its problems named at once, in its order, each with its place', () => {
    const message = messageOf(`\uFEFF{
  "name": "",
  "url": "https://register.example",
  "base_url": "https://register.example/api",
  "contct": "mailto:register@register.example",
  "platform": "Example Worlds",
  "licence": { "name": "CC BY 4.0", "lïnk": [7], "url": null },
  "limits": { "api": { "tokens": 0.5, "refill_seconds": "x" },
    "pge": 1, "page": [], "download": { "tokens": 1000001, "refill_seconds": 1e9 } },
  "tag_authority": "register.example"
}`);
    expect(message.split('\n').slice(1)).toEqual([
      '  line 1, column 1: contact is missing, expected a mailto: URL with an address, or an https: URL',
      '  line 2, column 3: name: expected text that is not empty, got ""',
      '  line 4, column 3: base_url: expected a URL without a path, since pages and API lie at the root of their host, got "https://register.example/api"',
      '  line 5, column 3: unknown key "contct" (did you mean "contact"?)',
      '  line 7, column 37: licence: unknown key "lïnk"',
      '  line 7, column 50: licence.url: expected an http or https URL, got null',
      '  line 8, column 24: limits.api.tokens: expected a whole number from 1 to 1,000,000, got 0.5',
      '  line 8, column 39: limits.api.refill_seconds: expected seconds from 0.001 to 86,400, with at most three decimals, got "x"',
      '  line 9, column 5: limits: unknown key "pge" (did you mean "page"?)',
      '  line 9, column 15: limits.page: expected an object',
      '  line 9, column 41: limits.download.tokens: expected a whole number from 1 to 1,000,000, got 1000001',
      '  line 9, column 60: limits.download.refill_seconds: expected seconds from 0.001 to 86,400, with at most three decimals, got 1000000000',
    ]);
  });

  it.each<[object, string]>([
    [{ contact: 'me@register.example' }, 'contact'],
    [{ contact: 'mailto:?subject=x' }, 'contact: expected a mailto: URL with an address'],
    [{ contact: 'mailto:50%@register.example' }, 'contact: expected a mailto: URL with an address'],
    [{ tag_authority: 'Register.Example' }, 'tag_authority'],
    [{ limits: { api: { tokens: 60 } } }, 'limits.api.refill_seconds is missing'],
    ...[0, 0.0015, 86_400.001].map((refill_seconds): [object, string] => [
      { limits: { page: { tokens: 1, refill_seconds } } },
      `limits.page.refill_seconds: expected seconds from 0.001 to 86,400, with at most three decimals, got ${refill_seconds}`,
    ]),
    [
      { source_url: 'git@git.example:x' },
      'source_url: expected an http or https URL, got "git@git.example:x"',
    ],
    [
      { words: { groups: { one: 'club', many: 'clubs' } } },
      'words: unknown key "groups" (did you mean "group"?)',
    ],
    [{ price_unit: '' }, `price_unit: ${WORD}, got ""`],
    [{ words: { group: { one: 'club' } } }, `words.group.many is missing, ${WORD}`],
    [{ words: { item: { one: 'pet', many: ' pets' } } }, `words.item.many: ${WORD}, got " pets"`],
    [{ words: { game: { one: LONG, many: 'xs' } } }, `words.game.one: ${WORD}, got "${LONG}"`],
  ])('is refused with %j', (changes, message) => {
    expect(messageOf(changed(changes))).toContain(message);
  });

  it('says on pages what it says', () => {
    const said = {
      headline: 'How big is your club?',
      introduction: 'We count every evening.',
      words: { group: { one: 'club', many: 'clubs' } },
    };
    const { operator } = configOf(changed({ ...said, price_unit: 'US cents' }));
    expect(operator).toMatchObject({ ...said, priceUnit: 'US cents' });
    for (const key of ['words', 'priceUnit']) expect(configOf(changed({})).operator).not.toHaveProperty(key);
  });
});

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

it('placesIn finds an error where JSON.parse does, and no other, in JSON that somebody damaged', () => {
  const additions = constantFrom('', ',', '"', '}', '\\', '\n', '0', 'x', '//');
  const damaged = tuple(json(), nat(), nat(3), additions).map(([text, at, cut, added]) => {
    const start = at % (text.length + 1);
    return text.slice(0, start) + added + text.slice(start + cut);
  });
  assert(
    property(oneof(damaged, json(), string()), (text) => {
      expect(placesIn(text).error === undefined).toBe(isJson(text));
    }),
    { numRuns: 1000 },
  );
});

it.each([
  ['', 1, 1, 'a value'],
  ['\n  {"a": 1,\n  }', 3, 3, 'a key in double quotes'],
  ['{"a": 1\n "b": 2}', 2, 2, '"," or the end of the list'],
  ['{"a" 1}', 1, 6, '":" after the key'],
  ['{"a": }', 1, 7, 'a value'],
  ["{'a': 1}", 1, 2, 'a key or value, texts in double quotes'],
  ['{} {}', 1, 4, 'the end of the file'],
])('placesIn says of %j what was expected at line %i, column %i', (text, line, column, expected) => {
  expect(placesIn(text).error).toEqual({ line, column, expected });
});
