/** What the proxy needs of the process around it. Tests pass their own. */

/** Writes one line for the operator. */
export type Log = (line: string) => void;

/** Whole milliseconds, monotonic. */
export type Clock = () => number;

export interface Dependencies {
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * For lines that requests cause, such as one about a failing disk: writes at most one per interval, so that
 * nobody can flood the operator's log. The next line says how many were left out.
 */
export function rateLimitedLog({ clock, log }: Dependencies, intervalMs: number): Log {
  let lastMs = Number.NEGATIVE_INFINITY;
  let omitted = 0;
  return (line) => {
    const nowMs = clock();
    if (nowMs - lastMs < intervalMs) {
      omitted += 1;
      return;
    }
    log(omitted === 0 ? line : `${line} (and ${omitted} more since the last such line)`);
    lastMs = nowMs;
    omitted = 0;
  };
}

/** The code of a system error, such as "ENOENT". */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
