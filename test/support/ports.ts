/** Ports for servers under test. */
import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { onTestFinished } from 'vitest';

/** Has a server listen on a free port of 127.0.0.1. @returns the port */
export async function listening(server: Server | HttpServer): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected to listen on a port');
  return address.port;
}

export async function ended(server: Server | HttpServer): Promise<void> {
  const isClosed = once(server, 'close');
  if ('closeAllConnections' in server) server.closeAllConnections();
  server.close();
  await isClosed;
}

/** Has a server listen on a free port of 127.0.0.1 until the test ends. */
export async function listenOn(server: Server | HttpServer): Promise<number> {
  onTestFinished(() => void ended(server));
  return await listening(server);
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  const port = await listening(probe);
  probe.close();
  await once(probe, 'close');
  return port;
}
