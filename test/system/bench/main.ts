import { Argument, Command, CommanderError, InvalidArgumentError } from 'commander';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { machine } from './frame/machine.js';
import { interleave, resultOf, type Result } from './frame/measure.js';
import { missingPrograms } from './frame/programs.js';
import type { Suite } from './frame/suite.js';
import { table } from './frame/table.js';
import { SUITES } from './suites.js';

/** `npm run bench`: measures, and says how that compares. The only file of the bench that touches process.* */

interface Options {
  readonly runs: number;
  readonly json?: boolean;
  readonly out?: string;
  readonly folder: string;
  readonly register?: string;
  readonly registerNext?: string;
  readonly tree?: string;
}

interface SuiteResult {
  readonly suite: Suite;
  readonly notes: readonly string[];
  readonly results: readonly Result[];
}

const HELP = `
Suites:
${SUITES.map(({ name, description }) => `  ${name.padEnd(10)} ${description}`).join('\n')}

Each figure is a ratio against a peer or a floor measured in the same run. Exit codes: 0 all targets hold,
1 one does not, 2 usage, 3 a program is missing.`;

const say = (line: string): void => void process.stderr.write(`${line}\n`);

function countOf(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new InvalidArgumentError('expected a whole number from 1 to 999');
  return Number(text);
}

const program = new Command('bench')
  .description('Measures the generator and the proxy against others, and against what the machine can do.')
  .exitOverride()
  .addArgument(
    new Argument('[suites...]', 'which to run; all if left out').choices(SUITES.map(({ name }) => name)),
  )
  .option('--runs <number>', 'how often each contender runs', countOf, 5)
  .option('--json', 'the results as one JSON object')
  .option('--out <file.md>', 'the results as a page, too')
  .option('--folder <folder>', 'where to work: a folder for each suite is made in it and removed', tmpdir())
  .option('--register <file>', 'a register to measure with instead of a fictional one')
  .option('--register-next <file>', 'the same register with some changes')
  .option('--tree <folder>', 'a published tree to measure with instead of one made for it')
  .addHelpText('after', HELP);

async function run(suite: Suite, options: Options): Promise<SuiteResult> {
  const folder = mkdtempSync(join(options.folder, `bench-${suite.name}-`));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.on('exit', remove);
  try {
    say(`suite ${suite.name}: ${suite.description}`);
    const { register, registerNext, tree } = options;
    const prepared = await suite.prepare({ folder, register, registerNext, tree, say });
    try {
      const values = await interleave(prepared.contenders, options.runs, say);
      return {
        suite,
        notes: prepared.notes,
        results: suite.figures.map((figure) => resultOf(figure, values)),
      };
    } finally {
      await prepared.close();
    }
  } finally {
    remove();
    process.off('exit', remove);
  }
}

function page(all: readonly SuiteResult[], { runs, folder }: Options): string {
  const parts = all.map(
    ({ suite, notes, results }) =>
      `## ${suite.name}: ${suite.description}\n\n${table(results)}\n${notes.map((note) => `\n- ${note}`).join('')}\n`,
  );
  const facts = machine(folder).map(([name, value]) => `| ${name} | ${value} |`);
  return [
    ...parts,
    `## Machine\n\nMedians of ${runs} interleaved runs.\n\n| What | Which |\n| --- | --- |\n${facts.join('\n')}\n`,
  ].join('\n');
}

/** A signal ends it by exit, so that folders and servers go with it. */
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

async function main(): Promise<number> {
  program.parse();
  const options = program.opts<Options>();
  const chosen = SUITES.filter(({ name }) => program.args.length === 0 || program.args.includes(name));
  const missing = chosen.flatMap(({ programs, name }) => missingPrograms(programs, name));
  for (const line of missing) say(line);
  if (missing.length > 0) return 3;
  const all: SuiteResult[] = [];
  for (const suite of chosen) all.push(await run(suite, options));
  const markdown = page(all, options);
  if (options.out !== undefined) writeFileSync(options.out, markdown);
  const facts = Object.fromEntries(machine(options.folder));
  const json = { machine: facts, runs: options.runs, results: all.flatMap(({ results }) => results) };
  process.stdout.write(options.json === true ? `${JSON.stringify(json)}\n` : markdown);
  return all.some(({ results }) => results.some(({ holds }) => holds === false)) ? 1 : 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}
