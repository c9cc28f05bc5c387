import { onTestFinished } from 'vitest';

import { portOf, spawnProxy, type ProxyProcess } from '../support/proxy.js';

export { MAIN } from '../support/proxy.js';
export type { ProxyProcess as Process } from '../support/proxy.js';

/** The compiled proxy as a process that ends with the test; `npm test` compiles first. */
export function start(args: readonly string[], environment: Record<string, string> = {}): ProxyProcess {
  const started = spawnProxy(args, environment);
  onTestFinished(() => void started.child.kill('SIGKILL'));
  return started;
}

/** Starts on a free port and waits until it says so. */
export async function listening(
  args: readonly string[],
  environment?: Record<string, string>,
): Promise<ProxyProcess & { port: number }> {
  const started = start(['--port', '0', ...args], environment);
  return { ...started, port: await portOf(started) };
}
