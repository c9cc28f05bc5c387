/**
 * What `npm start` and `npm run proxy` run, on any platform: the sample register, if there is none,
 * its tree, and the proxy, whose host and port the tree names; or, as `start.js proxy`, the proxy
 * alone. The shell between npm and this process passes no signals on, so when it ends, this process does.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** How often this process looks whether the shell has ended: every 500 ms. */
const SHELL_INTERVAL_MS = 500;

/** The base URL of a proxy with these options. */
function baseOf(args: readonly string[]): string {
  const options = { host: { type: 'string' }, port: { type: 'string' } } as const;
  const { values } = parseArgs({ args: [...args], options, strict: false });
  const host = String(values.host ?? (process.env['PROXY_HOST'] || '127.0.0.1'));
  const port = String(values.port ?? (process.env['PROXY_PORT'] || '8080'));
  // 0.0.0.0 and :: stand for all addresses of the machine.
  const named = /^[0.:]+$/.test(host) ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${named}:${port}`;
}

const args = process.argv.slice(2);
const isProxy = args[0] === 'proxy';
const options = isProxy ? args.slice(1) : args;
const steps = [
  ...(isProxy
    ? []
    : [
        ['cli.js', 'sample', '--if-missing'],
        ['cli.js', 'build', '--base-url', baseOf(options)],
      ]),
  ['../proxy/main.js', ...options],
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
  // This process ends the way that program did.
  if (typeof result === 'string') process.kill(process.pid, result);
  else process.exitCode = result;
  break;
}
