/** Ports for servers under test. */
import { createServer } from 'node:net';

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((settle) => {
    probe.listen(0, '127.0.0.1', settle);
  });
  const address = probe.address();
  await new Promise((settle) => {
    probe.close(settle);
  });
  if (address === null || typeof address === 'string') throw new Error('expected to listen on a port');
  return address.port;
}
