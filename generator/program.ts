/** The command line: it gives commands what they use of this process. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { CommanderError, type Command } from 'commander';
import { addCommands } from './commands/commands.js';
import { Program } from './commands/options.js';
import type { Terminal } from './commands/terminal.js';
import { DEFAULTS } from './config/config.js';
import { EXIT, Failure, codeOf, isOfMachine, messageOf } from './base/errors.js';
import { codeIdentity } from './pipeline/inputs.js';
import { readPackage } from './base/package.js';
import { progressFor, type Progress } from './base/progress.js';
import { startThreads } from './pipeline/threads.js';

// Has V8 optimize a function after 15 times as much work in it as by default (67,584). Each thread compiles for itself,
// and a build of some thousand records is over before that pays. Newer versions of Node wait longer by themselves.
if (process.versions.node.startsWith('20.')) setFlagsFromString('--interrupt-budget=1000000');

const self = readPackage();
// Set by run.mjs, under npm: where default paths start, and how this program is called.
const { REGISTER_API_DEFAULTS: defaultsFolder = '', REGISTER_API_CALL: call = self.name } = process.env;

// Published files are for everyone: 0644, in folders of 0755. Private files get modes of their own.
process.umask(0o022);

const stop = new AbortController();
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
let stoppedBy: NodeJS.Signals | undefined;

/** Only for the first signal: a second one ends the process immediately. */
function onSignal(signal: NodeJS.Signals): void {
  stoppedBy = signal;
  restoreSignals();
  stop.abort(Failure.interrupted(`stopped by ${signal}`));
}

function listenToSignals(): void {
  for (const signal of SIGNALS) process.on(signal, onSignal);
}

/** Restores the default effect: the system ends the process, even while this thread is blocked. */
function restoreSignals(): void {
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

async function withDefaultSignals<T>(work: () => T | Promise<T>): Promise<T> {
  restoreSignals();
  try {
    return await work();
  } finally {
    if (stoppedBy === undefined) listenToSignals();
  }
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const warn = (line: string): void => void process.stderr.write(`${line}\n`);

const displays = new Set<Progress>();

function progress(quiet = false): Progress {
  const display = quiet ? 'quiet' : process.stderr.isTTY ? process.stderr : 'plain';
  const added = progressFor(display, { signal: stop.signal, withDefaultSignals }, warn);
  displays.add(added);
  return added;
}

/**
 * What decides the bytes of files: Unicode the texts under which names are looked up, zlib and the processor the
 * compressed files, TZ the times of views. Where Node uses the system's libraries, its own version doesn't tell theirs.
 */
const code = (): string => {
  const { arch, env, version, versions } = process;
  return [codeIdentity(), version, versions.unicode, versions.zlib, arch, env['TZ']].join(' ');
};

const terminal: Terminal = {
  say,
  warn,
  progress,
  startThreads: (source) => startThreads(new URL('pipeline/worker.js', import.meta.url), source),
  now: () => new Date(),
  // Read from many files, for builds alone.
  get generator() {
    return { name: self.name, version: self.version, code: code() };
  },
  cost: () => ({ seconds: process.uptime(), peakMemoryBytes: process.resourceUsage().maxRSS * 1024 }),
  exitWith: (code) => {
    process.exitCode = code;
  },
};

/** Says what commander says of an option's value, in our words. */
const plainer = (text: string): string =>
  text.replace(/^error: option '(--[\w-]+).*?' argument '(.*?)' is invalid\. /s, 'error: $1 "$2": ');

const program = new Program(call)
  .version(self.version, '-v, --version')
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(plainer(text)) })
  .showHelpAfterError('Run with --help for usage.')
  // `refuseArguments` says more than commander does.
  .allowExcessArguments()
  .description(
    'Publishes a measured register as a tree of JSON files, ready for the proxy or any static host.',
  )
  .addHelpText(
    'after',
    ({ command }) => `
Exit codes
  0    done
  1    the register or the tree has errors (they are printed)
  2    the command was not understood
  3    the machine: a file is missing, a folder not writable, the disk full
  70   a defect of this program
  75   another process is at work on the tree (see --wait)
  130  stopped by a signal

Examples
  $ ${command.name()} sample --out data/register.sqlite
  $ ${command.name()} scaffold --register guilds.db
  $ ${command.name()} check --register data/register.sqlite
  $ ${command.name()} diff --register data/register.sqlite --out dist
  $ ${command.name()} build --register data/register.sqlite --out dist
  $ ${command.name()} status --out dist
  $ ${command.name()} verify --out dist`,
  );

const [, , first = ''] = process.argv;
await addCommands(program, terminal, first);

/**
 * Refuses arguments, since most commands take options only.
 * @throws CommanderError that names the option which may have been meant
 */
function refuseArguments(command: Command): void {
  const argument = command.args[command.registeredArguments.length];
  if (argument === undefined) return;
  const has = (option: string): boolean => command.options.some(({ long }) => long === option);
  const isRegister = has('--register') && (/\.(db|sqlite3?)$/.test(argument) || !has('--out'));
  const option = isRegister ? '--register' : '--out';
  command.error(`error: unexpected argument '${argument}'\n(Did you mean ${option} ${argument}?)`);
}

program.hook('preAction', (_, command) => {
  refuseArguments(command);
  for (const key of Object.keys(DEFAULTS)) {
    if (command.getOptionValueSource(key) !== 'default') continue;
    command.setOptionValue(key, join(defaultsFolder, String(command.getOptionValue(key))));
  }
  // Without an operator file in the folder where it is called, the program takes its own example.
  const operator: unknown = command.getOptionValue('operator');
  if (command.getOptionValueSource('operator') !== 'cli' && !existsSync(String(operator)))
    command.setOptionValue('operator', join(self.root, DEFAULTS.operator));
});

/** Prints an error, in one line if it was expected. @returns the exit code */
function reportError(error: unknown): number {
  // Commander has printed its own message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  if (error instanceof Failure) {
    warn(`error: ${error.message}`);
    return error.exitCode;
  }
  if (isOfMachine(error)) {
    warn(`error: ${messageOf(error)}`);
    return EXIT.environment;
  }
  warn(`error: a defect of this program, please report it: ${messageOf(error)}`);
  if (error instanceof Error && error.stack !== undefined) warn(error.stack);
  return EXIT.defect;
}

listenToSignals();
// If nobody reads the messages, there still is the exit code.
process.stderr.on('error', () => undefined);
process.stdout.on('error', (error) => {
  // A closed pipe (`| head`) is no error, but a lost result is.
  if (codeOf(error) === 'EPIPE') process.exit(process.exitCode ?? EXIT.done);
  warn(`error: the result can't be written: ${messageOf(error)}`);
  process.exit(EXIT.environment);
});

/** The arguments, but of an unknown command only its name: with --help, commander would print help instead of an error. */
function commandLine(): readonly string[] {
  const isKnown = first === 'help' || program.commands.some((command) => command.name() === first);
  return isKnown || first.startsWith('-') ? process.argv : process.argv.slice(0, 3);
}

/** How long a stopped process may take to end by itself: 1000 ms (= 1 second). */
const END_MS = 1_000;

try {
  await program.parseAsync(commandLine());
  // A signal that came too late to stop this command still stops the script that runs it.
  if (stoppedBy !== undefined) throw Failure.interrupted(`stopped by ${stoppedBy}, when all was done`);
} catch (error) {
  for (const display of displays) display.stop();
  process.exitCode = reportError(error);
  const signal = stoppedBy;
  // A thread inside SQLite can't be ended, and the process would wait for it.
  if (signal !== undefined) setTimeout(() => process.kill(process.pid, signal), END_MS).unref();
}
