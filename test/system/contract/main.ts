/**
 * Runs the contract suite against servers of one tree, and prints how each differs, apart from the
 * differences that edge servers are known to have:
 *
 *     node build/test/system/contract/main.js DIST NAME=URL...
 *
 * The servers must believe X-Forwarded-For from here, or their limits will refuse most of it.
 */
import { contractCases, sender } from './cases.js';
import { DIFFERENCES, INSTANCE } from './differences.js';

const [dist = 'dist', ...servers] = process.argv.slice(2);
const cases = contractCases(dist);
for (const server of servers) {
  const [name = '', base = ''] = server.split('=');
  const send = sender(base);
  const counts = { same: 0, instance: 0, known: 0, unknown: 0 };
  for (const { name: title, run } of cases) {
    // Sent by the same client, one after the other: none depends on another.
    const found = await run(send).catch((error: unknown) => [String(error)]);
    const differences = found.map((line) =>
      DIFFERENCES.find(({ where, what }) => where.test(title) && what.test(line)),
    );
    const unknown = found.filter((_, at) => differences[at] === undefined);
    if (found.length === 0) counts.same += 1;
    else if (unknown.length > 0) counts.unknown += 1;
    else if (differences.every((each) => each === INSTANCE)) counts.instance += 1;
    else counts.known += 1;
    if (unknown.length > 0)
      process.stdout.write(`${name}: ${title}\n${unknown.map((line) => `    ${line}\n`).join('')}`);
  }
  process.stdout.write(
    `${name}: ${cases.length} cases: ${counts.same} as in the proxy, ${counts.instance} but for \`instance\`, ` +
      `${counts.known} with other known differences, ${counts.unknown} with others\n`,
  );
  if (counts.unknown > 0) process.exitCode = 1;
}
