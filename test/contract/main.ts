/**
 * Runs the contract suite against servers of one tree, and prints how each differs:
 *
 *     node build/test/contract/main.js DIST NAME=URL...
 *
 * The servers must believe X-Forwarded-For from here, or their limits will refuse most of it.
 */
import { contractCases, sender } from './cases.js';

const [dist = 'dist', ...servers] = process.argv.slice(2);
const cases = contractCases(dist);
for (const server of servers) {
  const [name = '', base = ''] = server.split('=');
  const send = sender(base);
  let passed = 0;
  for (const { name: title, run } of cases) {
    // Sent by the same client, one after the other: none depends on another.
    const found = await run(send).catch((error: unknown) => [String(error)]);
    if (found.length === 0) passed += 1;
    else process.stdout.write(`${name}: ${title}\n${found.map((line) => `    ${line}\n`).join('')}`);
  }
  process.stdout.write(`${name}: ${passed} of ${cases.length} as in the proxy\n`);
}
