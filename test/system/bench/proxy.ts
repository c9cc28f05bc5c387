/** The compiled proxy as a process to be measured, and requests to it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../../proxy/main.js', import.meta.url));

export interface Proxy {
  readonly child: ChildProcess;
  readonly port: number;
  readonly stderr: () => string;
}

export const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Starts it on a free port and waits until it says so; it ends with this process. */
export async function startProxy(flags: readonly string[], node: readonly string[] = []): Promise<Proxy> {
  const child = spawn(process.execPath, [...node, MAIN, '--port', '0', ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  process.on('exit', () => child.kill('SIGKILL'));
  let stderr = '';
  child.stderr.on('data', (data: Buffer) => {
    stderr += data.toString('utf8');
  });
  const port = await new Promise<number>((settle, reject) => {
    child.stdout.on('data', (data: Buffer) => {
      const found = /http:\/\/127\.0\.0\.1:(\d+) /.exec(data.toString('utf8'))?.[1];
      if (found !== undefined) settle(Number(found));
    });
    child.on('exit', (code) => reject(new Error(`the proxy ended with ${code}: ${stderr}`)));
  });
  return { child, port, stderr: () => stderr };
}

/** Resident memory of the process in MiB, now and at its highest. */
export function memoryOf({ child }: Proxy): { now: number; peak: number } {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  const mebibytes = (field: string): number =>
    Math.round(Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024);
  return { now: mebibytes('VmRSS'), peak: mebibytes('VmHWM') };
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

export interface Answer {
  readonly status: number;
  readonly retryAfter: number;
  readonly ms: number;
}

/** One request, and how long its answer took. */
export async function ask(port: number, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  const startedMs = performance.now();
  return new Promise((settle, reject) => {
    const outgoing = request({ agent, port, host: '127.0.0.1', path, headers }, (response) => {
      response.resume().on('end', () => {
        settle({
          status: response.statusCode ?? 0,
          retryAfter: Number(response.headers['retry-after'] ?? 0),
          ms: performance.now() - startedMs,
        });
      });
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

/** How often each status was answered. */
export function tally(answers: readonly Answer[]): string {
  const counts = new Map<number, number>();
  for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${status}: ${count}`).join(', ');
}

/** The value below which so many per cent of the answers' times lie, in ms. */
export function percentile(answers: readonly Answer[], percent: number): string {
  const times = answers.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return (times[Math.min(times.length - 1, Math.floor((times.length * percent) / 100))] ?? 0).toFixed(1);
}
