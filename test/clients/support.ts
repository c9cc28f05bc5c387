/** Servers and clients for the tests of the typed client. */
import { createServer, type RequestListener } from 'node:http';
import { afterAll, onTestFinished } from 'vitest';
import { RegisterClient, type ClientOptions } from '../../clients/typescript/client.js';
import { listenOn } from '../support/ports.js';
import { startProxy, type RunningProxy } from '../support/proxy.js';

/** A client that notes the path and the status of each response. */
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

/** Proxies without a limit, by the tree that they serve. */
const shared = new Map<string, Promise<RunningProxy>>();

/** Call it at the top of a test file: ends the proxies that its tests shared. */
export const endsProxies = (): void =>
  afterAll(async () => {
    for (const proxy of shared.values()) await (await proxy).stop();
    shared.clear();
  });

/** A client of the real proxy; one with a limit of the API stops after the test. */
export async function proxied(
  dist: string,
  api?: { readonly tokens: number; readonly refill_seconds?: number },
  options: ClientOptions = {},
): Promise<Noting> {
  const isShared = api === undefined;
  const started =
    (isShared ? shared.get(dist) : undefined) ?? startProxy(dist, [], isShared ? {} : { limits: { api } });
  if (isShared) shared.set(dist, started);
  const proxy = await started;
  if (!isShared) onTestFinished(async () => void (await proxy.stop()));
  return noting(proxy.base, options);
}

/** A client of a server of the test's own. */
export async function served(
  answer: RequestListener,
  options: ClientOptions = {},
  path = '',
): Promise<Noting> {
  const server = createServer(answer);
  return noting(`http://127.0.0.1:${await listenOn(server)}${path}`, options);
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
