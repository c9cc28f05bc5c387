import { FAILURE_LOG_MS } from './config.js';
import type { Effects, Log } from './follower.js';

/**
 * For lines that requests cause: one each FAILURE_LOG_MS at most, so that neither a dying disk nor whoever
 * found a way to cause them fills the operator's. What was left out is counted in the next line.
 */
export function createFailureLog({ clock, log }: Effects): Log {
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  let unsaid = 0;
  return (line) => {
    const nowMs = clock();
    if (nowMs - loggedAtMs < FAILURE_LOG_MS) {
      unsaid += 1;
      return;
    }
    log(unsaid === 0 ? line : `${line} (and ${unsaid} more since the last such line)`);
    loggedAtMs = nowMs;
    unsaid = 0;
  };
}
