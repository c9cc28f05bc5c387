/**
 * Runs the contract suite against servers of one tree, and prints how each differs, apart from the
 * differences that edge servers are known to have:
 *
 *     node build/test/contract/main.js DIST NAME=URL...
 *
 * The servers must believe X-Forwarded-For from here, or their limits will refuse most of it.
 */
import { contractCases, sender } from './cases.js';
import { DIFFERENCES } from './differences.js';

const [dist = 'dist', ...servers] = process.argv.slice(2);
const cases = contractCases(dist);
for (const server of servers) {
  const [name = '', base = ''] = server.split('=');
  const send = sender(base);
  let [same, known] = [0, 0];
  for (const { name: title, run } of cases) {
    // Sent by the same client, one after the other: none depends on another.
    const found = await run(send).catch((error: unknown) => [String(error)]);
    const isKnown = (line: string): boolean =>
      DIFFERENCES.some(({ where, what }) => where.test(title) && what.test(line));
    const unknown = found.filter((line) => !isKnown(line));
    if (found.length === 0) same += 1;
    else if (unknown.length === 0) known += 1;
    else process.stdout.write(`${name}: ${title}\n${unknown.map((line) => `    ${line}\n`).join('')}`);
  }
  const other = cases.length - same - known;
  process.stdout.write(
    `${name}: ${cases.length} cases: ${same} as in the proxy, ${known} with known differences, ${other} with others\n`,
  );
  if (other > 0) process.exitCode = 1;
}
