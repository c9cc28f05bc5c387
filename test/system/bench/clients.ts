/**
 * Many distinct client addresses through the limiter of a real proxy, by X-Forwarded-For: the memory of the
 * process before, at its peak and after. Pipelined on a few connections; a million take a few minutes.
 *   node build/test/system/bench/clients.js DIST [CLIENTS] [PROXY FLAGS...]
 */
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { memoryOf, say, startProxy } from './proxy.js';

const [dist, clients = '1000000', ...flags] = process.argv.slice(2);
if (dist === undefined) throw new Error('usage: clients.js DIST [CLIENTS] [PROXY FLAGS...]');
const CONNECTIONS = 4;
const PIPELINED = 32;

/** Half of them IPv4, half /56 networks of IPv6; none twice. */
function addressOf(index: number): string {
  return index % 2 === 0
    ? `${11 + (index >>> 24)}.${(index >>> 16) & 255}.${(index >>> 8) & 255}.${index & 255}`
    : `2001:db8:${(index >>> 8).toString(16)}:${((index & 255) << 8).toString(16)}::1`;
}

const proxy = await startProxy(['--dist', dist, '--trust-proxy', 'loopback', ...flags]);
const statuses = new Map<string, number>();
let next = 0;

/** Sends the requests from `next` on, a few at a time, until all are answered. */
async function run(total: number): Promise<void> {
  await new Promise<void>((settle, reject) => {
    const socket = connect(proxy.port, '127.0.0.1');
    let open = 0;
    let rest = '';
    const send = (): void => {
      let text = '';
      for (; open < PIPELINED && next < total; open += 1, next += 1) {
        text += `HEAD /api/v1 HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${addressOf(next)}\r\n\r\n`;
      }
      if (text !== '') socket.write(text);
      else if (open === 0) socket.end();
    };
    socket.on('connect', send);
    socket.on('data', (data: Buffer) => {
      const answers = (rest + data.toString('latin1')).split('\r\n\r\n');
      rest = answers.pop() ?? '';
      for (const answer of answers) {
        const status = answer.slice(9, 12);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
      open -= answers.length;
      if (open < PIPELINED / 2) send();
    });
    socket.on('error', reject);
    socket.on('close', () => settle());
  });
}

async function phase(name: string, total: number): Promise<void> {
  statuses.clear();
  const startedMs = performance.now();
  const before = next;
  await Promise.all(Array.from({ length: CONNECTIONS }, () => run(total)));
  const seconds = (performance.now() - startedMs) / 1000;
  const answered = [...statuses].map(([status, count]) => `${status}: ${count}`).join(', ');
  const { now, peak } = memoryOf(proxy);
  const rate = Math.round((total - before) / seconds);
  say(`${name}: ${answered}; ${rate} requests/s; resident ${now} MiB, peak ${peak} MiB`);
}

say(`started: resident ${memoryOf(proxy).now} MiB`);
await phase('warm-up, 20,000 clients', 20_000);
await phase(`${clients} clients`, 20_000 + Number(clients));
await phase('as many others', 20_000 + 2 * Number(clients));
await pause(10_000);
const { now, peak } = memoryOf(proxy);
say(`10 s idle: resident ${now} MiB, peak ${peak} MiB`);
proxy.child.kill('SIGTERM');
