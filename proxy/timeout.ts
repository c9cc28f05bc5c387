export class TimeoutError extends Error {
  override name = 'TimeoutError';
}

/** @throws TimeoutError if the promise does not settle in time */
export async function withTimeout<T>(timeoutMs: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      // After a pause of this process, libuv runs timers before it reads sockets, where the reply
      // may be. One more turn of the event loop, and it has been read.
      setImmediate(() => reject(new TimeoutError(`no reply within ${timeoutMs} ms`)));
    }, timeoutMs);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
