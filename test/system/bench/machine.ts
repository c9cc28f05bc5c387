/** What figures were measured on. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';

/** The environment to start programs in: an ordinary user's PATH lacks where Debian has some of them. */
export const ENVIRONMENT = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };

/** The first line that a program prints of itself, whatever its exit code. */
function versionOf(name: string, option: string): string {
  const { stdout, stderr } = spawnSync(name, [option], { encoding: 'utf8', env: ENVIRONMENT });
  return /\S.*/.exec(`${stdout}\n${stderr}`)?.[0] ?? '';
}

/** Packages whose speed shows in a figure. */
const PACKAGES = 'express express-rate-limit better-sqlite3 csv-stringify hyparquet-writer @duckdb/node-api';

/** Facts, the name of each first. The bench starts in the project's folder. */
export const machine = (): [name: string, value: string][] => [
  ['Processor', `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores`],
  ['Memory', `${(totalmem() / 1024 ** 3).toFixed(1)} GiB`],
  ['Kernel', `${process.platform} ${release()} ${process.arch}`],
  ['Node', process.version],
  ...PACKAGES.split(' ').map((name): [string, string] => {
    const file = `node_modules/${name}/package.json`;
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    return [name, /"version":\s*"([^"]+)"/.exec(text)?.[1] ?? 'not there'];
  }),
  ['wrk', versionOf('wrk', '-v')],
  ['nginx', versionOf('nginx', '-v')],
  ['sqlite3', versionOf('sqlite3', '-version')],
];
