/**
 * Many fresh starts of the proxy, each warmed up and measured alone: whether some of them are slow for good, as
 * V8 may decide when it first sees a program run.
 *   node build/test/system/bench/starts.js [STARTS] [DIST] [NODE FLAGS...]
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { spread } from './frame/measure.js';
import { digits } from './frame/table.js';
import { wrk, writeTargets } from './load/wrk.js';
import { startOurs } from './servers/contenders.js';
import { cpuSecondsOf } from './servers/process.js';
import { hotPaths } from './hot-paths.js';
import { treeOf } from './trees.js';

const [starts = '100', given, ...node] = process.argv.slice(2);
const CONNECTIONS = 64;
const SECONDS = 1;
/** A start that takes so many times the processor time of the median one is a slow one. */
const SLOW = 1.5;
/** A start that looks slow beside the best is looked at so often before that is believed. */
const LOOKS = 5;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const folder = mkdtempSync(join(tmpdir(), 'bench-starts-'));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const dist = given ?? (await treeOf({ register: undefined, folder, say }));
const targets = join(folder, 'hot.txt');
writeTargets(
  targets,
  hotPaths(dist).map((path) => ({ path })),
);

/** Processor time of a request, since that is the server's own whatever else the machine does; and the rate. */
async function measure(load: Parameters<typeof wrk>[0], pid: number): Promise<[us: number, rate: number]> {
  const before = cpuSecondsOf(pid);
  const { requests, seconds } = await wrk(load);
  return [((cpuSecondsOf(pid) - before) * 1e6) / requests, requests / seconds];
}

const microseconds: number[] = [];
const rates: number[] = [];
let again = 0;
for (let start = 1; start <= Number(starts); start += 1) {
  const { port, pid, stop } = await startOurs(dist, [], node);
  const load = { port, targets, connections: CONNECTIONS, seconds: SECONDS };
  await wrk(load);
  let [time, rate] = await measure(load, pid);
  // A neighbour on the same processor slows it down for a moment, too. A slow state stays.
  for (let look = 2; look <= LOOKS && time > SLOW * Math.min(...microseconds, time); look += 1) {
    again += 1;
    const [nextTime, nextRate] = await measure(load, pid);
    [time, rate] = nextTime < time ? [nextTime, nextRate] : [time, rate];
  }
  microseconds.push(time);
  rates.push(rate);
  await stop();
  say(`start ${start}: ${digits(rate)} req/s, ${digits(time)} us of processor a request`);
}

const { median, min, max } = spread(microseconds);
const slow = microseconds.filter((time) => time > SLOW * median).length;
const rate = spread(rates);
say(
  `${starts} starts: median ${digits(median)} us a request (${digits(min)}–${digits(max)}), ${slow} above ${SLOW} times the median; ${again} looks were repeated`,
);
say(`median ${digits(rate.median)} req/s (${digits(rate.min)}–${digits(rate.max)})`);
for (let low = Math.floor(min / 5) * 5; low <= max; low += 5) {
  const count = microseconds.filter((time) => time >= low && time < low + 5).length;
  say(`${String(low).padStart(4)} to ${low + 5} us: ${'#'.repeat(count)} ${count}`);
}
say(
  `processor: ${/model name\s*: (.*)/.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? 'unknown'}, Node ${process.version}`,
);
