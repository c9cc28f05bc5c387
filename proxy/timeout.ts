/** Something took too long, such as a read from a network file system without its server. */
export class TimeoutError extends Error {
  override name = 'TimeoutError';
}

/**
 * Calls `giveUp` when something has taken too long. After a pause of this process, its result may
 * have arrived meanwhile, and timers come first: so one more turn is waited for.
 *
 * @param name of what takes so long, for the message
 */
export function startTimer(
  name: string,
  timeoutMs: number,
  giveUp: (error: TimeoutError) => void,
): NodeJS.Timeout {
  return setTimeout(() => {
    setImmediate(() => giveUp(new TimeoutError(`${name} did not answer within ${timeoutMs} ms`)));
  }, timeoutMs);
}
