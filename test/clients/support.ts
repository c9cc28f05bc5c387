/** Servers and clients for the tests of the typed client. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import { RegisterClient, type ClientOptions } from '../../clients/typescript/client.js';
import { listenOn } from '../support/ports.js';
import { startProxy, type RunningProxy } from '../support/proxy.js';

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

/** Proxies without flags, by the tree that they serve. */
const shared = new Map<string, Promise<RunningProxy>>();

/** Call it at the top of a test file: ends the proxies that its tests shared. */
export const endsProxies = (): void =>
  afterAll(async () => {
    for (const proxy of shared.values()) await (await proxy).stop();
    shared.clear();
  });

/** A client of the real proxy; one with flags stops after the test. */
export async function proxied(
  dist: string,
  flags: readonly string[] = [],
  options: ClientOptions = {},
): Promise<Noting> {
  const started = (flags.length === 0 ? shared.get(dist) : undefined) ?? startProxy(dist, flags);
  if (flags.length === 0) shared.set(dist, started);
  const proxy = await started;
  if (flags.length > 0) onTestFinished(async () => void (await proxy.stop()));
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

/** Saves the client that a service hands out, and a program that reads group 7 with it and can follow changes. */
export async function takeServedClient(base: string, folder: string): Promise<void> {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  for (const file of ['client.ts', 'changes.ts']) {
    const response = await fetch(`${base}/clients/${file}`);
    writeFileSync(join(folder, file), await response.text());
  }
  const program = `import { RegisterClient } from './client.ts';
    import { changesSince, type Change } from './changes.ts';
    const register = new RegisterClient('${base}');
    const group = await register.get('/api/v1/group/{id}', { id: 7 });
    const name: string | null = group.name;
    export const follow: (at: { tree: string; sequence: number; digest: string }) => AsyncGenerator<Change> =
      (at) => changesSince(register, at);
    console.log(name);`;
  writeFileSync(join(folder, 'read.ts'), program);
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
