/**
 * How long others wait while many connections pipeline, and read what they get:
 *
 *     node build/test/system/bench/pipelining.js DIST [CONNECTIONS] [REQUESTS] [MAIN]
 *
 * Starts the proxy (MAIN: another build's proxy/main.js), sends REQUESTS at once on each of
 * CONNECTIONS (200 and 1000), three times, and prints the latencies of a client that sends one
 * request after the other meanwhile.
 */
import { spawn } from 'node:child_process';
import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Worker, isMainThread, workerData } from 'node:worker_threads';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';

const REQUEST = 'GET /api/v1 HTTP/1.1\r\nHost: x\r\n\r\n';
const STATUS_LINE = 'HTTP/1.1 ';
const ROUNDS = 3;

/** Counts responses, also those whose status line is in two packets. */
async function burst(port: number, requests: number): Promise<number> {
  return new Promise((settle) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.5' });
    let count = 0;
    let rest = '';
    socket.on('data', (chunk) => {
      const text = rest + chunk.toString('latin1');
      count += text.split(STATUS_LINE).length - 1;
      rest = text.slice(1 - STATUS_LINE.length);
      if (count >= requests) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => settle(count));
    socket.write(REQUEST.repeat(requests));
  });
}

async function latency(port: number, agent: Agent): Promise<number> {
  const startMs = performance.now();
  await new Promise<void>((settle, reject) => {
    const options = { port, host: '127.0.0.1', localAddress: '127.0.0.9', path: '/', agent };
    get(options, (response) => response.resume().on('end', settle)).on('error', reject);
  });
  return performance.now() - startMs;
}

const Job = z.object({ port: z.number(), connections: z.number(), requests: z.number() });

if (isMainThread) {
  const [dist = 'dist', connections = '200', requests = '1000', main] = process.argv.slice(2);
  const program = main ?? fileURLToPath(new URL('../../../proxy/main.js', import.meta.url));
  const args = [program, '--dist', dist, '--port', '0', '--page-tokens', '1000000'];
  const proxy = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise<number>((settle) => {
    proxy.stdout.on('data', (data: Buffer) => {
      const found = /:(\d+) serving/.exec(data.toString())?.[1];
      if (found !== undefined) settle(Number(found));
    });
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const workerData = { port, connections: Number(connections), requests: Number(requests) };
  const worker = new Worker(new URL(import.meta.url), { workerData });
  const done = new AbortController();
  worker.once('exit', () => done.abort());
  const times: number[] = [];
  while (!done.signal.aborted) {
    times.push(await latency(port, agent));
    await pause(5);
  }
  times.sort((a, b) => a - b);
  const at = (share: number): number => Math.round(times[Math.floor(share * (times.length - 1))] ?? 0);
  process.stdout.write(
    `${times.length} requests: median ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms\n`,
  );
  agent.destroy();
  proxy.kill();
} else {
  const { port, connections, requests } = Job.parse(workerData);
  for (let round = 1; round <= ROUNDS; round += 1) {
    const startMs = performance.now();
    const counts = await Promise.all(Array.from({ length: connections }, () => burst(port, requests)));
    const total = counts.reduce((sum, count) => sum + count, 0);
    process.stdout.write(
      `${connections} x ${requests}: ${total} responses in ${Math.round(performance.now() - startMs)} ms\n`,
    );
    await pause(1_000);
  }
}
