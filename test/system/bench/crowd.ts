/**
 * Normal traffic beside a crowd that only holds connections: idle ones that have had an answer, and slow-loris
 * clients that send a byte of a header each second, and come back when they are cut.
 *   node build/test/system/bench/crowd.js [IDLE] [LORIS] [SECONDS]
 * Needs `ulimit -n` of some more than the crowd.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { makeTree } from '../soak/tree.js';
import { ask, memoryOf, percentile, say, startProxy, tally, type Answer } from './proxy.js';

const [idle = '5000', loris = '200', seconds = '20', port] = process.argv.slice(2);

/** Normal clients, and how often each asks. */
const CLIENTS = 16;
const THINK_MS = 20;

/** The crowd, in a process of its own, so that it does not slow down those who measure. */
async function crowd(target: number): Promise<void> {
  let cut = 0;
  const isOpen = new Set<Socket>();
  const open = (greeting: string): Socket => {
    const socket = connect(target, '127.0.0.1', () => socket.write(greeting));
    isOpen.add(socket);
    socket.on('error', () => undefined).on('close', () => isOpen.delete(socket));
    return socket;
  };
  const drip = (): void => {
    const socket = open('GET /api/v1 HTTP/1.1\r\nHost: x\r\nX-Drip: ');
    const timer = setInterval(() => socket.write('x'), 1_000);
    socket.resume().on('close', () => {
      clearInterval(timer);
      cut += 1;
      setTimeout(drip, 10);
    });
  };
  for (let count = 0; count < Number(idle); count += 1) {
    const socket = open('GET /api/v1 HTTP/1.1\r\nHost: x\r\n\r\n').resume();
    if (count % 100 === 0) await new Promise((settle) => socket.once('data', settle));
  }
  for (let count = 0; count < Number(loris); count += 1) drip();
  await pause(1_000);
  process.send?.('here');
  process.on('message', () =>
    process.send?.(`${isOpen.size} connections open, ${cut} slow ones cut meanwhile`),
  );
}

async function normalTraffic(target: number): Promise<Answer[]> {
  const answers: Answer[] = [];
  const untilMs = performance.now() + Number(seconds) * 1000;
  const client = async (index: number): Promise<void> => {
    const path = index % 2 === 0 ? '/api/v1/group/7' : '/api/v1/group/8';
    while (performance.now() < untilMs) {
      answers.push(await ask(target, path));
      await pause(THINK_MS);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index)));
  return answers;
}

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'crowd-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const { dist } = makeTree(folder);
  const proxy = await startProxy([
    '--dist',
    dist,
    '--api-tokens',
    '1000000',
    '--api-refill-seconds',
    '0.001',
  ]);
  const report = async (when: string): Promise<void> => {
    const answers = await normalTraffic(proxy.port);
    say(
      `${when}: ${answers.length} requests (${tally(answers)}), p50 ${percentile(answers, 50)} ms, ` +
        `p99 ${percentile(answers, 99)} ms, slowest ${percentile(answers, 100)} ms; memory ${memoryOf(proxy).now} MiB`,
    );
  };
  await report('warming up');
  await report('alone');
  const others = fork(fileURLToPath(import.meta.url), [idle, loris, seconds, String(proxy.port)]);
  process.on('exit', () => others.kill('SIGKILL'));
  await new Promise((settle) => others.once('message', settle));
  await report(`beside ${idle} idle and ${loris} slow`);
  const said = new Promise((settle) => others.once('message', settle));
  others.send('how many');
  say(`the crowd: ${String(await said)}`);
  others.kill('SIGKILL');
  await pause(2_000);
  await report('alone again');
  proxy.child.kill('SIGTERM');
}

if (port === undefined) await measure();
else await crowd(Number(port));
