/** The real proxy, as a process. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { PROJECT } from './folder.js';

export interface RunningProxy {
  readonly base: string;
  readonly get: (path: string, init?: RequestInit) => Promise<Response>;
  /** Asks it to stop; its exit code. */
  readonly stop: () => Promise<number | null>;
}

/** Starts the proxy on a free port, with a limit that no test meets unless its own options say so. */
export function startProxy(dist: string, options: readonly string[] = []): Promise<RunningProxy> {
  const child = spawn(
    process.execPath,
    [
      join(PROJECT, 'build/proxy/main.js'),
      '--dist',
      dist,
      '--port',
      '0',
      '--api-tokens',
      '1000000',
      '--download-tokens',
      '1000000',
      ...options,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const ended = new Promise<number | null>((settle) => child.once('close', settle));
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  return new Promise((settle, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const base = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
      if (base === undefined) return;
      settle({
        base,
        get: (path, init) => fetch(base + path, init),
        stop: () => {
          child.kill('SIGTERM');
          return ended;
        },
      });
    });
    void ended.then((code) => reject(new Error(`the proxy ended with ${code}: ${said}`)));
  });
}
