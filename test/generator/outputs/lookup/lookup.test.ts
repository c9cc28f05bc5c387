/** The documents for finding records, against a script in another language that knows the documentation alone. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { it, thorough } from '../../../support/thorough.js';
import { inProcess } from '../../../support/in-process.js';
import { buildArgs } from '../../../support/cli.js';
import { PROJECT, temporary } from '../../../support/folder.js';
import { has } from '../../../support/programs.js';
import { writeRegister, type Rows } from '../../../support/register.js';
import { isForFinding, isSibling, readTree } from '../../../support/tree.js';

const path = temporary();

/** URL path -> body, of all documents for finding records in the tree of a register. */
async function found(register: string): Promise<Record<string, string>> {
  const out = path('dist');
  expect(await inProcess(...buildArgs(register, out))).toMatchObject({ code: 0, stderr: '' });
  const documents = [...readTree(out)].filter(([file]) => isForFinding(file) && !isSibling(file));
  return Object.fromEntries(documents.map(([file, { text }]) => [`/${file.replace(/\.json$/, '')}`, text]));
}

function expected(register: string): Record<string, string> {
  const script = join(PROJECT, 'test/generator/outputs/lookup/expected.py');
  const env = { ...process.env, PYTHONIOENCODING: 'utf-8' };
  const options = { encoding: 'utf8', env, maxBuffer: 1e9 } as const;
  const lines = execFileSync('python3', [script, register], options).trimEnd().split('\n');
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('\t')), line.slice(line.indexOf('\t') + 1)]),
  );
}

/** Spellings that fold to the same, and some that do not though they look so. */
const SPELLINGS = [
  ['Marlow', 'marlow', 'MARLOW', 'ＭＡＲＬＯＷ', 'marlοw', 'ﬁnch', 'Finch', 'FINCH', 'ΣΊΣΥΦΟΣ'],
  ['Σίσυφος', 'σίσυφοσ', 'Σ', 'Straße', 'STRASSE', 'STRAẞE', 'İstanbul', 'istanbul', 'ISTANBUL'],
  ['ı', 'café', 'cafe\u0301', 'CAFÉ', 'Å', 'Å', 'å', 'ǆ', 'ǅ', 'Ǆ', '①', '1', '🦊', '🦊🏽'],
  ['👨‍👩‍👧', '', ' ', '  ', 'a b', 'a\u00a0b', '\u202egnp', 'ﷺ', 'ｱ', 'ア', 'ガ', 'カ\u3099', '½'],
  ['x²', 'ſ', 'K', 'k', 'Ω', 'ω', '\u0345', 'ᾳ', 'ͅα', '한', '한', '"', '\\', '\n', '\u0001'],
  ['\u007f', '\u2028', '<b>', '\ue000', '\u{10ffff}', '\ufffd', 'n'.repeat(20_000)],
  ['😀'.repeat(3_000), '__proto__', 'a\u0000b', 'constructor', '1', '01'],
].flat();

/** Ids of the platform: different bytes are different ids, whatever they look like. */
const PLATFORM_IDS = [...new Set(SPELLINGS)].filter((text) => text !== '1');

/** A name in a history. @param day of November, when it was last read */
const named = (group_id: number, position: number, name: string, day: string) => ({
  group_id,
  position,
  name,
  first_measured_at: `2026-11-${day < '04' ? day : '01'}T08:00:00Z`,
  last_measured_at: `2026-11-${day}T08:00:00Z`,
});

const NASTY: Rows = {
  groups: [
    ...SPELLINGS.map((name, index) => ({
      id: 3 + 1000 * index,
      name,
      owner_state: 'owned',
      owner_id: 1 + (index % 7),
    })),
    { id: 2, name: null },
    { id: 9_007_199_254_740_991, name: 'last', owner_state: 'owned', owner_id: 9_007_199_254_740_991 },
    { id: 4, name: 'of a hidden one', owner_state: 'owned', owner_id: 66, owner_name: 'secret' },
    { id: 66, name: 'withheld group' },
    { id: 67, name: 'gone today', state: 'deleted' },
  ],
  group_names: [
    // The same name twice, another spelling of it, and the one that the record has.
    ...SPELLINGS.slice(0, 9).flatMap((name, index) =>
      ['before', 'BEFORE', 'before', name].map((each, at) => named(3 + 1000 * index, at + 1, each, '20')),
    ),
    // A name that only the history has.
    named(2, 1, 'once', '01'),
    named(2, 2, 'lastly', '02'),
    named(66, 1, 'formerly withheld', '02'),
    named(66, 2, 'withheld group', '03'),
    named(67, 1, 'gone formerly', '02'),
    named(67, 2, 'gone today', '03'),
  ],
  users: [
    ...SPELLINGS.map((username, index) => ({ id: 5 + index * 4_294_967_296, username })),
    ...Array.from({ length: 100 }, (_, index) => ({
      id: 100_000 + 7 * index,
      username: index % 2 === 0 ? 'many' : 'MANY',
    })),
    { id: 1, username: null },
    { id: 66, username: 'secret' },
  ],
  games: SPELLINGS.map((name, index) => ({
    id: 1 + index,
    name: index % 5 === 0 ? null : name,
    creator_type: [null, 'user', 'group'][index % 3] ?? null,
    creator_id: index % 11 === 0 ? null : ([3, 66, 2, 5][index % 4] ?? null),
    platform_id: index === 11 ? 'of a withheld game' : (PLATFORM_IDS[index] ?? null),
  })),
  items: [
    { id: 8, creator_type: 'user', creator_id: 5, platform_id: '81384788765712384' },
    ...SPELLINGS.map((name, index) => ({ id: 10 + index, name, creator_type: 'user', creator_id: 1 })),
    { id: 9, name: 'gone item', state: 'deleted' },
  ],
  withheld: ['user 66', 'group 66', 'game 12'].map((record) => {
    const [kind = '', id] = record.split(' ');
    return { kind, id: Number(id), since: '2026-11-20T08:00:00Z' };
  }),
};

const hasPython = has('documents for finding records against Python', 'python3');

describe.runIf(hasPython)('the documents for finding records are what Python expects', () => {
  it('of names that differ in case, width, ligatures and accents', async () => {
    const register = writeRegister(path('register.sqlite'), NASTY);
    const documents = await found(register);
    expect(documents).toEqual(expected(register));
    expect(Object.values(documents).join('')).not.toMatch(/secret|withheld/);
    // Deleted records are found by a whole name, but not by its beginning.
    expect(Object.values(documents).join('')).toMatch(/gone formerly/);
    const pages = Object.entries(documents).filter(([url]) => url.startsWith('/api/v1/lookup/names'));
    expect(JSON.stringify(pages)).not.toMatch(/gone/);
  });

  thorough('of so many names that they take two digits, and several pages', async () => {
    const sql = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 13000)
      INSERT INTO users (id, username, measured_at) SELECT i * 7, 'Name ' || i, '2026-11-20T08:00:00Z' FROM n`;
    const register = writeRegister(path('register.sqlite'), sql);
    const documents = await found(register);
    expect(documents).toEqual(expected(register));
    expect(Object.keys(documents)).toContain('/api/v1/lookup/username/ff');
    const pages = Object.keys(documents).filter((url) => url.startsWith('/api/v1/ids/user/'));
    expect(pages.length).toBeGreaterThan(2);
  });
});
