/**
 * What `npm start` and `npm run proxy` run, on any platform: the sample register, if there is none,
 * and its tree, for the port of PROXY_PORT, 8080 by default; or, as `start.js proxy`, the proxy. The
 * shell between npm and this process passes no signals on, so its end counts as one.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** How often the shell is looked for: every 500 ms. */
const SHELL_INTERVAL_MS = 500;

const [, , program, ...options] = process.argv;
const port = process.env['PROXY_PORT'] || '8080';
const steps =
  program === 'proxy'
    ? [['../proxy/main.js', ...options]]
    : [
        ['cli.js', 'sample', '--if-missing'],
        ['cli.js', 'build', '--base-url', `http://127.0.0.1:${port}`],
      ];

/** Runs a program until it ends, and passes signals on. @returns its exit code, or the signal that ended it */
function run([file = '', ...args]: readonly string[]): Promise<number | NodeJS.Signals> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(file, import.meta.url)), ...args], {
    stdio: 'inherit',
  });
  const pass = (signal: NodeJS.Signals): void => {
    // Ctrl-C reaches all programs of a terminal.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, pass);
  const shell = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(watch);
    child.kill('SIGTERM');
  }, SHELL_INTERVAL_MS);
  return new Promise((settle, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearInterval(watch);
      for (const each of SIGNALS) process.off(each, pass);
      settle(code ?? signal ?? 0);
    });
  });
}

for (const step of steps) {
  const result = await run(step);
  if (result === 0) continue;
  // Ended as its last program was.
  if (typeof result === 'string') process.kill(process.pid, result);
  else process.exitCode = result;
  break;
}
