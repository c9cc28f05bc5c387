/** What the proxy writes: lines for the operator, and the access log. */

/** Writes a line for the operator. */
export type Log = (line: string) => void;

/** Whole milliseconds that never go backwards. */
export type Clock = () => number;

export interface Dependencies {
  readonly clock: Clock;
  readonly log: Log;
}

/** A log for lines caused by requests: one per interval, with the number of lines omitted before it. */
export function rateLimitedLog({ clock, log }: Dependencies, intervalMs: number): Log {
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  let omitted = 0;
  return (line) => {
    const nowMs = clock();
    if (nowMs - loggedAtMs < intervalMs) {
      omitted += 1;
      return;
    }
    log(omitted === 0 ? line : `${line} (and ${omitted} more since the last such line)`);
    loggedAtMs = nowMs;
    omitted = 0;
  };
}

/** The code of a system or library error, such as `ENOENT`. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** A line of the access log, as docs/monitoring.md has it; the path without the query, which may be private. */
type AccessEntry = Readonly<Record<string, string | number | boolean | null>> & { path: string | null };
export type AccessLog = (entry: AccessEntry) => void;

/** Longer paths are cut. */
const PATH_MAX_LENGTH = 256;
/** What may wait for a slow reader of stdout; further lines are lost. 8 MiB. */
const WAITING_MAX_BYTES = 8 * 1024 * 1024;

/** Writes each entry as a line of JSON. If the reader falls behind, says once that lines are lost. */
export function createAccessLog(
  output: { readonly writableLength: number; write(line: string): unknown },
  log: Log,
): AccessLog {
  let isBehind = false;
  return (entry) => {
    if (output.writableLength > WAITING_MAX_BYTES) {
      if (!isBehind) log('the access log is read more slowly than it is written: lines are lost');
      isBehind = true;
      return;
    }
    const path = entry.path?.slice(0, PATH_MAX_LENGTH) ?? null;
    const time = new Date().toISOString();
    output.write(`${JSON.stringify({ level: 'info', time, ...entry, path })}\n`);
  };
}
