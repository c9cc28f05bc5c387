#!/usr/bin/env node
/** The command line: `npm run snapshot -- build|check|sample`. The only file here that touches process.*. */
import { existsSync, readFileSync } from 'node:fs';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { writeSample } from '../data/sample.js';
import { build } from './build.js';
import type { Effects } from './build.js';
import { DEFAULTS, buildConfig } from './config.js';
import { EXIT, Failure, messageOf } from './errors.js';
import { number, progressFor } from './progress.js';
import type { Progress } from './progress.js';
import { check } from './register/check.js';
import { Register } from './register/open.js';
import { checkedLine, findingLines, publishedLines, size } from './report.js';
import type { Cost } from './report.js';
import { LAYOUTS } from './routes.js';

const SAMPLE_RECORDS = 5000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const warn = (line: string): void => void process.stderr.write(`${line}\n`);

const stop = new AbortController();

function cost(): Cost {
  return { seconds: process.uptime(), peakMemoryBytes: process.resourceUsage().maxRSS * 1024 };
}

function progress(quiet: boolean): Progress {
  const mode = quiet ? 'quiet' : process.stderr.isTTY ? 'terminal' : 'plain';
  return progressFor(mode, stop.signal, warn);
}

function effects(quiet: boolean): Effects {
  const { name, version } = self();
  return { progress: progress(quiet), warn, now: () => new Date(), generator: { name, version } };
}

function self(): { name: string; version: string } {
  const file: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  if (typeof file === 'object' && file !== null && 'name' in file && 'version' in file) {
    return { name: String(file.name), version: String(file.version) };
  }
  throw new TypeError('package.json has no name and version');
}

const program = new Command('snapshot')
  .description(
    'Publishes a measured register as a tree of JSON files, ready for the proxy or any static host.',
  )
  .version(self().version)
  .exitOverride()
  .showHelpAfterError('(--help shows how it is used)')
  .addHelpText(
    'after',
    `
Exit codes
  0  done
  1  the register or the tree has errors (they are printed)
  2  the command was not understood
  3  the machine: a file is missing, a folder not writable, the disk full
  70 a defect of this program
  130 stopped by a signal; the published tree is what it was

Examples
  $ npm run snapshot -- sample --out data/register.sqlite
  $ npm run snapshot -- check --register data/register.sqlite
  $ npm run snapshot -- build --register data/register.sqlite --out dist`,
  );

const registerOption = () =>
  new Option('--register <file>', 'the register, an SQLite file').default(DEFAULTS.register);
const jsonOption = () => new Option('--json', 'print the result as one JSON object');
const quietOption = () => new Option('--quiet', 'no progress, and no summary where all is well');

interface Output {
  readonly json?: true;
  readonly quiet?: true;
}

program
  .command('build')
  .description('Check the register, render every response, and publish what changed.')
  .addOption(registerOption())
  .option('--out <dir>', 'the published tree', DEFAULTS.out)
  .option('--operator <file>', 'who runs the register, on which terms', DEFAULTS.operator)
  .option('--base-url <url>', 'where the service is reached (default: base_url of the operator file)')
  .addOption(
    new Option('--layout <layout>', 'files as the URLs are, or records spread over 1,000 folders')
      .choices(LAYOUTS)
      .default(DEFAULTS.layout),
  )
  .option('--skip-invalid', 'leave out records that break the contract, and say which')
  .addOption(jsonOption())
  .addOption(quietOption())
  .action(async ({ json, quiet, ...flags }: Output & Record<string, unknown>) => {
    const config = buildConfig(flags);
    const result = await build(config, effects(quiet === true));
    for (const line of findingLines(result.report)) warn(line);
    if (json === true) say(JSON.stringify({ ...result, ...cost() }));
    if (!result.published) {
      warn(`${checkedLine(config.register, result.report, cost())}; nothing was published`);
      process.exitCode = EXIT.invalid;
      return;
    }
    if (result.report.total > 0) {
      warn(`records with these ${number(result.report.total)} findings were left out (--skip-invalid)`);
    }
    if (json === true || quiet === true) return;
    for (const line of publishedLines(config.out, result, cost())) say(line);
  });

program
  .command('check')
  .description('Check the register against its contract, without publishing.')
  .addOption(registerOption())
  .addOption(jsonOption())
  .addOption(quietOption())
  .action(async ({ register: file, json, quiet }: Output & { register: string }) => {
    const register = Register.open(file);
    try {
      const report = await check(register, progress(quiet === true), false);
      if (report.total > 0) process.exitCode = EXIT.invalid;
      if (json === true) {
        const { findings, more, total } = report;
        say(JSON.stringify({ register: file, total, findings, more, ...cost() }));
        return;
      }
      for (const line of findingLines(report)) say(line);
      if (quiet !== true || report.total > 0) say(checkedLine(file, report, cost()));
    } finally {
      register.close();
    }
  });

/** A whole number of a flag. */
function whole(value: string): number {
  const parsed = Number(value);
  if (!/^\d+$/.test(value) || !Number.isSafeInteger(parsed)) {
    throw new InvalidArgumentError('expected a whole number in plain decimal');
  }
  return parsed;
}

program
  .command('sample')
  .description('Write a fictional register of any size, the same for the same size and seed.')
  .option('--out <file>', 'the register to write, which must not exist', DEFAULTS.register)
  .option('--records <n>', 'groups, users, games and items together', whole, SAMPLE_RECORDS)
  .option('--seed <n>', 'which of the many registers of this size', whole, 1)
  .option('--if-missing', 'do nothing where the file exists')
  .addOption(jsonOption())
  .addOption(quietOption())
  .action(
    async (
      flags: Output & { out: string; records: number; seed: number; ifMissing?: true },
    ): Promise<void> => {
      const { out: file, records, seed, json, quiet } = flags;
      if (existsSync(file)) {
        if (flags.ifMissing === true) return;
        throw Failure.environment(`"${file}" exists, expected a new file`);
      }
      const shown = progress(quiet === true);
      shown.start('writing a sample register', records, 'records');
      let done = 0;
      const summary = await writeSample({
        file,
        records,
        seed,
        onProgress: (now) => {
          void shown.advance(now - done);
          done = now;
        },
      });
      shown.finish();
      if (json === true) say(JSON.stringify({ register: file, seed, ...summary, ...cost() }));
      else if (quiet !== true) {
        say(
          `Wrote ${number(records)} fictional records (${number(summary.rows)} rows, ${size(summary.bytes)}) to ${file}`,
        );
      }
    },
  );

/** Prints what went wrong, one line if it was to be expected, and returns the exit code. */
function failed(error: unknown): number {
  // Commander has said its piece itself.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  if (error instanceof Failure) {
    warn(`error: ${error.message}`);
    return error.exitCode;
  }
  warn(`error: a defect of this program, please report it: ${messageOf(error)}`);
  if (error instanceof Error && error.stack !== undefined) warn(error.stack);
  return EXIT.defect;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // Once: whoever asks again gets the system's way.
  process.once(signal, () => {
    stop.abort(Failure.interrupted(`stopped by ${signal}; the published tree is what it was`));
  });
}
// A reader that has seen enough (`| head`) is no error.
process.stdout.on('error', () => process.exit(process.exitCode ?? EXIT.done));

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = failed(error);
}
