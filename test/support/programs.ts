/** Programs of the machine that some tests use. Tests whose program is missing are left out. */
import { spawnSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';

/** The engine of Chromium without its windows and tabs, which take as much time as the pages. */
export const CHROMIUM = '/usr/bin/chromium-headless-shell';

/** How to ask for a program, and the Debian package that has it. */
const PROGRAMS = {
  chromium: { command: [CHROMIUM, '--version'], package: 'chromium-headless-shell' },
  curl: { command: ['curl', '--version'], package: 'curl' },
  feedparser: { command: ['/usr/bin/python3', '-c', 'import feedparser'], package: 'python3-feedparser' },
  // Asked for nothing it says how it is used, and ends with an error all the same.
  jing: { command: ['sh', '-c', 'command -v jing'], package: 'jing' },
  jq: { command: ['jq', '--version'], package: 'jq' },
  logrotate: { command: ['sh', '-c', 'PATH=$PATH:/usr/sbin; command -v logrotate'], package: 'logrotate' },
  minisign: { command: ['minisign', '-v'], package: 'minisign' },
  nginx: { command: ['nginx', '-v'], package: 'nginx-light' },
  openssl: { command: ['openssl', 'version'], package: 'openssl' },
  promtool: { command: ['promtool', '--version'], package: 'prometheus' },
  python3: { command: ['python3', '--version'], package: 'python3' },
  rclone: { command: ['rclone', 'version'], package: 'rclone' },
  rsync: { command: ['rsync', '--version'], package: 'rsync' },
  sqlite3: { command: ['sh', '-c', 'sqlite3 --version && flock --version'], package: 'sqlite3' },
  systemd: { command: ['systemd-socket-activate', '--version'], package: 'systemd' },
  varnish: { command: ['varnishd', '-V'], package: 'varnish' },
  xmllint: { command: ['xmllint', '--version'], package: 'libxml2-utils' },
} as const;

/** Notes tests that are left out; the end of the run names them (see setup.ts). */
export function leaveOut(tests: string, why: string): void {
  const file = process.env['TEST_LEFT_OUT'];
  if (file !== undefined) appendFileSync(file, `${tests}: ${why}\n`);
}

type Program = keyof typeof PROGRAMS;

/** Whether all of these programs are installed; otherwise the tests are noted as left out. */
export function has(tests: string, first: Program, ...others: readonly Program[]): boolean {
  const missing = [first, ...others].filter((program) => {
    const [name, ...options] = PROGRAMS[program].command;
    return spawnSync(name, options, { stdio: 'ignore' }).status !== 0;
  });
  if (missing.length === 0) return true;
  const packages = missing.map((program) => PROGRAMS[program].package).join(' ');
  leaveOut(tests, `no ${missing.join(', ')} (Debian: apt-get install ${packages})`);
  return false;
}
