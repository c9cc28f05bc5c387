import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** The compiled proxy as a process; `npm test` compiles first. */
export const MAIN = fileURLToPath(new URL('../../build/proxy/main.js', import.meta.url));

export interface Process {
  readonly child: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | string | null>;
}

export function start(args: readonly string[], environment: Record<string, string> = {}): Process {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: '/bin', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (data: Buffer) => {
    output.stdout += data.toString('utf8');
  });
  child.stderr.on('data', (data: Buffer) => {
    output.stderr += data.toString('utf8');
  });
  const ended = new Promise<number | string | null>((settle) => {
    child.on('close', (code, signal) => settle(code ?? signal));
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, output, ended };
}

/** Starts on a free port and waits until it says so. */
export async function listening(
  args: readonly string[],
  environment?: Record<string, string>,
): Promise<Process & { port: number }> {
  const started = start(['--port', '0', ...args], environment);
  const port = await new Promise<number>((settle, reject) => {
    started.child.stdout?.on('data', () => {
      const found = /http:\/\/127\.0\.0\.1:(\d+) /.exec(started.output.stdout)?.[1];
      if (found !== undefined) settle(Number(found));
    });
    void started.ended.then((code) => reject(new Error(`ended by ${code}: ${started.output.stderr}`)));
  });
  return { ...started, port };
}
