import { freePort, compiled, startServer, type Server } from './process.js';
import { startEdge, startNginx } from './nginx.js';

/** The servers that are held against each other, each as it would be run. */

/** So many tokens that nobody is refused: the limiter counts as ever. */
export const AMPLE = {
  'api-tokens': 1_000_000,
  'api-refill-seconds': 0.001,
  'download-tokens': 1_000_000,
  'download-refill-seconds': 0.001,
};

/** The proxy as production runs it: every default, metrics on, and limits that refuse nobody. */
export async function startOurs(
  dist: string,
  flags: readonly string[] = [],
  node: readonly string[] = [],
): Promise<Server> {
  const port = await freePort();
  const all = { ...AMPLE, dist, port, 'admin-port': await freePort() };
  const given = Object.entries(all).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return startServer([process.execPath, ...node, compiled('proxy/main.js'), ...given, ...flags], port);
}

/** node:http and nothing else, with finished answers in memory; or with the proxy's way of writing them. */
export async function startRaw(answers: string, ...together: 'together'[]): Promise<Server> {
  const port = await freePort();
  const script = compiled('test/system/bench/servers/raw.js');
  return startServer([process.execPath, script, answers, String(port), ...together], port);
}

/** Express with express.static and express-rate-limit, as their documentation has it. */
export async function startExpress(dist: string): Promise<Server> {
  const port = await freePort();
  const script = compiled('test/system/bench/servers/express.js');
  return startServer(['env', 'NODE_ENV=production', process.execPath, script, dist, String(port)], port);
}

export { startEdge, startNginx };
