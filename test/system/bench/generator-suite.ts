/** Builds from nothing, of nothing new, and of a little that is new, against what the machine can do at all. */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

import { TABLES } from '../../../generator/schema/schema.js';
import { measuredCopy, registerOf, run } from './registers.js';
import { compiled } from './servers.js';
import { figure, type Context, type Prepared, type Suite } from './suite.js';

const RECORDS = 100_000;
const LIMIT_MB = 400;
/** What looking at everything may cost, of what it costs the shell to print it. */
const LOOKING = 2;
/** What a build may cost, of what it costs existing tools to write the same data. */
const WRITING = 2.2;

export const generatorSuite: Suite = {
  name: 'generator',
  description: 'builds against existing tools (--register)',
  figures: [
    figure(
      'nothing changed, against printing all rows as CSV',
      ...(['s', 'unchanged/seconds', 'lower', 'sqlite3/seconds', LOOKING] as const),
    ),
    figure(
      '1 % changed, against a first build',
      ...(['s', 'changed/seconds', 'lower', 'first/seconds'] as const),
    ),
    figure(
      'everything measured once more, against a first build',
      ...(['s', 'everything/seconds', 'lower', 'first/seconds'] as const),
    ),
    ...Object.entries({ first: 'first build', everything: 'everything measured once more' }).flatMap(
      ([build, name]) => {
        const ours = ['s', `${build}/processor`, 'lower'] as const;
        return [
          figure(`${name}, processor time against existing tools`, ...ours, 'tools/processor', WRITING),
          figure(`${name}, the same with hashes, and Parquet by DuckDB`, ...ours, 'tools/complete'),
        ];
      },
    ),
    ...['first', 'unchanged', 'changed', 'everything'].map((build) =>
      figure(
        `peak memory (${build === 'first' ? 'first build' : build}), against its bound`,
        ...(['MB', `${build}/memory`, 'lower', LIMIT_MB, 1] as const),
      ),
    ),
  ],
  prepare,
};

const built = z.object({ seconds: z.number(), peak_memory_bytes: z.number() });

/** Runs a command. @returns what it prints, and its processor time in seconds, as GNU time prints it */
async function measured(...command: readonly string[]) {
  const { stdout, stderr } = await run('time', ['-f', '%U %S', ...command]);
  const [user = Number.NaN, system = Number.NaN] =
    stderr.trim().split('\n').at(-1)?.split(' ').map(Number) ?? [];
  return { stdout, processor: user + system };
}

async function build(register: string, out: string) {
  const args = ['build', '--register', register, '--out', out, '--json', '--accept-removals'];
  const { stdout, processor } = await measured(process.execPath, compiled('generator/cli.js'), ...args);
  const { seconds, peak_memory_bytes: peak } = built.parse(JSON.parse(stdout));
  return { seconds, processor, memory: peak / 1e6 };
}

/**
 * Writes what a build writes, but for Parquet and hashes, by existing tools: prints the rows as JSON, compresses them
 * as CSV, the documents of records as lines and the register, and extracts the files of the tree.
 * $0 is the register, $1 a tar of the tree, $2 a folder of documents as lines, $3 where all is written.
 */
const TOOLS = [
  'set -e',
  'mkdir -p "$3/tree"',
  ...TABLES.flatMap(({ name }) => [
    `sqlite3 -json -readonly "$0" 'SELECT * FROM "${name}"' > "$3/lines"`,
    `sqlite3 -csv -readonly "$0" 'SELECT * FROM "${name}"' > "$3/${name}.csv"`,
    `gzip -6 "$3/${name}.csv"`,
  ]),
  'for lines in "$2"/*; do gzip -6 < "$lines" > "$3/lines.gz"; done',
  `sqlite3 -readonly "$0" "VACUUM INTO '$3/copy.sqlite'"`,
  'gzip -6 "$3/copy.sqlite"',
  'tar -C "$3/tree" -xf "$1"',
].join('\n');

/** Hashes the files that TOOLS extracted. $0 is where all is written. */
const HASHES = 'cd "$0/tree" && find . -type f -print0 | xargs -0 sha256sum | gzip -6 > ../hashes.gz';

/** Has DuckDB write Parquet. Its arguments: where to write, and the CSV files. */
const PARQUET = `const { DuckDBInstance } = require('@duckdb/node-api');
const [to, ...files] = process.argv.slice(1);
DuckDBInstance.create(':memory:').then(async (instance) => {
  const connection = await instance.connect();
  for (const [at, file] of files.entries())
    await connection.run(\`COPY (FROM read_csv('\${file}', header = true)) TO '\${to}/\${at}.parquet'\`);
});`;

async function prepare(context: Context): Promise<Prepared> {
  const { folder, register, say } = context;
  const path = (name: string): string => join(folder, name);
  const [kept, nightly, archive] = [path('kept'), path('nightly'), path('tree.tar')] as const;
  const a = await registerOf(context, RECORDS);
  const b = measuredCopy(a, path('next.sqlite'), 'id % 100 = 7');
  const c = measuredCopy(a, path('everything.sqlite'), 'true');
  say('building two trees, and an archive');
  await build(a, kept);
  await run('tar', ['-C', kept, '-cf', archive, '.']);
  const lines = path('lines');
  mkdirSync(lines);
  const downloads = join(kept, 'downloads');
  const tables = readdirSync(downloads).flatMap((name) =>
    name.endsWith('.csv') ? join(downloads, name) : [],
  );
  const documents = join(downloads, 'documents');
  for (const file of readdirSync(documents).filter((name) => !name.startsWith('other.')))
    await run('sh', ['-c', 'gzip -dc "$0" > "$1"', join(documents, file), join(lines, file)]);
  await build(a, nightly);

  let turn = 0;
  // New names each time, and removed in the end: a file system that has just deleted many files makes new ones slowly.
  const fresh = (name: string): string => path(`${name}-${(turn += 1)}`);
  const queries = TABLES.map(({ name }) => `SELECT * FROM "${name}"`).join(';');
  const print = 'sqlite3 -csv -readonly "$0" "$1" > /dev/null';
  const current = new Map([kept, nightly].map((tree) => [tree, a]));
  const change = async (tree: string) => {
    const other = tree === nightly ? c : b;
    const next = current.get(tree) === a ? other : a;
    current.set(tree, next);
    await run('sync', ['-f', folder]);
    return build(next, tree);
  };
  return {
    contenders: [
      {
        name: 'tools',
        run: async () => {
          const to = fresh('tools');
          const { processor } = await measured('sh', '-c', TOOLS, a, archive, lines, to);
          const hashes = await measured('sh', '-c', HASHES, to);
          const parquet = await measured('node', '-e', PARQUET, to, ...tables);
          return { processor, complete: processor + hashes.processor + parquet.processor };
        },
      },
      { name: 'first', run: () => build(a, fresh('first')) },
      {
        name: 'sqlite3',
        run: async () => {
          const startedMs = performance.now();
          await run('sh', ['-c', print, a, queries]);
          return { seconds: (performance.now() - startedMs) / 1000 };
        },
      },
      { name: 'unchanged', run: () => build(current.get(kept) ?? a, kept) },
      { name: 'changed', run: () => change(kept) },
      { name: 'everything', run: () => change(nightly) },
    ],
    notes: [
      `Registers: ${register ?? `${RECORDS.toLocaleString('en-US')} fictional records`}, and the same with 1 % of the records, or all of them, measured once more, to and fro.`,
      'The file system is flushed before each run; the builds flush it again before they commit, the tools do not.',
    ],
  };
}
