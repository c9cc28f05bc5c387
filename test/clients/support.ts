/** Servers and clients for the tests of the typed client. */
import { createServer, type RequestListener } from 'node:http';
import { afterAll } from 'vitest';
import { RegisterClient, type ClientOptions } from '../../clients/typescript/client.js';
import { listenOn } from '../support/ports.js';
import { startProxy, type RunningProxy } from '../support/proxy.js';

interface Noting {
  readonly client: RegisterClient;
  readonly paths: string[];
  readonly statuses: number[];
}

function noting(base: string, options: ClientOptions = {}): Noting {
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

/** Proxies by the tree that they serve. */
const shared = new Map<string, Promise<RunningProxy>>();

/** Call it at the top of a test file: ends the proxies that its tests shared. */
export const endsProxies = (): void =>
  afterAll(async () => {
    for (const proxy of shared.values()) await (await proxy).stop();
    shared.clear();
  });

/** A client of the real proxy, without a limit. */
export async function proxied(dist: string, options: ClientOptions = {}): Promise<Noting> {
  const started = shared.get(dist) ?? startProxy(dist);
  shared.set(dist, started);
  return noting((await started).base, options);
}

export async function served(
  answer: RequestListener,
  options: ClientOptions = {},
  path = '',
): Promise<Noting> {
  const server = createServer(answer);
  return noting(`http://127.0.0.1:${await listenOn(server)}${path}`, options);
}

export async function rejectionOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('expected a rejection');
}
