import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { createKey } from '../../../generator/log/key-file.js';
import { z } from 'zod';
import { TABLES } from '../../../generator/schema/index.js';
import { figure, type Context, type Prepared, type Sample, type Suite } from './frame/suite.js';
import { compiled } from './servers/process.js';
import { changedCopy, registerOf } from './trees.js';

/** Builds from nothing, of nothing new, and of a little that is new, against what the machine can do at all. */

const RECORDS = 100_000;
const LIMIT_MB = 400;
/** What a changed file may cost beside looking at everything: 100 us. */
const CHANGED_FILE_S = 100e-6;
/** What looking at everything may cost, of what it costs the shell to print it. */
const LOOKING = 2;

const CHANGED = [
  ['kept', 'kept as they are'],
  ['changed', 'written too'],
] as const;

export const generatorSuite: Suite = {
  name: 'generator',
  description: 'builds against tar and the sqlite3 shell (--register, --register-next)',
  figures: [
    figure(
      'first build, against extracting a tar of that tree',
      's',
      'first/seconds',
      'lower',
      'tar/seconds',
      1.25,
    ),
    figure(
      'nothing changed, against printing all rows as CSV',
      ...(['s', 'unchanged/seconds', 'lower', 'sqlite3/seconds', LOOKING] as const),
    ),
    ...CHANGED.map(([build, downloads]) =>
      figure(
        `1 % changed, downloads ${downloads}, against ${LOOKING} x that and 100 us a changed file`,
        ...(['s', `${build}/seconds`, 'lower', `${build}/bound`, 1] as const),
      ),
    ),
    ...CHANGED.map(([build, downloads]) =>
      figure(
        `1 % changed, downloads ${downloads}, with a key, against without`,
        ...(['s', `signed-${build}/seconds`, 'lower', `${build}/seconds`, 1.3] as const),
      ),
    ),
    ...['first', 'unchanged', 'kept', 'changed'].map((build) =>
      figure(
        `peak memory (${build === 'first' ? 'first build' : build}), against its bound`,
        ...(['MB', `${build}/memory`, 'lower', LIMIT_MB, 1] as const),
      ),
    ),
  ],
  programs: ['sqlite3', 'tar'],
  prepare,
};

const run = promisify(execFile);

const built = z.object({
  seconds: z.number(),
  peak_memory_bytes: z.number(),
  changes: z.object({ added: z.int(), changed: z.int(), removed: z.int() }),
});

interface Built {
  readonly seconds: number;
  readonly memory: number;
  /** Files that were added, changed or removed. */
  readonly touched: number;
}

async function build(register: string, out: string, more: readonly string[] = []): Promise<Built> {
  const args = ['build', '--register', register, '--out', out, '--json', '--accept-removals', ...more];
  const { stdout } = await run(process.execPath, [compiled('generator/cli.js'), ...args]);
  const { seconds, peak_memory_bytes: peak, changes } = built.parse(JSON.parse(stdout));
  return {
    seconds,
    memory: peak / 1e6,
    touched: changes.added + changes.changed + changes.removed,
  };
}

const sampleOf = ({ seconds, memory }: Built): Sample => ({ seconds, memory });

async function prepare({ folder, register, registerNext, say }: Context): Promise<Prepared> {
  const a = await registerOf({ register, folder, records: RECORDS, say });
  const b = registerNext ?? changedCopy(a, join(folder, 'next.sqlite'));
  const kept = join(folder, 'kept');
  const archive = join(folder, 'tree.tar');
  say('building a tree, and its archive');
  await build(a, kept);
  await run('tar', ['-C', kept, '-cf', archive, '.']);

  let turn = 0;
  let shellSeconds = Number.NaN;
  // New names each time, and removed in the end: a file system that has just deleted many files makes new ones slowly.
  const fresh = (name: string): string => join(folder, `${name}-${(turn += 1)}`);
  const timed = async (action: () => Promise<unknown>): Promise<number> => {
    await run('sync', ['-f', folder]);
    const startedMs = performance.now();
    await action();
    return (performance.now() - startedMs) / 1000;
  };
  const extract = async (): Promise<Sample> => {
    const to = fresh('extracted');
    mkdirSync(to);
    return { seconds: await timed(() => run('tar', ['-C', to, '-xf', archive])) };
  };
  const queries = TABLES.map(({ name }) => `SELECT * FROM "${name}"`).join(';');
  const shell = async (): Promise<Sample> => {
    const print = `sqlite3 -csv -readonly "$0" "$1" > /dev/null`;
    shellSeconds = await timed(() => run('sh', ['-c', print, a, queries]));
    return { seconds: shellSeconds };
  };
  const key = join(folder, 'log.key');
  const signed = join(folder, 'signed');
  createKey('bench.example/log', key);
  await build(a, signed, ['--key', key]);
  const current = new Map([kept, signed].map((tree) => [tree, a]));
  const change = async (tree: string, more: readonly string[]): Promise<Sample> => {
    const next = current.get(tree) === a ? b : a;
    current.set(tree, next);
    await run('sync', ['-f', folder]);
    const result = await build(next, tree, more);
    const bound = LOOKING * shellSeconds + result.touched * CHANGED_FILE_S;
    return { ...sampleOf(result), bound, touched: result.touched };
  };
  return {
    contenders: [
      { name: 'tar', run: extract },
      { name: 'first', run: async () => sampleOf(await build(a, fresh('first'))) },
      { name: 'sqlite3', run: shell },
      { name: 'unchanged', run: async () => sampleOf(await build(current.get(kept) ?? a, kept)) },
      { name: 'kept', run: () => change(kept, ['--keep-downloads']) },
      { name: 'changed', run: () => change(kept, []) },
      { name: 'signed-kept', run: () => change(signed, ['--keep-downloads', '--key', key]) },
      { name: 'signed-changed', run: () => change(signed, ['--key', key]) },
    ],
    notes: [
      `Registers: ${register ?? `${RECORDS.toLocaleString('en-US')} fictional records`}, and the same with 1 % of the records changed, to and fro.`,
      'The file system is flushed before each run; the builds flush it again before they commit, tar does not.',
    ],
    close: async () => undefined,
  };
}
