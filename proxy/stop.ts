import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** How often connections that have become idle are looked for while stopping. */
const STOP_SWEEP_MS = 50;

/**
 * Stops accepting, closes what is idle, and lets what is in flight finish.
 *
 * @param sockets all connections of the server
 * @param boundMs how long that may take; connections still open then are cut
 * @returns whether everything finished by itself
 */
export async function stopServer(
  server: Server,
  sockets: ReadonlySet<Socket>,
  boundMs: number,
): Promise<boolean> {
  let isClean = true;
  const bound = setTimeout(() => {
    isClean = false;
    server.closeAllConnections();
  }, boundMs);
  // close() closes what is idle now. A connection that was answering becomes idle, and would live on,
  // afterwards; and one that a client opened in advance and never used counts as busy.
  const sweep = setInterval(() => {
    server.closeIdleConnections();
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  }, STOP_SWEEP_MS);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  clearTimeout(bound);
  clearInterval(sweep);
  return isClean;
}
