/** Runs rclone without a shell. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { Failure, codeOf } from '../../base/errors.js';
import { follow, type Progress } from '../../base/progress.js';

/**
 * It writes statistics this often: 1 second. If its parent was killed, it ends as it writes to the
 * closed pipe.
 */
export const STATISTICS_SECONDS = 1;

/** By then it has ended: 2000 ms. */
export const LINGERS_MS = 2000 * STATISTICS_SECONDS;

/** How long it may take to end after SIGTERM: 5000 ms. */
const GRACE_MS = 5000;
/** Ctrl-C reaches it as well, perhaps earlier than it is handled here: 150 ms. */
const SIGNAL_MS = 150;
/** How many of the last lines of standard error an error message quotes. */
const QUOTED_LINES = 5;

/** What rclone says of a remote that its configuration lacks. */
const UNKNOWN_REMOTE = "didn't find section in config file";
const ADD_REMOTE = '\n  Expected a remote of the configuration of rclone: "rclone config" adds one';

export interface Watched {
  readonly progress: Progress;
  /** Called with each line of standard output. */
  readonly onOutput?: (line: string) => void;
  /** Reads a line of standard error. @returns what to quote of it if rclone fails */
  readonly onMessage?: (line: string) => string | undefined;
  /** The number of steps done so far, for the display. */
  readonly done?: () => number;
}

export interface Ended {
  readonly code: number;
  /** The end of standard error, without credentials, indented. */
  readonly lastLines: string;
}

/**
 * Waits for rclone to end. It is stopped if this process is.
 * @throws Failure environment: it is not installed, or a signal ended it; interrupted
 */
export async function run(
  args: readonly string[],
  { progress, onOutput, onMessage = (line) => line, done = () => 0 }: Watched,
): Promise<Ended> {
  const last: string[] = [];
  const child = spawn('rclone', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  createInterface(child.stdout).on('line', onOutput ?? (() => undefined));
  createInterface(child.stderr).on('line', (line) => {
    const quoted = onMessage(line);
    if (quoted !== undefined && quoted.trim() !== '') last.push(quoted);
    if (last.length > QUOTED_LINES) last.shift();
  });
  const ended = new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.on('error', (error) => {
      const isMissing = codeOf(error) === 'ENOENT';
      const why = isMissing
        ? 'is not installed (Debian: apt-get install rclone)'
        : `can't be started: ${error.message}`;
      reject(Failure.environment(`rclone ${why}`));
    });
    child.on('close', (code, signal) => resolve(code ?? signal ?? 'SIGKILL'));
  });
  try {
    const code = await follow(ended, done, progress);
    if (code !== 0) await follow(setTimeout(SIGNAL_MS), () => 0, progress);
    const lastLines = last.map((line) => `\n  ${withoutCredentials(line)}`).join('');
    if (typeof code === 'string') throw Failure.environment(`rclone was ended by ${code}${lastLines}`);
    return { code, lastLines };
  } catch (error) {
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      child.kill('SIGTERM');
      await Promise.race([ended, setTimeout(GRACE_MS, undefined, { ref: false })]);
      child.kill('SIGKILL');
    }
    throw error;
  }
}

/** @param step what it was doing, and with which remote */
export const failed = ({ code, lastLines }: Ended, step: string, remote: string): Failure =>
  Failure.environment(
    `rclone failed with ${code} while ${step} (${remote}); the next upload continues from here${lastLines}` +
      (lastLines.includes(UNKNOWN_REMOTE) ? ADD_REMOTE : ''),
  );

/** Removes what signs a request from URLs, passwords from addresses, and values that look secret. */
const withoutCredentials = (line: string): string =>
  line
    .replaceAll(/(\w+:\/\/)[^\s/@"]+@/g, '$1')
    .replaceAll(/(\w+:\/\/[^\s?"]+)\?[^\s"]*/g, '$1')
    .replaceAll(
      /(\w*(?:secret|password|pass|token|key_id|access_key|credential)\w*\s*[=:]\s*)[^\s,;"]+/gi,
      '$1…',
    );
