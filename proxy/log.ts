/** Writes one line for the operator. */
export type Log = (line: string) => void;

/** Whole milliseconds that never go backwards. */
export type Clock = () => number;

/** External dependencies. Tests pass their own. */
export interface Dependencies {
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * A log for lines caused by requests: at most one per interval, so that neither a failing disk nor
 * a client can flood it. The next line has the number of omitted ones.
 */
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
