/**
 * On the real clock: of a burst of 200 requests 60 pass; then, waiting exactly Retry-After each time, every
 * request passes. 200 rounds take about 200 s.
 *   node build/test/system/bench/retry-after.js DIST [ROUNDS] [PROXY FLAGS...]
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ask, say, startProxy, tally } from './proxy.js';

const [dist, rounds = '200', ...flags] = process.argv.slice(2);
if (dist === undefined) throw new Error('usage: retry-after.js DIST [ROUNDS] [PROXY FLAGS...]');
const PATH = '/api/v1';

const { port, child } = await startProxy(['--dist', dist, ...flags]);
const burst = await Promise.all(Array.from({ length: 200 }, () => ask(port, PATH)));
say(`burst of 200: ${tally(burst)}`);

const refusals: number[] = [];
let failed = 0;
for (let round = 0; round < Number(rounds); round += 1) {
  // The bucket is emptied before each wait, so that only the token waited for is there.
  let answer = await ask(port, PATH);
  while (answer.status === 200) answer = await ask(port, PATH);
  refusals.push(answer.retryAfter);
  await pause(answer.retryAfter * 1000);
  if ((await ask(port, PATH)).status !== 200) failed += 1;
}
say(
  `${refusals.length} waits of exactly Retry-After (${Math.min(...refusals)} to ${Math.max(...refusals)} s): ${failed} refused afterwards`,
);
child.kill('SIGTERM');
