/** Servers and clients for the tests of the typed client. */
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { onTestFinished } from 'vitest';
import { RegisterClient } from '../../clients/typescript/client.js';
import type { ClientOptions } from '../../clients/typescript/client.js';
import { startProxy } from '../support/proxy.js';

/** A client that notes the path and the status of each response. */
export interface Noting {
  readonly client: RegisterClient;
  readonly paths: string[];
  readonly statuses: number[];
}

export function noting(base: string, options: ClientOptions = {}): Noting {
  const paths: string[] = [];
  const statuses: number[] = [];
  const client = new RegisterClient(base, {
    ...options,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      paths.push(new URL(response.url).pathname);
      statuses.push(response.status);
      return response;
    },
  });
  return { client, paths, statuses };
}

/** A client of the real proxy, which stops after the test. */
export async function proxied(
  dist: string,
  flags: readonly string[] = [],
  options: ClientOptions = {},
): Promise<Noting> {
  const proxy = await startProxy(dist, flags);
  onTestFinished(async () => {
    await proxy.stop();
  });
  return noting(proxy.base, options);
}

/** A client of a server of the test's own. */
export async function served(
  answer: RequestListener,
  options: ClientOptions = {},
  path = '',
): Promise<Noting> {
  const server = createServer(answer);
  await new Promise<void>((settle) => {
    server.listen(0, '127.0.0.1', settle);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected to listen on a port');
  return noting(`http://127.0.0.1:${address.port}${path}`, options);
}

/** What a promise is rejected with. */
export async function rejectionOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('expected a rejection');
}
