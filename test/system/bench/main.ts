/**
 * `npm run bench -- [generator|proxy|cold ...] [--runs N] [--out FILE.md] [--folder DIR] [--register FILE] [--tree DIR]`:
 * measures, and says how that compares. Each figure is a ratio against a peer or a floor measured in
 * the same run. Exit codes: 0 all targets hold, 1 one does not, 2 usage.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { machine } from './machine.js';
import { generatorSuite } from './generator-suite.js';
import { coldSuite, proxySuite } from './proxy-suite.js';
import { interleave, resultOf, table, type Result, type Suite } from './suite.js';

const SUITES: readonly Suite[] = [generatorSuite, proxySuite, coldSuite];

const say = (line: string): void => void process.stderr.write(`${line}\n`);

function readOptions() {
  const text = { type: 'string' } as const;
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { runs: text, out: text, folder: text, register: text, tree: text },
    });
    const { runs = '5', folder = tmpdir(), ...others } = values;
    const known = SUITES.map(({ name }) => name);
    if (!/^[1-9]\d{0,2}$/.test(runs)) throw new TypeError('--runs: expected a whole number from 1 to 999');
    if (positionals.some((name) => !known.includes(name)))
      throw new TypeError(`expected suites of ${known.join(', ')}`);
    const suites = SUITES.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
    return { suites, runs: Number(runs), folder, ...others };
  } catch (error) {
    say(String(error));
    return process.exit(2);
  }
}

const options = readOptions();

async function run(suite: Suite): Promise<[readonly Result[], string]> {
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

const all: (readonly [readonly Result[], string])[] = [];
for (const suite of options.suites) all.push(await run(suite));
const facts = machine().map(([name, value]) => `| ${name} | ${value} |\n`);
const page = [
  ...all.map(([, section]) => section),
  `## Machine\n\nMedians of ${options.runs} interleaved runs.\n\n| What | Which |\n| --- | --- |\n${facts.join('')}`,
].join('\n');
if (options.out !== undefined) writeFileSync(options.out, page);
process.stdout.write(page);
process.exitCode = all.some(([results]) => results.some(({ holds }) => holds === false)) ? 1 : 0;
