/**
 * Load on the proxy while builds alternate between two registers: every body must be whole.
 *   node build/test/system/soak/publish-under-load.js A.sqlite B.sqlite SECONDS FOLDER [PORT]
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { Dice } from '../../../data/sample/dice.js';
import { buildWhole, published } from './kill.js';

const [a, b, seconds, folder, port = '8099'] = process.argv.slice(2);
if (a === undefined || b === undefined || seconds === undefined || folder === undefined) {
  throw new Error('usage: publish-under-load.js A.sqlite B.sqlite SECONDS FOLDER [PORT]');
}
const CLIENTS = 8;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const routes = z.object({ routes: z.array(z.object({ path: z.string(), file: z.string() })) });

/** Files of their own URL: pages, feeds, the description. */
const fixed = new Map<string, string>();

/** `api/v1/group/7.json` -> `/api/v1/group/7`, as the specification has it. */
function urlOf(file: string): string {
  const own = fixed.get(file);
  if (own !== undefined) return own;
  const limit = /^api\/v1\/largest\/(\d+)\.json$/.exec(file)?.[1];
  if (limit !== undefined) return `/api/v1/largest?limit=${limit}`;
  return `/${file.startsWith('api/') ? file.replace(/\.json$/, '') : file}`;
}

const out = join(folder, 'dist');
const paths: Set<string>[] = [];
for (const register of [a, b]) {
  await buildWhole(register, out);
  const manifest: unknown = JSON.parse(readFileSync(join(out, 'snapshot.json'), 'utf8'));
  for (const { path, file } of routes.parse(manifest).routes) fixed.set(file, path);
  paths.push(new Set([...published(out).keys()].map(urlOf)));
}
const [inA = new Set<string>(), inB = new Set<string>()] = paths;
const all = [...new Set([...inA, ...inB])];

const proxy = spawn(
  process.execPath,
  [
    resolve('build/proxy/main.js'),
    '--dist',
    out,
    '--port',
    port,
    '--api-tokens',
    '1000000',
    '--api-refill-seconds',
    '0.001',
    '--download-tokens',
    '1000000',
    '--download-refill-seconds',
    '0.001',
  ],
  { stdio: ['ignore', 'ignore', 'inherit'] },
);
await sleep(1000);

const counts = { ok: 0, absent: 0, torn: 0, wrongly404: 0, serverErrors: 0, other: 0, connectionErrors: 0 };
const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
const latenciesMs: number[] = [];

function get(path: string): Promise<void> {
  return new Promise((done) => {
    const startedAt = performance.now();
    const asked = request({ host: '127.0.0.1', port: Number(port), path, agent }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', () => (counts.connectionErrors += 1));
      answer.on('end', () => {
        latenciesMs.push(performance.now() - startedAt);
        judge(path, answer.statusCode ?? 0, answer.headers, Buffer.concat(chunks));
        done();
      });
    });
    asked.on('error', () => {
      counts.connectionErrors += 1;
      done();
    });
    asked.end();
  });
}

function judge(path: string, status: number, headers: IncomingHttpHeaders, body: Buffer): void {
  if (status === 404) {
    counts[inA.has(path) && inB.has(path) ? 'wrongly404' : 'absent'] += 1;
  } else if (status >= 500) counts.serverErrors += 1;
  else if (status !== 200) counts.other += 1;
  else {
    const digest = createHash('sha256').update(body).digest('hex').slice(0, 32);
    const isJson = headers['content-type']?.startsWith('application/json') === true;
    const whole = headers.etag === `"${digest}"` && (!isJson || parses(body));
    counts[whole ? 'ok' : 'torn'] += 1;
  }
}

function parses(body: Buffer): boolean {
  try {
    JSON.parse(body.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

const until = performance.now() + Number(seconds) * 1000;
async function client(seed: number): Promise<void> {
  for (let asked = 0; performance.now() < until; asked += 1) {
    await get(all[new Dice(seed, 'load', asked).below(all.length)] ?? '/');
  }
}

let builds = 0;
async function maintainer(): Promise<void> {
  for (; performance.now() < until; builds += 1) await buildWhole(String([a, b][builds % 2]), out);
}

await Promise.all([maintainer(), ...Array.from({ length: CLIENTS }, (_, seed) => client(seed + 1))]);
proxy.kill('SIGTERM');
const sorted = latenciesMs.toSorted((x, y) => x - y);
const at = (share: number): string => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1);
say(
  `${builds} builds, ${sorted.length} answers in ${seconds} s; p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`,
);
say(JSON.stringify(counts));
agent.destroy();
if (counts.torn + counts.wrongly404 + counts.serverErrors + counts.other + counts.connectionErrors > 0)
  process.exitCode = 1;
