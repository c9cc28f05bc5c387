/** The command line as those who script it meet it: exit codes, one line a mistake, and a tree that stays. */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { openDatabase } from '../../../generator/sqlite/index.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { OPERATOR, published } from '../../support/build.js';
import { snapshot } from '../../support/cli.js';
import type { Run } from '../../support/cli.js';
import { PROJECT, temporary } from '../../support/folder.js';
import { SCHEMA, changeRegister, writeRegister } from '../../support/register.js';
import { json, readTree, stamps } from '../../support/tree.js';
import type { Tree } from '../../support/tree.js';
import { startWriter } from '../../support/writer.js';
import { matching, fields } from '../../support/values.js';

const path = temporary();

const SEVEN = ['groups', 'users', 'games', 'items']
  .map(
    (table) =>
      `INSERT INTO ${table} (id, first_measured_at, measured_at, measurements)
         VALUES (7, '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', 1);`,
  )
  .join('\n');

const good = (): string => writeRegister(path('register.sqlite'), SEVEN);

/** Another user if this process is root's, who may write anywhere; `nobody` on most systems. */
const OTHER_USER = process.getuid?.() === 0 ? 65_534 : undefined;
const mayBeOther = await snapshot(['--version'], '/', OTHER_USER).then(
  ({ code }) => code === 0,
  () => false,
);

/** The whole tree, its times included. */
const state = (tree: Tree): Record<string, string> => stamps(tree);

/** Exactly one line on stderr, which starts with `error: ` and has no period at the end. */
function expectOneLine({ stderr, stdout }: Run): string {
  const lines = stderr.split('\n').filter((line) => !/^(rendering( records)?): /.test(line));
  expect(lines).toHaveLength(2);
  expect(lines[1]).toBe('');
  expect(lines[0]).toMatch(/^error: .*[^.]$/);
  expect(stdout).toBe('');
  return lines[0] ?? '';
}

describe('a build that can’t be done', () => {
  const out = path('dist');
  let before: Record<string, string>;
  beforeAll(async () => {
    await published({ register: good(), out });
    before = state(readTree(out));
  });

  /** Builds into the published tree, which must stay what it was. */
  async function refused(code: number, ...args: string[]): Promise<string> {
    const given = new Set(args);
    const rest = [
      ...(given.has('--out') ? [] : ['--out', out]),
      ...(given.has('--operator') ? [] : ['--operator', OPERATOR]),
    ];
    const result = await snapshot(['build', ...args, ...rest]);
    expect([result.code, result.stderr]).toEqual([code, result.stderr]);
    expect(state(readTree(out))).toEqual(before);
    return expectOneLine(result);
  }

  const usage = async (...args: string[]): Promise<Run> => {
    const result = await snapshot(args);
    expect(result.code).toBe(2);
    expect(result.stdout).toBe('');
    expect(state(readTree(out))).toEqual(before);
    return result;
  };

  describe('for its register', () => {
    it('that is missing', async () => {
      const file = path('missing.sqlite');
      expect(await refused(3, '--register', file)).toBe(`error: register "${file}" does not exist`);
    });

    it('that is a folder', async () => {
      const folder = path('folder');
      mkdirSync(folder);
      expect(await refused(3, '--register', folder)).toContain(
        `"${folder}" is a folder, expected an SQLite file`,
      );
    });

    it('that is no file at all', async () => {
      expect(await refused(3, '--register', '/dev/null')).toContain('"/dev/null" is not a regular file');
    });

    it.each([
      ['text', 'id,name\n7,seven\n'],
      ['empty', ''],
      ['encrypted', randomBytes(8192)],
      ['a bit of the start of an SQLite file', 'SQLite form'],
    ])('that is %s', async (_, content) => {
      const file = path('register.sqlite');
      writeFileSync(file, content);
      expect(await refused(1, '--register', file)).toBe(
        `error: register "${file}" is not an SQLite database, or is encrypted`,
      );
    });

    it('that has the first bytes of an SQLite file and then others', async () => {
      const file = path('register.sqlite');
      writeFileSync(file, Buffer.concat([Buffer.from('SQLite format 3\0'), randomBytes(8192)]));
      expect(await refused(1, '--register', file)).toContain(`"${file}"`);
    });

    it('that is cut in half', async () => {
      const rows = `WITH RECURSIVE n(i) AS (VALUES (8) UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
        INSERT INTO items (id, name, first_measured_at, measured_at, measurements)
        SELECT i, 'item ' || i, '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', 1 FROM n;`;
      const file = writeRegister(path('register.sqlite'), SEVEN + rows);
      truncateSync(file, Math.floor(statSync(file).size / 2));
      expect(await refused(1, '--register', file)).toContain(`"${file}" is damaged or truncated`);
    });

    it('that has pages of something else in its middle', async () => {
      const file = good();
      const bytes = readFileSync(file);
      // The first page holds the schema; all others become noise.
      writeFileSync(file, Buffer.concat([bytes.subarray(0, 8192), randomBytes(bytes.length - 8192)]));
      expect(await refused(1, '--register', file)).toContain(`"${file}"`);
    });

    it.each([2, -1])('that follows version %i of the contract', async (version) => {
      const file = good();
      changeRegister(file, `PRAGMA user_version = ${version}`);
      expect(await refused(1, '--register', file)).toBe(
        `error: register "${file}" has user_version ${version}, expected 1: if your software needs its own, publish a copy (docs/your-register.md#a-nightly-copy)`,
      );
    });

    it('that is no register yet, and says what makes it one', async () => {
      for (const [name, word] of [
        ['guilds.db', (file: string) => file],
        [`the guild's.db`, (file: string) => `'${file.replace("'", String.raw`'\''`)}'`],
      ] as const) {
        const file = path(name);
        openDatabase(file).exec('CREATE TABLE guild (gid)').close();
        expect(await refused(1, '--register', file)).toBe(
          `error: "${file}" is not a register yet: \`scaffold --register ${word(file)}\`` +
            ' prints the views it needs; when it follows the contract: PRAGMA user_version = 1 (see docs/your-register.md)',
        );
      }
    });

    it('that lacks nothing but its user_version', async () => {
      const file = good();
      changeRegister(file, 'PRAGMA user_version = 0');
      expect(await refused(1, '--register', file)).toBe(
        `error: "${file}" has every table of a register, but user_version 0:` +
          ` sqlite3 ${file} 'PRAGMA user_version = 1' declares it to be one`,
      );
    });

    it('that is an SQLite file of nothing', async () => {
      const file = path('register.sqlite');
      openDatabase(file).exec('VACUUM').close();
      expect(await refused(1, '--register', file)).toContain('is not a register yet');
    });

    it('that is encoded as UTF-16', async () => {
      const file = path('register.sqlite');
      openDatabase(file).exec(`PRAGMA encoding = 'UTF-16le'; ${SCHEMA} ${SEVEN}`).close();
      expect(await refused(1, '--register', file)).toContain('is encoded as UTF-16le, expected UTF-8');
    });

    it.skipIf(!mayBeOther)(
      'that is in WAL mode in a folder that it can’t write to: what to do about it',
      async () => {
        const folder = path('folder');
        mkdirSync(folder);
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
      },
    );

    it('that a writer has locked, after 5 seconds of waiting', async () => {
      const file = good();
      const writer = openDatabase(file);
      writer.exec('BEGIN EXCLUSIVE');
      try {
        expect(await refused(3, '--register', file)).toBe(
          `error: register "${file}" is locked by a writer (waited 5000 ms)`,
        );
      } finally {
        writer.close();
      }
    });

    it('that breaks the contract: every finding, then the sum', async () => {
      const file = writeRegister(
        path('register.sqlite'),
        `${SEVEN} UPDATE items SET price = -1, favourites = 'x';`,
        'loose',
      );
      const result = await snapshot(['build', '--register', file, '--out', out, '--operator', OPERATOR]);
      expect(result.code).toBe(1);
      expect(result.stdout).toBe('');
      const lines = result.stderr.trimEnd().split('\n');
      expect(lines.slice(-6, -1)).toEqual([
        matching(/^items\.price: 1 place, expected/),
        '  id = 7: -1',
        '  hint: a negative number; if it means "not measured": nullif(price, -1)',
        matching(/^items\.favourites: 1 place, expected/),
        `  id = 7: 'x'`,
      ]);
      expect(lines.at(-1)).toMatch(/breaks the contract in 2 places .*; nothing was published$/);
      expect(state(readTree(out))).toEqual(before);
    });

    it('whose total is beyond 2^53-1', async () => {
      const file = good();
      changeRegister(
        file,
        `INSERT INTO games (id, visits, first_measured_at, measured_at, measurements) VALUES
           (8, 9007199254740991, '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', 1),
           (9, 1, '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', 1)`,
      );
      expect(await refused(1, '--register', file)).toBe(
        'error: the total of games.visits is 9007199254740992, expected at most 9007199254740991 (2^53 - 1); the published tree is what it was',
      );
    });
  });

  describe('for its output folder', () => {
    it('that holds what is not ours', async () => {
      const folder = path('thesis');
      mkdirSync(folder);
      writeFileSync(join(folder, 'thesis.tex'), 'years of work');
      expect(await refused(3, '--register', good(), '--out', folder)).toContain(
        `output folder "${folder}" is not empty and holds no snapshot.json (found "thesis.tex")`,
      );
      expect([...readTree(folder).keys()]).toEqual(['thesis.tex']);
    });

    it.each([
      [
        'is JSON of somebody else',
        '{"snapshot":[1,2]}',
        ' was not written by this program (see "format"): if',
      ],
      ['is no JSON', 'const snapshot = 1;', ' is not JSON: if its folder is a published tree, "verify'],
      [
        'has another format',
        '{"format":99,"sequence":1}',
        ' is of format 99, of a newer version: expected 4 at',
      ],
    ])('whose snapshot.json %s', async (_, content, message) => {
      const folder = path('folder');
      mkdirSync(folder);
      writeFileSync(join(folder, 'snapshot.json'), content);
      expect(await refused(3, '--register', good(), '--out', folder)).toContain(
        `"${join(folder, 'snapshot.json')}"${message}`,
      );
      expect(readTree(folder).get('snapshot.json')?.text).toBe(content);
      expect(readTree(folder).size).toBe(1);
    });

    it('that is a file', async () => {
      const file = path('file');
      writeFileSync(file, 'x');
      expect(await refused(3, '--register', good(), '--out', file)).toContain(`output folder "${file}"`);
      expect(readFileSync(file, 'utf8')).toBe('x');
    });

    it('that is below a file', async () => {
      const file = path('file');
      writeFileSync(file, 'x');
      expect(await refused(3, '--register', good(), '--out', join(file, 'dist'))).toContain(
        `output folder "${join(file, 'dist')}"`,
      );
    });

    it('that is the register', async () => {
      const file = good();
      expect(await refused(2, '--register', file, '--out', file)).toBe(
        `error: output folder "${file}" is the register itself`,
      );
      expect(readFileSync(file).subarray(0, 15).toString()).toBe('SQLite format 3');
    });

    it('that holds the register', async () => {
      const file = good();
      const message = await refused(2, '--register', file, '--out', join(file, '..'));
      expect(message).toContain('lies inside the output folder');
    });

    it('that holds the register by way of a link', async () => {
      const file = good();
      const link = path('link');
      symlinkSync(join(file, '..'), link);
      expect(await refused(2, '--register', file, '--out', link)).toContain('lies inside the output folder');
    });
  });

  describe('for its command line', () => {
    it('with an unknown option, and the one that may be meant', async () => {
      const { stderr } = await usage('build', '--registre', 'x', '--out', out);
      expect(stderr).toContain(`unknown option '--registre'`);
      expect(stderr).toContain('--register');
    });

    it('with an unknown command', async () => {
      expect((await usage('publish')).stderr).toContain(`unknown command 'publish'`);
      const { stdout, stderr } = await usage('verfy', '--help');
      expect(stderr).toBe(
        `error: unknown command 'verfy'\n(Did you mean verify?)\nRun with --help for usage.\n`,
      );
      expect(stdout).toBe('');
    });

    it('with an option that lacks its value', async () => {
      expect((await usage('build', '--out')).stderr).toContain('--out');
    });

    it('with more than the command takes', async () => {
      const hints: readonly [string, string, string][] = [
        ['build', 'own.sqlite', '--register'],
        ['check', 'own', '--register'],
        ['build', 'public', '--out'],
        ['verify', 'public', '--out'],
        ['sample', 'own.sqlite', '--out'],
      ];
      for (const [command, argument, option] of hints) {
        expect((await usage(command, argument)).stderr).toBe(
          `error: unexpected argument '${argument}'\n(Did you mean ${option} ${argument}?)\nRun with --help for usage.\n`,
        );
      }
    });

    it('with a base URL that is none', async () => {
      expect(await refused(2, '--register', good(), '--base-url', 'api.example')).toBe(
        'error: --base-url: expected an http or https URL, got "api.example"',
      );
      expect(await refused(2, '--register', good(), '--base-url', 'https://x.example/api')).toContain(
        '--base-url: expected a URL without a path, since',
      );
    });

    it('with nothing: it says how it is used', async () => {
      const { code, stderr } = await snapshot([]);
      expect(code).toBe(2);
      expect(stderr).toContain('Usage: register-api');
    });
  });

  describe('for its operator file', () => {
    it('that is missing', async () => {
      const file = path('operator.json');
      expect(await refused(3, '--register', good(), '--operator', file)).toBe(
        `error: operator file "${file}" does not exist (--operator)`,
      );
    });

    it('that is no JSON', async () => {
      const file = path('operator.json');
      writeFileSync(file, '{');
      expect(await refused(2, '--register', good(), '--operator', file)).toBe(
        `error: operator file "${file}" is not JSON: expected "}" at line 1, column 2`,
      );
    });

    it('that has several mistakes: all are named, each with its place', async () => {
      const file = path('operator.json');
      const content = readFileSync(OPERATOR, 'utf8')
        .replace('tag_authority', 'tag_authorty')
        .replace('mailto:', 'mail:');
      writeFileSync(file, content);
      const result = await snapshot(['build', '--register', good(), '--out', out, '--operator', file]);
      expect([result.code, result.stderr]).toEqual([
        2,
        `error: operator file "${file}" has 3 problems
  line 1, column 1: tag_authority is missing, expected a domain name in lower case
  line 5, column 3: contact: expected a mailto: or https: URL, got "mail:golden@golden.example"
  line 8, column 3: unknown key "tag_authorty" (did you mean "tag_authority"?)
`,
      ]);
      expect(state(readTree(out))).toEqual(before);
    });

    it('that has no good URL', async () => {
      const file = path('operator.json');
      writeFileSync(
        file,
        readFileSync(OPERATOR, 'utf8').replace('https://golden.example"', 'golden.example"'),
      );
      expect(await refused(2, '--register', good(), '--operator', file)).toContain(
        'line 3, column 3: url: expected an http or https URL, got "golden.example"',
      );
    });
  });
});

describe.concurrent('snapshot sample', () => {
  it('never writes over what is there', async () => {
    const file = path('precious.txt');
    writeFileSync(file, 'precious');
    const result = await snapshot(['sample', '--out', file, '--records', '10']);
    expect(result.code).toBe(3);
    expect(expectOneLine(result)).toBe(`error: "${file}" exists, expected a new file`);
    expect(readFileSync(file, 'utf8')).toBe('precious');
  });

  it.each(['-1', '1e3'])('takes no "%s" for a number of records', async (records) => {
    const { code, stderr } = await snapshot(['sample', '--out', path('x.sqlite'), '--records', records]);
    expect(code).toBe(2);
    expect(stderr).toContain('--records');
  });

  it('writes a register that keeps the contract', async () => {
    const file = path('sample.sqlite');
    const written = await snapshot(['sample', '--out', file, '--records', '200', '--json', '--quiet']);
    expect([written.code, written.stderr]).toEqual([0, '']);
    expect(JSON.parse(written.stdout)).toMatchObject({ register: file, seed: 1 });
    const { code, stdout } = await snapshot(['check', '--register', file, '--json', '--quiet']);
    expect(JSON.parse(stdout)).toMatchObject({ total: 0, findings: [] });
    expect(code).toBe(0);
  });
});

describe.concurrent('snapshot', () => {
  it('--version prints the version of package.json', async () => {
    const { version } = fields(JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')));
    expect(await snapshot(['--version'])).toEqual({ code: 0, stdout: `${String(version)}\n`, stderr: '' });
  });

  it('--help tells the commands, the exit codes and examples', async () => {
    const { code, stdout, stderr } = await snapshot(['--help']);
    expect([code, stderr]).toEqual([0, '']);
    for (const word of ['build', 'check', 'sample', 'Exit codes', '130', 'Examples'])
      expect(stdout).toContain(word);
  });

  it('build --help tells each option with its default', async () => {
    const { code, stdout } = await snapshot(['build', '--help']);
    expect(code).toBe(0);
    const inputs = ['--register', '--out', '--operator', '--base-url'];
    for (const option of [...inputs, '--skip-invalid', '--accept-removals', '--keep-downloads']) {
      expect(stdout).toContain(option);
    }
    const flat = stdout.replaceAll(/\s+/g, ' ');
    for (const value of ['data/register.sqlite', 'dist', 'data/operator.json']) {
      expect(flat).toContain(`default: "${value}"`);
    }
  });
});

const build = (out: string, ...args: string[]): Promise<Run> =>
  snapshot(['build', '--register', good(), '--out', out, '--operator', OPERATOR, ...args]);

describe.concurrent('snapshot build', () => {
  it('prints progress as lines on stderr and the result on stdout', async () => {
    const out = path('dist');
    const { code, stdout, stderr } = await build(out);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^rendering records: 4 shards in [\d.]+ s\nrendering: 223 files in [\d.]+ s\n/);
    for (const control of ['\r', '\u001b']) expect(stderr).not.toContain(control);
    expect(stdout).toContain(`Published snapshot 1 in ${out} (register as of 2026-01-01T00:00:00Z)`);
    expect(stdout).toContain('1 group, 1 user, 1 game, 1 item');
    expect(stdout).toContain('316 added, 0 changed, 0 removed, 0 unchanged');
  });

  it('--json prints one object, of what was published', async () => {
    const out = path('dist');
    const { code, stdout } = await build(out, '--json');
    expect(code).toBe(0);
    expect(stdout.trimEnd()).not.toContain('\n');
    expect(JSON.parse(stdout)).toMatchObject({
      published: true,
      sequence: 1,
      as_of: '2026-01-01T00:00:00Z',
      records: { groups: 1, users: 1, games: 1, items: 1 },
      files: 316,
      changes: { added: 316, changed: 0, removed: 0, unchanged: 0 },
      report: { total: 0 },
    });
    const { seconds, peak_memory_bytes } = fields(JSON.parse(stdout));
    expect(seconds).toBeGreaterThan(0);
    expect(peak_memory_bytes).toBeGreaterThan(1_000_000);
    expect(json(readTree(out), 'snapshot.json')).toMatchObject({ sequence: 1 });
  });

  it('--json prints an object where nothing was published, too', async () => {
    const register = writeRegister(path('register.sqlite'), `${SEVEN} UPDATE items SET price = -1;`, 'loose');
    const { code, stdout } = await snapshot([
      'build',
      '--register',
      register,
      '--out',
      path('dist'),
      '--json',
    ]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      published: false,
      report: {
        total: 1,
        findings: [{ table: 'items', column: 'price', examples: [{ key: 'id = 7', value: '-1' }] }],
      },
    });
  });

  it('--quiet prints nothing where all is well', async () => {
    const out = path('dist');
    expect(await build(out, '--quiet')).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(readTree(out).has('snapshot.json')).toBe(true);
    const check = await snapshot(['check', '--register', good(), '--quiet']);
    expect(check).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('says so when nothing has changed', async () => {
    const [register, out] = [good(), path('dist')];
    const args = ['build', '--register', register, '--out', out, '--operator', OPERATOR];
    await snapshot(args);
    const { code, stdout } = await snapshot(args);
    expect(code).toBe(0);
    expect(stdout).toContain('Nothing changed since snapshot 1');
    const again = fields(JSON.parse((await snapshot([...args, '--json'])).stdout));
    expect(again).toMatchObject({ published: false, sequence: 1, changes: { added: 0, unchanged: 316 } });
  });

  it('says of a register without measurements that it has none', async () => {
    const [register, out] = [writeRegister(path('register.sqlite'), {}), path('dist')];
    const { code, stdout } = await snapshot([
      'build',
      '--register',
      register,
      '--out',
      out,
      '--operator',
      OPERATOR,
    ]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(`snapshot 1 in ${out} (no measurements yet)\n`),
    ]);
  });

  it('fills the empty dist of a clone, which has a .gitignore', async () => {
    const out = path('dist');
    mkdirSync(out);
    writeFileSync(join(out, '.gitignore'), '*\n');
    expect((await build(out, '--quiet')).code).toBe(0);
    expect(readTree(out).get('.gitignore')?.text).toBe('*\n');
  });

  it('makes the folders that lead to its output', async () => {
    const out = join(path('deep'), 'er', 'dist');
    expect((await build(out, '--quiet')).code).toBe(0);
    expect(readTree(out).has('snapshot.json')).toBe(true);
  });

  it('finds the register of the working folder, and reads it only', async () => {
    const folder = path('folder');
    mkdirSync(join(folder, 'data'), { recursive: true });
    const register = writeRegister(join(folder, 'data/register.sqlite'), SEVEN);
    writeFileSync(join(folder, 'data/operator.json'), readFileSync(OPERATOR));
    const before = readFileSync(register);
    expect(await snapshot(['build', '--quiet'], folder)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(readTree(join(folder, 'dist')).has('api/v1/group/7.json')).toBe(true);
    expect(readFileSync(register)).toEqual(before);
    expect([...readTree(join(folder, 'data')).keys()]).toEqual(['operator.json', 'register.sqlite']);
  });
});

interface Moment {
  readonly group: unknown;
  readonly history: { readonly members: readonly unknown[]; readonly names: readonly unknown[] };
}
const isMoment = (value: unknown): value is Moment['history'] =>
  typeof value === 'object' && value !== null && 'members' in value && 'names' in value;

describe('a register that a writer is busy with (WAL)', () => {
  it('is published as one transaction left it', async () => {
    const rows = `${SEVEN} DELETE FROM group_member_readings;`;
    const register = writeRegister(path('register.sqlite'), rows);
    const writer = await startWriter(register);
    const seen: number[] = [];
    try {
      for (let build = 0; build < 3; build += 1) {
        const out = path('dist');
        const result = await snapshot([
          'build',
          '--register',
          register,
          '--out',
          out,
          '--operator',
          OPERATOR,
          '--quiet',
        ]);
        expect([result.code, result.stderr]).toEqual([0, '']);
        const tree = readTree(out);
        const history = json(tree, 'group/7/history.json');
        if (!isMoment(history)) throw new TypeError('not a history');
        const n = history.members.length;
        const time = new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString().replace('.000Z', 'Z');
        const names = { name: String(n), first_measured_at: time };
        expect(history.names).toHaveLength(n);
        expect(history).toMatchObject({ name: String(n) });
        expect(history.members.at(-1)).toEqual({ measured_at: time, member_count: n });
        expect(history.names.at(-1)).toMatchObject(names);
        expect(json(tree, 'api/v1/group/7.json')).toMatchObject({
          member_count: n,
          measured_at: time,
          measurements: n,
        });
        expect(json(tree, 'api/v1/user/7.json')).toMatchObject({ username: String(n), username_count: n });
        expect(json(tree, 'api/v1/game/7.json')).toMatchObject({ visits: n, measured_at: time });
        expect(json(tree, 'api/v1/item/7.json')).toMatchObject({ favourites: n, measured_at: time });
        expect(json(tree, 'api/v1/largest/1.json')).toMatchObject({
          as_of: time,
          groups: [{ member_count: n }],
        });
        expect(json(tree, 'api/v1/stats.json')).toMatchObject({
          as_of: time,
          games: { visits: { total: n } },
          histories: { member_readings: n, name_changes: n - 1, username_changes: n - 1 },
        });
        seen.push(n);
      }
    } finally {
      await writer.stop();
    }
    // The writer did write meanwhile.
    expect(new Set(seen).size).toBe(3);
    expect(seen.toSorted((a, b) => a - b)).toEqual(seen);
  });
});
