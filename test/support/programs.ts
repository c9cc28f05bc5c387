/** Programs of the machine that some tests use. Where one is missing, those tests say so and are left out. */
import { spawnSync } from 'node:child_process';

/** How to ask for a program, and the Debian package that has it. */
const PROGRAMS = {
  chromium: { command: ['/usr/bin/chromium', '--version'], package: 'chromium' },
  curl: { command: ['curl', '--version'], package: 'curl' },
  feedparser: { command: ['/usr/bin/python3', '-c', 'import feedparser'], package: 'python3-feedparser' },
  // Asked for nothing it says how it is used, and ends with an error all the same.
  jing: { command: ['sh', '-c', 'command -v jing'], package: 'jing' },
  python3: { command: ['python3', '--version'], package: 'python3' },
  xmllint: { command: ['xmllint', '--version'], package: 'libxml2-utils' },
} as const;

/** Whether all of these are there; if not, what is left out and why goes to standard error. */
export function has(tests: string, ...programs: readonly (keyof typeof PROGRAMS)[]): boolean {
  const missing = programs.filter((program) => {
    const [name, ...options] = PROGRAMS[program].command;
    return spawnSync(name, options, { stdio: 'ignore' }).status !== 0;
  });
  if (missing.length === 0) return true;
  const packages = missing.map((program) => PROGRAMS[program].package).join(' ');
  process.stderr.write(`SKIPPED ${tests}: no ${missing.join(', ')} (Debian: apt-get install ${packages})\n`);
  return false;
}
