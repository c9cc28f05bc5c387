import type { Server } from 'node:http';

import { errorCode, type Log } from './log.js';

/** Where a server listens: at an address, or on a socket that systemd has opened. */

/** An error of the machine, not the program: one line and exit code 3. */
export class EnvironmentError extends Error {
  override name = 'EnvironmentError';
}

/** The first descriptor that systemd passes; see sd_listen_fds(3). */
const PASSED_FD = 3;
/**
 * Connections that wait in a passed socket, such as during a restart. As in systemd.socket(5);
 * Node's own 511 would replace it. The system lowers it to net.core.somaxconn.
 */
const PASSED_BACKLOG = 4_096;

/** An address with the setting that changes its port, or a descriptor. */
export type Place = { readonly host: string; readonly port: number; readonly setting: string } | number;

/**
 * The socket that systemd (or another parent that does the same) passes to this process.
 *
 * @returns its descriptor; undefined if none is passed, or to another process
 * @throws EnvironmentError if there are several
 */
export function passedSocket(
  { LISTEN_FDS: count, LISTEN_PID: owner }: Readonly<Record<string, string | undefined>>,
  pid: number,
  log: Log,
): number | undefined {
  if (count === undefined) return undefined;
  if (owner !== String(pid)) {
    log(
      `ignoring LISTEN_FDS: LISTEN_PID is "${owner ?? ''}", and this process is ${pid} ` +
        '(have a script in between start it with exec)',
    );
    return undefined;
  }
  if (count === '1') return PASSED_FD;
  throw new EnvironmentError(
    `LISTEN_FDS "${count}": expected 1, a unit with one ListenStream= ([::]:8080 takes IPv4 as well)`,
  );
}

/**
 * Settles when the server listens. Later errors, each of a single connection, are logged.
 *
 * @throws EnvironmentError if it can't
 */
export async function listen(server: Server, place: Place, log: Log): Promise<void> {
  await new Promise<void>((settle, reject) => {
    server.once('error', (error) => reject(new EnvironmentError(explain(place, error))));
    const listening = (): void => {
      server.removeAllListeners('error');
      settle();
    };
    if (typeof place === 'number') server.listen({ fd: place }, PASSED_BACKLOG, listening);
    else server.listen(place.port, place.host, listening);
  });
  if (baseUrl(server) === '') throw new EnvironmentError(explain(place, new Error('not TCP')));
  // From now on, an error concerns a single failed accept (no file descriptors left).
  server.on('error', (error) =>
    log(`a connection could not be accepted (${errorCode(error) ?? error.message})`),
  );
}

function explain(place: Place, error: Error): string {
  const code = errorCode(error) ?? error.message;
  if (typeof place === 'number') {
    return `can't listen on the passed descriptor ${place} (${code}): expected a TCP socket that listens`;
  }
  const reason =
    code === 'EADDRINUSE'
      ? `the port is taken, choose another with ${place.setting}`
      : 'expected an address and a port that this process may use';
  return `can't listen on ${place.host} port ${place.port} (${code}): ${reason}`;
}

/** The URL where a server listens; empty if it is no TCP port. */
export function baseUrl(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') return '';
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
