/** Programs that the tests of deploy/ run while this process serves them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { PROJECT } from '../support/folder.js';
import { listenOn } from '../support/ports.js';

export const DEPLOY = join(PROJECT, 'deploy');

export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

export const DONE: Ended = { code: 0, output: '' };

/** Runs a program to its end, with no environment but PATH and what is given. */
export function run(
  command: readonly [string, ...string[]],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const [program, ...args] = command;
  const path = `${process.env['PATH'] ?? ''}:/usr/sbin`;
  const child = spawn(program, args, { env: { PATH: path, ...environment } });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((settle, reject) => {
    child.on('error', reject);
    child.on('close', (code) => settle({ code, output }));
  });
}

/** Has another process hold a lock until the end of the test. */
export async function holding(lock: string): Promise<void> {
  const holder = spawn('flock', [lock, 'sh', '-c', 'echo held; exec sleep 600']);
  onTestFinished(() => void holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
}

export interface Received {
  readonly request: string;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
  /** When, in milliseconds, as performance.now() says. */
  readonly at: number;
}

/**
 * A server on loopback that keeps what it receives.
 * @param content of the responses to GET requests, by path
 * @param sent headers of these responses
 */
export async function record(
  content: () => Readonly<Record<string, string>> = () => ({}),
  sent: Readonly<Record<string, string>> = {},
) {
  /** The status is that of the responses from now on. */
  const recorder = { base: '', received: new Array<Received>(), status: 200 };
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      if (method === 'GET') {
        const found = content()[url];
        response.writeHead(found === undefined ? 404 : 200, sent).end(found);
        return;
      }
      recorder.received.push({ request: `${method} ${url}`, headers, body, at: performance.now() });
      response.writeHead(recorder.status).end('{}');
    });
  });
  recorder.base = `http://127.0.0.1:${await listenOn(server)}`;
  return recorder;
}
