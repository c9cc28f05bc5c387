/** What an answer within a budget came too late for. */
export class LateError extends Error {
  override name = 'LateError';
}

/**
 * An answer, if it comes within so many milliseconds.
 *
 * @throws LateError if it does not, and what the answer throws if it fails
 */
export async function within<T>(budgetMs: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      // After a pause of this very process its timers run before it reads its sockets (libuv's order), where
      // the answer may have been for long. One more turn of the loop, and it has been read.
      setImmediate(() => reject(new LateError(`no answer within ${budgetMs} ms`)));
    }, budgetMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
