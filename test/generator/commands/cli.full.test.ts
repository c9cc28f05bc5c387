/** The command line as those who script it meet it: exit codes, one line a mistake, and a tree that stays. */
import { chmodSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../generator/base/sqlite/sqlite.js';
import { OPERATOR, published } from '../../support/build.js';
import { snapshot, type Run } from '../../support/cli.js';
import { PROJECT, newFolder, temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { stateOf } from '../../support/published.js';
import { SCHEMA, changeRegister, runSql, writeRegister } from '../../support/register.js';
import { matching } from '../../support/values.js';

const path = temporary();

const SEVEN = ['groups', 'users', 'games', 'items']
  .map((table) => `INSERT INTO ${table} (id, measured_at) VALUES (7, '2026-01-01T00:00:00Z');`)
  .join('\n');

const good = (sql = ''): string => writeRegister(path('register.sqlite'), `${SEVEN} ${sql}`);

function fileWith(content: string | Uint8Array, name = 'file'): string {
  const file = path(name);
  writeFileSync(file, content);
  return file;
}

function folderWith(name: string, content: string): string {
  const folder = newFolder(path('folder'));
  writeFileSync(join(folder, name), content);
  return folder;
}

/** Another user if this process is root's, who may write anywhere; `nobody` on most systems. */
const OTHER_USER = process.getuid?.() === 0 ? 65_534 : undefined;
const mayBeOther = await snapshot(['--version'], '/', OTHER_USER).then(
  ({ code }) => code === 0,
  () => false,
);

/** Exactly one line on stderr, which starts with `error: ` and has no period at the end. */
function expectOneLine({ stderr, stdout }: Run): string {
  const lines = stderr.split('\n');
  expect(lines).toEqual([matching(/^error: .*[^.]$/), '']);
  expect(stdout).toBe('');
  return lines[0] ?? '';
}

/** What register and output folder of a build may be; in messages `$` stands for the one that is wrong. */
type Refusal = readonly [what: string, make: () => string, code: number, message: string];

const REGISTERS: readonly Refusal[] = [
  ['missing', () => path('missing.sqlite'), 3, 'register "$" does not exist'],
  ['a folder', () => folderWith('x', ''), 3, '"$" is a folder, expected an SQLite file'],
  ['no file at all', () => '/dev/null', 3, '"/dev/null" is not a regular file'],
  [
    'text',
    () => fileWith('id,name\n7,seven\n'),
    1,
    'register "$" is not an SQLite database, or is encrypted',
  ],
  ['cut in half', () => fileWith(readFileSync(good()).subarray(0, 20_000)), 1, '"$" is damaged or truncated'],
  [
    `of another version of the contract`,
    () => good('PRAGMA user_version = -1'),
    1,
    'register "$" has user_version -1, expected 1: if your software needs its own, publish a copy (docs/your-register.md#a-nightly-copy)',
  ],
  [
    `no register yet`,
    () => runSql(path(`the guild's.db`), 'CREATE TABLE guild (gid)'),
    1,
    `"$" is not a register yet: \`scaffold --register '$'\`` +
      ' prints the views it needs; when it follows the contract: PRAGMA user_version = 1 (see docs/your-register.md)',
  ],
  [
    'lacking nothing but its user_version',
    () => good('PRAGMA user_version = 0'),
    1,
    `"$" has every table of a register, but user_version 0: sqlite3 $ 'PRAGMA user_version = 1' declares it to be one`,
  ],
  [
    'encoded as UTF-16',
    () => runSql(path('utf-16.sqlite'), `PRAGMA encoding = 'UTF-16le';`, SCHEMA, SEVEN),
    1,
    'is encoded as UTF-16le, expected UTF-8',
  ],
];

/** A folder with a snapshot.json of others, and what is said of that. */
const foreign = (what: string, content: string, message: string): Refusal => {
  const said = `"$/snapshot.json" ${message}`;
  return [`with a snapshot.json ${what}`, () => folderWith('snapshot.json', content), 3, said];
};
const NOT_EMPTY = 'output folder "$" is not empty and holds no snapshot.json (found "thesis.tex")';
const OUTPUTS: readonly Refusal[] = [
  ['not ours', () => folderWith('thesis.tex', 'years of work'), 3, NOT_EMPTY],
  foreign('of others', '{"snapshot":[1,2]}', 'was not written by this program (see "sequence"): if'),
  foreign('that is no JSON', 'const a = 1;', 'is not JSON: if its folder is a published tree, "verify'),
  foreign(
    'of a newer format',
    '{"format":99,"sequence":1}',
    'is of format 99, expected 5: use the newer version',
  ),
  ['below a file', () => join(fileWith('x'), 'dist'), 3, 'output folder "$"'],
];

const out = path('dist');
await published({ register: good(), out });
const before = stateOf(out);

/** Builds into the published tree, which must stay what it was. @returns the one line of the message */
async function refused(code: number, options: Readonly<Record<string, string>>): Promise<string> {
  const given = { register: options['register'] ?? good(), out, operator: OPERATOR, ...options };
  const args = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value]);
  const result = await inProcess('build', ...args);
  expect(result).toMatchObject({ code });
  expect(stateOf(out)).toEqual(before);
  return expectOneLine(result);
}

describe('a build that can’t be done', () => {
  it.each(REGISTERS)('for its register, which is %s', async (_, make, code, message) => {
    const register = make();
    // A quote in a name is quoted as shells want it.
    const shown = message.replaceAll("'$'", `'${register.replace("'", String.raw`'\''`)}'`);
    expect(await refused(code, { register })).toContain(shown.replaceAll('$', register));
  });

  it.each(OUTPUTS)('for its output folder, which is %s', async (_, make, code, message) => {
    const folder = make();
    const content = stateOf(folder);
    expect(await refused(code, { out: folder })).toContain(message.replaceAll('$', folder));
    expect(stateOf(folder)).toEqual(content);
  });

  it('for its output folder, which is the register or holds it, be it by way of a link', async () => {
    const register = good();
    const link = path('link');
    symlinkSync(dirname(register), link);
    for (const folder of [register, dirname(register), link])
      expect(await refused(2, { register, out: folder })).toBe(
        `error: register "${register}" lies inside the output folder "${folder}", which is published, expected it outside`,
      );
    expect(readFileSync(register).subarray(0, 15).toString()).toBe('SQLite format 3');
  });

  it.skipIf(!mayBeOther)('for its register in WAL mode, whose folder it can’t write to', async () => {
    const folder = newFolder(path('folder'));
    chmodSync(dirname(folder), 0o755);
    const file = writeRegister(join(folder, 'register.sqlite'), SEVEN);
    changeRegister(file, 'PRAGMA journal_mode = WAL');
    chmodSync(folder, 0o555);
    const result = await snapshot(['check', '--register', file], PROJECT, OTHER_USER);
    chmodSync(folder, 0o755);
    expect([result.code, expectOneLine(result)]).toEqual([
      3,
      `error: register "${file}" is in WAL mode, which even readers need a writable folder for: make "${folder}" ` +
        'writable for this user, or run PRAGMA journal_mode = DELETE on the register (SQLITE_READONLY_DIRECTORY)',
    ]);
  });

  it('for its register, which a writer has locked, after 5 seconds of waiting', async () => {
    const register = good();
    const writer = openDatabase(register);
    writer.exec('BEGIN EXCLUSIVE');
    try {
      expect(await refused(3, { register })).toBe(
        `error: register "${register}" is locked by a writer (waited 5000 ms): try again when it has committed;` +
          ` with PRAGMA journal_mode = WAL, readers don't wait; the published tree is what it was`,
      );
    } finally {
      writer.close();
    }
  });
});

it.each<[string, readonly string[], string]>([
  ['which is meant', ['build', '--registre', 'x'], `unknown option '--registre'\n(Did you mean --register?)`],
  ['which command may be meant', ['verfy', '--help'], `unknown command 'verfy'\n(Did you mean verify?)\n`],
  ['how it is used', [], 'Usage: register-api'],
  ['how many records there can be', ['sample', '--records', '100000001'], 'number from 0 to 100000000'],
  [
    'what an argument may be meant for',
    ['verify', 'public'],
    `(Did you mean --out public?)\nRun with --help for usage.\n`,
  ],
])('a mistake in the command line ends with 2, and says %s', async (_, args, message) => {
  const { code, stdout, stderr } = await snapshot(args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(message);
});

const sample = (out: string) => inProcess('sample', '--out', out, '--records', '0');

it('sample never writes over another file, and says how much it wrote', async () => {
  const file = fileWith('years of work');
  const result = await sample(file);
  expect([result.code, expectOneLine(result)]).toEqual([3, `error: "${file}" exists, expected a new file`]);
  expect(readFileSync(file, 'utf8')).toBe('years of work');
  const { stdout } = await sample(path('sample.sqlite'));
  expect(stdout).toMatch(/^Wrote 0 fictional records \(0 rows, \d+[.]\d kB\) to /);
});
