/** The rooms of the generator, each of which imports only from those below it, and who else may import whom. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT } from '../support/folder.js';
import { circles, sourcesIn } from '../support/sources.js';
import { fields } from '../support/values.js';

/** Runs after the compiler: the program, and the assets that it makes. */
const BUNDLERS = ['generator/bundle.ts', 'generator/outputs/pages/bundle.ts'];
const generator = sourcesIn('generator');
const proxy = sourcesIn('proxy');

/** `a.ts imports b.js`, for each import that leads from the folder to where it may not. */
const trespasses = (folder: string, allowed: (path: string) => boolean): string[] =>
  [...generator, ...proxy]
    .filter(({ file }) => file.startsWith(folder))
    .flatMap(({ file, imports }) =>
      imports.filter((path) => !allowed(path)).map((path) => `${file} imports ${path}`),
    );

const isIn =
  (...folders: readonly string[]) =>
  (path: string): boolean =>
    folders.some((folder) => path.startsWith(folder));

/** From the top; the rooms of one row do not know each other. What is in no other room is in the first. */
const ROWS = (
  'commands, programs/edge programs/verify, pipeline, outputs, exports, publish, tree, register, config, routes, ' +
  'schema, base'
)
  .split(', ')
  .map((row) => row.split(' '));

/** `generator/publish/lists.js` -> `publish`. */
const roomOf = (path: string): string =>
  ROWS.flat().find((room) => path.startsWith(`generator/${room}/`)) ?? 'commands';

const rowOf = (room: string): number => ROWS.findIndex((row) => row.includes(room));

const arrows = generator.flatMap(({ file, imports: imported }) =>
  imported
    .filter((path) => path.startsWith('generator/'))
    .map((path) => ({ file, from: roomOf(file), to: roomOf(path) })),
);

describe('imports between rooms', () => {
  it('are those of all folders', () => {
    const rooms = generator.flatMap(
      ({ file }) => /^generator\/((?:programs\/)?[^/]+)\//.exec(file)?.[1] ?? [],
    );
    expect([...new Set(rooms)].toSorted()).toEqual(ROWS.flat().toSorted());
  });

  it('lead downwards', () => {
    expect(arrows.length).toBeGreaterThan(500);
    expect(arrows.filter(({ from, to }) => from !== to && rowOf(to) <= rowOf(from))).toEqual([]);
  });

  it('between files never lead in a circle, types included', () => {
    expect(circles(generator)).toEqual([]);
  });
});

describe('imports', () => {
  it('of the proxy stay in the proxy: it knows the generator by snapshot.json alone', () => {
    expect(trespasses('proxy/', isIn('proxy/'))).toEqual([]);
  });

  it('of the generator never lead into the proxy, and into data only for the sample command', () => {
    expect(trespasses('generator/', isIn('generator/', 'data/'))).toEqual([]);
    const data = trespasses('generator/', (path) => !path.startsWith('data/'));
    expect(data).toEqual(['generator/commands/sample.ts imports data/sample.js']);
  });

  // What the rows leave open. What renders knows nothing of earlier builds.
  it.each([
    ['tree', ['register', 'config', 'schema']],
    ['publish', ['register', 'schema']],
    ['outputs', ['publish']],
    ['exports', ['publish']],
  ])('of %s/ never lead into %j', (folder, foreign) => {
    const isForeign = isIn(...foreign.map((each) => `generator/${each}/`));
    expect(trespasses(`generator/${folder}/`, (path) => !isForeign(path))).toEqual([]);
  });
});

it('what browsers use as well is free of Node, and imports nothing', () => {
  const portable = generator.find(({ file }) => file === 'generator/base/portable.ts');
  expect(portable?.imports).toEqual([]);
  expect(portable?.code).not.toMatch(/^import |\bBuffer\b/m);
});

it('the bundler is a program of its own, so that no other one needs what is installed for compilation alone', () => {
  const { devDependencies } = fields(JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')));
  const packages = new RegExp(
    `^(?!import type).*from '(?:${Object.keys(fields(devDependencies)).join('|')})['/]`,
    'm',
  );
  const users = [...generator, ...proxy].filter(({ code }) => packages.test(code));
  expect(users.map(({ file }) => file)).toEqual(BUNDLERS);
  expect(trespasses('', (path) => !BUNDLERS.includes(path.replace('.js', '.ts')))).toEqual([
    'generator/bundle.ts imports generator/outputs/pages/bundle.js',
  ]);
});

describe('every source file', () => {
  it('leaves the process to the command lines', () => {
    const touching = [...generator, ...proxy].filter(({ code }) => /\bprocess\s*[.[]/.test(code));
    const own = ['cli', 'program', 'start'].map((name) => `generator/${name}.ts`);
    expect(touching.map(({ file }) => file)).toEqual([...own, 'proxy/main.ts']);
    const imported = [...generator, ...proxy].filter(({ code }) => /from '(node:)?process'/.test(code));
    // For the pid, which tells who holds a tree, and for the version of Node.
    expect(imported.map(({ file }) => file)).toEqual([
      'generator/base/lock.ts',
      'generator/base/sqlite/sqlite.ts',
    ]);
  });

  it('has 500 lines at most, but for the story of a build', () => {
    const long = [...generator, ...proxy].filter(({ lines }) => lines > 500);
    expect(long.map(({ file }) => file)).toEqual(['generator/pipeline/build.ts']);
  });

  it('reads the clock only where it comes in, as an effect or to pace messages', () => {
    const reading = generator.filter(({ code }) => /\bnew Date\(\)|\bDate\.now\(/.test(code));
    expect(reading.map(({ file }) => file)).toEqual(['generator/program.ts']);
  });
});
