/** What README.md and docs/ say, compared with the programs: commands, options, exit codes, JSON results, links. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { EXIT } from '../../../generator/base/errors.js';
import { OPTIONS } from '../../../proxy/settings.js';
import { inProcess } from '../../support/in-process.js';
import { DIFFERENCES } from './differences.js';
import { PROJECT, temporary } from '../../support/folder.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { fields } from '../../support/values.js';

const path = temporary();

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'clients/typescript/README.md',
  'data/README.md',
  ...readdirSync(join(PROJECT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

const read = (page: string): string => readFileSync(join(PROJECT, page), 'utf8');
const commands = read('docs/commands.md');

/** What stands below a heading, up to the next of the same level or a higher one. */
function section(page: string, heading: string): string {
  const [, rest] = page.split(`\n${heading}\n`);
  if (rest === undefined) throw new Error(`expected a heading "${heading}"`);
  const level = heading.indexOf(' ');
  const [body = ''] = rest.split(new RegExp(`\n#{1,${level}} `));
  return body;
}

const optionsIn = (help: string): readonly string[] =>
  [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, option = '']) => option);

const COMMANDS = [...section(commands, '## The generator').matchAll(/^- `([a-z][a-z -]*)`: /gm)].map(
  ([, command = '']) => command,
);

/** The options of the proxy. `--out, --dist` is called by the first of its names. */
const PROXY_OPTIONS = new Set(OPTIONS.map(({ flags }) => /--[a-z-]+/.exec(flags)?.[0] ?? ''));

describe('docs/commands.md', () => {
  it('lists the commands there are', async () => {
    const help = (await inProcess('--help')).stdout.split('Commands:')[1] ?? '';
    const real = [...help.matchAll(/^ {2}([a-z-]+) /gm)].map(([, command]) => command);
    const words = COMMANDS.map((command) => command.split(' ')[0]);
    expect(new Set([...words, 'help'])).toEqual(new Set(real));
  });

  it('names options that there are', async () => {
    const helps = await Promise.all(COMMANDS.map((command) => inProcess(...command.split(' '), '--help')));
    const real = new Set([...helps.flatMap(({ stdout }) => optionsIn(stdout)), ...PROXY_OPTIONS]);
    const named = optionsOf(commands.replace('npm install --global', ''));
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((option) => !real.has(option))).toEqual([]);
  });

  it('lists the exit codes of the generator', () => {
    const listed = [...section(commands, '### Exit codes').matchAll(/^- (\d+): /gm)];
    expect(listed.map(([, code]) => Number(code))).toEqual(Object.values(EXIT));
  });

  it('shows the JSON that each command prints', async () => {
    const register = writeRegister(path('register.sqlite'), { groups: [{ id: 1, name: 'one' }] });
    const broken = writeRegister(path('broken'), `${RECORD} UPDATE items SET price = '12';`, 'untyped');
    const warned = writeRegister(
      path('warned.sqlite'),
      `${RECORD} ALTER TABLE groups DROP COLUMN verified;
      INSERT INTO usernames SELECT 1, 1, 'one', NULL, measured_at, measured_at FROM users;`,
    );
    const out = path('dist');
    const tree = ['--register', register, '--out', out];
    const built = await print('build', ...tree);
    changeRegister(register, `UPDATE groups SET name = 'another'`);
    const passed = fields(await print('check', '--register', warned));
    const refused = fields(await print('build', '--register', broken, '--out', out));
    const differing = await print('diff', ...tree);

    const shown = [await print('check', '--register', broken), built, differing];
    const examples = [...commands.matchAll(/```json\n(.*?)```/gs)].map(([, json = '']): unknown =>
      JSON.parse(json),
    );
    expect(examples).toHaveLength(shown.length);
    for (const [index, example] of examples.entries()) {
      const real = fields(shown[index]);
      expect(Object.keys(fields(example))).toEqual(membersOf(real));
      for (const member of pathsIn(example)) expect(real).toHaveProperty(member);
    }
    expect(membersOf(refused)).toEqual(['published', 'report']);
    expect(membersOf(passed)).toEqual(['register', 'total', 'findings', 'counts', 'absent', 'warnings']);
    const [warning] = z.array(z.record(z.string(), z.unknown())).parse(passed['warnings']);
    expect(Object.keys(warning ?? {})).toEqual(['table', 'column', 'message', 'count', 'examples']);

    const listed: Readonly<Record<string, unknown>> = {
      status: await print('status', '--out', out),
      verify: await print('verify', '--out', out),
      sample: await print('sample', '--out', path('sample.sqlite'), '--records', '10'),
      'edge nginx': await print('edge', 'nginx', '--out', out, '--write', path('nginx.conf')),
    };
    const entries = [
      ...section(commands, '### Others').matchAll(/^- `([a-z -]+)`(?:, `[a-z ]+`)?: (.*?)(?=\n-|\n\n)/gms),
    ];
    expect(entries.map(([, command]) => command)).toEqual(Object.keys(listed));
    for (const [, command = '', members = ''] of entries) {
      const names = [...members.replaceAll(/\([^()]*(?:\([^()]*\)[^()]*)*\)/g, '').matchAll(/`(\w+)`/g)];
      expect(
        names.map(([, name]) => name),
        command,
      ).toEqual(membersOf(fields(listed[command])));
    }
  });
});

const optionsOf = (text: string): readonly string[] => text.match(/--[a-z][a-z-]*/g) ?? [];
const isKnown = (text: string): boolean =>
  COMMANDS.some((command) => new RegExp(`^${command}(?![\\w-])`).test(text));

describe('the commands that pages quote', () => {
  const lines = PAGES.flatMap((page) => read(page).replaceAll('\\\n', ' ').split('\n'));
  /** What follows a program in a line, up to the end of its command. */
  const quoted = (program: RegExp): readonly string[] =>
    lines.flatMap((line) => {
      const [, rest] = line.split(program);
      return rest === undefined ? [] : [rest.split(/[`|;>#]/)[0] ?? ''];
    });

  it.each(COMMANDS)('have options of %s that it has', async (command) => {
    const real = new Set(optionsIn((await inProcess(...command.split(' '), '--help')).stdout));
    const program = new RegExp(`(?:snapshot --|cli\\.js) ${command}(?![\\w-])`);
    const named = quoted(program).flatMap(optionsOf);
    expect(named.filter((option) => !real.has(option))).toEqual([]);
  });

  it('are of commands that there are, and most of them quoted', () => {
    const named = quoted(/(?:snapshot --|cli\.js) (?=[a-z])/);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((text) => !isKnown(text))).toEqual([]);
  });

  it('have options and variables of the proxy that it has', () => {
    const named = quoted(/(?:run proxy --|npm start --|proxy\/main\.js) /).flatMap(optionsOf);
    expect(named).toContain('--out');
    expect(named.filter((option) => !PROXY_OPTIONS.has(option))).toEqual([]);
    const variables = new Set(OPTIONS.map(({ envVar }) => envVar));
    const all = lines.join('\n').match(/\bPROXY_[A-Z_]+/g) ?? [];
    expect(all.length).toBeGreaterThan(3);
    expect(all.filter((variable) => variable !== 'PROXY_' && !variables.has(variable))).toEqual([]);
  });
});

/** The members of a result but those that all have, which come last. */
function membersOf(result: Readonly<Record<string, unknown>>): readonly string[] {
  const names = Object.keys(result);
  expect(names.slice(-2)).toEqual(['seconds', 'peak_memory_bytes']);
  return names.slice(0, -2);
}

const RECORD = ['users', 'items']
  .map(
    (table) => `INSERT INTO ${table} (id, first_measured_at, measured_at, measurements)
      VALUES (1, '2026-11-20T08:00:00Z', '2026-11-20T08:00:00Z', 1);`,
  )
  .join('');

async function print(...args: string[]): Promise<unknown> {
  return JSON.parse((await inProcess(...args, '--json', '--quiet')).stdout);
}

/** The paths of all members of objects; of lists, which may be empty, none. */
function pathsIn(value: unknown): readonly string[][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => [
    [name],
    ...pathsIn(member).map((rest) => [name, ...rest]),
  ]);
}

it.each([
  ['In the responses of nginx:', 'nginx'],
  ['In those that Varnish has kept:', 'varnish before proxy'],
] as const)('docs/edge-servers.md lists the differences that the tests know: %s', (heading, server) => {
  const [, rest = ''] = read('docs/edge-servers.md').split(`\n${heading}\n\n`);
  const [list = ''] = rest.split('\n\n');
  const listed = list.split(/^- /m).map((entry) => entry.trim().replaceAll(/\s+/g, ' '));
  const known = DIFFERENCES.filter(({ servers }) => servers.includes(server)).map(({ why }) => why);
  expect(listed.filter((entry) => entry !== '')).toEqual(known);
});

const page = read('docs/design.md');
const sourceOf = (folder: string): string =>
  readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(join(folder, name)))
    .join('\n');

it.each([
  ['## A build', 'generator'],
  ['## A commit', 'generator'],
  ['## A request', 'proxy'],
])('the stories of docs/design.md name files and functions that exist: %s', (heading, folder) => {
  const story = section(page, heading);
  const code = [...story.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
  const files = code.filter((text) => text.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter((file) => !existsSync(join(PROJECT, file)))).toEqual([]);
  const source = sourceOf(folder);
  const names = code.filter((text) => /^[A-Za-z]+$/.test(text) && !PROGRAMS.has(text));
  expect(names.length).toBeGreaterThan(8);
  const isDefined = (name: string): boolean =>
    new RegExp(
      `(?:function\\*?|const|class) ${name}\\b|^ +(?:async |static )*${name}(?:\\(|<|: (?:async )?\\()|readonly ${name}: Take`,
      'm',
    ).test(source);
  expect(names.filter((name) => !isDefined(name))).toEqual([]);
});

/** Programs and commands, not functions. */
const PROGRAMS: ReadonlySet<string> = new Set(['sync']);

describe.each(PAGES)('%s', (page) => {
  const text = read(page);

  it('has links that lead somewhere', () => {
    const prose = text.replaceAll(/```.*?```/gs, '').replaceAll(/`[^`\n]*`/g, '');
    const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
    expect(targets.filter((target) => !leadsSomewhere(page, target))).toEqual([]);
  });

  it('has lines of at most 100 columns', () => {
    expect(text.split('\n').filter((line) => line.length > 100)).toEqual([]);
  });
});

function leadsSomewhere(page: string, target: string): boolean {
  if (/^(https?|mailto):/.test(target)) return true;
  const [file = '', anchor] = target.split('#');
  const linked = file === '' ? page : normalize(join(dirname(page), file));
  if (!existsSync(join(PROJECT, linked))) return false;
  return anchor === undefined || anchorsIn(read(linked)).includes(anchor);
}

/** The anchors of headings, as GitHub makes them. */
function anchorsIn(page: string): readonly string[] {
  const headings = page.replaceAll(/```.*?```/gs, '').matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}
