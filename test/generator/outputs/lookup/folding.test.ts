/** Names are folded in one way: by the look-up, the pages, the client and the programs of the documentation. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect } from 'vitest';
import * as z from 'zod';
import { foldedName as foldedByClient } from '../../../../clients/typescript/client.js';
import { foldedName } from '../../../../generator/base/portable.js';
import { endsProxies, proxied } from '../../../clients/support.js';
import { published } from '../../../support/build.js';
import { temporary } from '../../../support/folder.js';
import { has } from '../../../support/programs.js';
import { writeRegister } from '../../../support/register.js';
import { isThorough, it, thorough } from '../../../support/thorough.js';
import { codeOf, publishedSample } from '../pages/site.js';

const path = temporary();
endsProxies();

/** Spellings of one name in a row. */
const ALIKE = [
  ['ΟΔΟΣ', 'οδος', 'οδοσ', 'Οδος'],
  ['Straße', 'STRASSE', 'STRAẞE', 'strasse'],
  ['İstanbul', 'ISTANBUL', 'ıstanbul', 'i\u0307stanbul', 'istanbul'],
  ['ﬁnch', 'FINCH', 'Ｆinch'],
  ['ΰ', 'ΰ'.toUpperCase(), 'ΰ'.normalize('NFD')],
];

/** The programs of the documentation from the literal of a name on. */
async function documented(): Promise<{ readonly javascript: string; readonly python: string }> {
  const out = await publishedSample();
  const code = codeOf(readFileSync(join(out, 'developers/guides/finding.html'), 'utf8')).join('\n');
  const [, javascript = ''] = /^const name = "[^"]*"([^;]*);/m.exec(code) ?? [];
  const [, python = ''] = /^(name = normalize\('NFKC', "[^]*?)\nprefix = /m.exec(code) ?? [];
  return { javascript, python: python.replace(/"[^"]*"/, 'name') };
}

/**
 * Every character that Python knows, folded by a program; and those pairs of characters of which Unicode says that
 * they are one when case is ignored, and that program doesn't, or the other way round.
 */
const inPython = (program: string) => `
import json, sys
from unicodedata import category, normalize
def fold(name):
    ${program.replaceAll('\n', '\n    ')}
    return name
characters = [chr(c) for c in range(0x110000) if category(chr(c)) not in ('Cn', 'Cs')]
folded = {c: fold(c) for c in characters}
cased = {c: normalize('NFKC', normalize('NFKC', c).casefold()) for c in characters}
firsts = ({}, {})
others = [
    c for c in characters
    if firsts[0].setdefault(folded[c], c) != firsts[1].setdefault(cased[c], c)
]
print(json.dumps({'folded': folded, 'others': others}))
`;

const hasPython = isThorough && has('the folding of names against Python', 'python3');

describe.runIf(hasPython)('each character of Unicode', () => {
  thorough('is folded alike by all, as by casefold() but for İ and ı', async () => {
    const { javascript, python } = await documented();
    const options = { encoding: 'utf8', maxBuffer: 1e9, input: inPython(python) } as const;
    const { folded, others } = z
      .object({ folded: z.record(z.string(), z.string()), others: z.array(z.string()) })
      .parse(JSON.parse(execFileSync('python3', ['-'], options)));
    const known = Object.keys(folded).filter((character) => !/\p{Cn}/u.test(character));
    expect(known.length).toBeGreaterThan(100_000);
    const inDocumentation: unknown = runInNewContext(`known.map((name) => name${javascript})`, { known });
    const all = [known.map(foldedName), known.map(foldedByClient), inDocumentation];
    const expected = known.map((character) => folded[character]);
    for (const each of all) expect(each).toEqual(expected);
    expect(others).toEqual(['İ', 'ı', '𝚤']);
  });
});

it('a name is found by each of its spellings, and by the beginning of each', async () => {
  const users = ALIKE.map(([username = ''], id) => ({ id: id + 1, username: `${username} of ${id}` }));
  const out = path('dist');
  await published({ register: writeRegister(path('register.sqlite'), { users }), out });
  const { client } = await proxied(out);
  for (const [index, spellings] of ALIKE.entries()) {
    expect(new Set(spellings.map(foldedName)).size, spellings.join()).toBe(1);
    for (const spelling of spellings)
      expect(await client.find(spelling), spelling).toMatchObject([{ id: index + 1 }]);
  }
});
