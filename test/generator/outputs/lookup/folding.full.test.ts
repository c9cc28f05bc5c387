/** Names are folded in one way: by the look-up, the pages, the client and the programs of the documentation. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { foldedName as foldedByClient } from '../../../../clients/typescript/client.js';
import { foldedName } from '../../../../generator/base/portable.js';
import { has } from '../../../support/programs.js';
import { codeOf, publishedSample } from '../pages/site.js';

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
folded = {c: fold(c) for c in characters + json.loads(r'''${JSON.stringify(ALIKE.flat())}''')}
cased = {c: normalize('NFKC', normalize('NFKC', c).casefold()) for c in characters}
firsts = ({}, {})
others = [
    c for c in characters
    if firsts[0].setdefault(folded[c], c) != firsts[1].setdefault(cased[c], c)
]
print(json.dumps({'folded': folded, 'others': others}))
`;

const HAS_PYTHON = has('the folding of names against Python', 'python3');
it.skipIf(!HAS_PYTHON)('each character is folded alike by all, and as casefold() but for İ, ı', async () => {
  const { javascript, python } = await documented();
  const options = { encoding: 'utf8', maxBuffer: 1e9, input: inPython(python) } as const;
  const { folded, others } = z
    .object({ folded: z.record(z.string(), z.string()), others: z.array(z.string()) })
    .parse(JSON.parse(execFileSync('python3', ['-'], options)));
  const known = Object.keys(folded).filter((name) => !/\p{Cn}/u.test(name));
  expect(known.length).toBeGreaterThan(100_000);
  const inDocumentation: unknown = runInNewContext(`known.map((name) => name${javascript})`, { known });
  const expected = known.map((name) => folded[name]);
  for (const each of [known.map(foldedName), known.map(foldedByClient), inDocumentation])
    expect(each).toEqual(expected);
  expect(others).toEqual(['İ', 'ı', '𝚤']);
  for (const spellings of ALIKE) expect(new Set(spellings.map((name) => folded[name])).size).toBe(1);
});
