/** `npm run bench`: measures, and says how that compares. */
import { Argument, Command, CommanderError, InvalidArgumentError } from 'commander';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { machine, missingPrograms } from './machine.js';
import { generatorSuite } from './generator-suite.js';
import { coldSuite, proxySuite } from './proxy-suite.js';
import { interleave, resultOf, table, type Result, type Suite } from './suite.js';

/** In the order in which they are taken. */
const SUITES: readonly Suite[] = [generatorSuite, proxySuite, coldSuite];

interface Options {
  readonly runs: number;
  readonly out?: string;
  readonly folder: string;
  readonly register?: string;
  readonly tree?: string;
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
  .option('--out <file.md>', 'the results as a page, too')
  .option('--folder <folder>', 'where to work: a folder for each suite is made in it and removed', tmpdir())
  .option('--register <file>', 'a register to measure with instead of a fictional one')
  .option('--tree <folder>', 'a published tree to measure with instead of one made for it')
  .addHelpText('after', HELP);

/** The results of a suite, and its section of the page. */
async function run(suite: Suite, options: Options): Promise<[readonly Result[], string]> {
  const folder = mkdtempSync(join(options.folder, `bench-${suite.name}-`));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.on('exit', remove);
  say(`suite ${suite.name}: ${suite.description}`);
  const { register, tree } = options;
  const { contenders, notes } = await suite.prepare({ folder, register, tree, say });
  const values = await interleave(contenders, options.runs, say);
  remove();
  const results = suite.figures.map((figure) => resultOf(figure, values));
  const lines = notes.map((note) => `\n- ${note}`).join('');
  return [results, `## ${suite.name}: ${suite.description}\n\n${table(results)}\n${lines}\n`];
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
  const all: (readonly [readonly Result[], string])[] = [];
  for (const suite of chosen) all.push(await run(suite, options));
  const facts = machine().map(([name, value]) => `| ${name} | ${value} |\n`);
  const page = [
    ...all.map(([, section]) => section),
    `## Machine\n\nMedians of ${options.runs} interleaved runs.\n\n| What | Which |\n| --- | --- |\n${facts.join('')}`,
  ].join('\n');
  if (options.out !== undefined) writeFileSync(options.out, page);
  process.stdout.write(page);
  return all.some(([results]) => results.some(({ holds }) => holds === false)) ? 1 : 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}
