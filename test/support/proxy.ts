/** The real proxy, compiled, as a process. */
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { PROJECT } from './project.js';

export const MAIN = join(PROJECT, 'build/proxy/main.js');
/** As in snapshot.json. */
type Limits = Readonly<
  Partial<Record<'api' | 'download' | 'page', { readonly tokens: number; readonly refill_seconds?: number }>>
>;

/**
 * The environment in which a proxy reads other limits in snapshot.json than are there: it has no
 * option for that, and the tree stays as it was built.
 */
export function limitedTo(limits: Limits): { readonly NODE_OPTIONS: string } {
  const code = `const { parse } = JSON;
    JSON.parse = (...args) => {
      const value = parse(...args);
      const buckets = value?.routes === undefined ? [] : Object.entries(${JSON.stringify(limits)});
      for (const [bucket, limit] of buckets) Object.assign(value.limits[bucket], limit);
      return value;
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}

const ample = { tokens: 1_000_000 };
/** Limits that no test reaches. */
export const UNLIMITED: Limits = { api: ample, download: ample, page: ample };

export interface ProxyProcess {
  readonly child: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | string | null>;
}

export function spawnProxy(args: readonly string[], environment: NodeJS.ProcessEnv = {}): ProxyProcess {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: '/bin', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const ended = new Promise<number | string | null>((settle) => {
    child.on('close', (code, signal) => settle(code ?? signal));
  });
  return { child, output, ended };
}

/** The port of a proxy, once it says that it listens. */
export function portOf({ child, output, ended }: ProxyProcess): Promise<number> {
  return new Promise((settle, reject) => {
    child.stdout?.on('data', () => {
      const found = /http:\/\/127\.0\.0\.1:(\d+) /.exec(output.stdout)?.[1];
      if (found !== undefined) settle(Number(found));
    });
    void ended.then((code) => reject(new Error(`the proxy ended with ${code}: ${output.stderr}`)));
  });
}

/** The base URL of its port for operations. */
export const adminOf = ({ output }: ProxyProcess) => /operations on (\S+):/.exec(output.stderr)?.[1] ?? '';

export interface RunningProxy extends ProxyProcess {
  readonly port: number;
  readonly base: string;
  readonly get: (path: string, init?: RequestInit) => Promise<Response>;
  /** Asks it to stop; its exit code. */
  readonly stop: () => Promise<number | string | null>;
}

/**
 * Starts the proxy on a free port.
 *
 * @param limits other ones than those that no test reaches; none for those of the tree
 */
export async function startProxy(
  dist: string,
  options: readonly string[] = [],
  { limits = UNLIMITED }: { readonly limits?: Limits } = {},
): Promise<RunningProxy> {
  const started = spawnProxy(['--dist', dist, '--port', '0', ...options], limitedTo(limits));
  const port = await portOf(started);
  const base = `http://127.0.0.1:${port}`;
  return {
    ...started,
    port,
    base,
    get: (path, init) => fetch(base + path, init),
    stop: () => {
      started.child.kill('SIGTERM');
      return started.ended;
    },
  };
}
