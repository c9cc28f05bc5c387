/** What figures were measured on, and the programs that the bench uses and doesn't bring along. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';

import type { Suite } from './suite.js';

/** How each prints its version (whatever the exit code), and what Debian has it in. */
const PROGRAMS: Readonly<Record<string, readonly [option: string, debian: string]>> = {
  wrk: ['-v', 'wrk'],
  nginx: ['-v', 'nginx-light'],
  taskset: ['-V', 'util-linux'],
  tar: ['--version', 'tar'],
  time: ['--version', 'time'],
  sqlite3: ['-version', 'sqlite3'],
};

/** The environment to start programs in: an ordinary user's PATH lacks where Debian has some of them. */
export const ENVIRONMENT = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };

/** The first line that a program prints of itself; undefined if it isn't there. */
function versionOf(name: string): string | undefined {
  const options = [PROGRAMS[name]?.[0] ?? '--version'];
  const { error, stdout, stderr } = spawnSync(name, options, { encoding: 'utf8', env: ENVIRONMENT });
  return error === undefined ? /\S.*/.exec(`${stdout}\n${stderr}`)?.[0] : undefined;
}

/** A line for each of these programs and packages that is missing. */
export const missingPrograms = ({ name: suite, programs, packages = [] }: Suite): string[] => [
  ...programs
    .filter((name) => versionOf(name) === undefined)
    .map((name) => `suite "${suite}" needs ${name}: apt-get install ${PROGRAMS[name]?.[1] ?? name}`),
  ...packages
    .filter((name) => !existsSync(packageFile(name)))
    .map((name) => `suite "${suite}" needs ${name}: npm install --no-save ${name}`),
];

/** The bench starts in the project's folder. */
const packageFile = (name: string): string => `node_modules/${name}/package.json`;

/** Packages whose speed shows in a figure. */
const PACKAGES = 'express express-rate-limit better-sqlite3 csv-stringify hyparquet-writer @duckdb/node-api';

/** Facts, the name of each first. */
export const machine = (): [name: string, value: string][] => [
  ['Processor', `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores`],
  ['Memory', `${(totalmem() / 1024 ** 3).toFixed(1)} GiB`],
  ['Kernel', `${process.platform} ${release()} ${process.arch}`],
  ['Node', process.version],
  ...PACKAGES.split(' ').map((name): [string, string] => {
    const text = existsSync(packageFile(name)) ? readFileSync(packageFile(name), 'utf8') : '';
    return [name, /"version":\s*"([^"]+)"/.exec(text)?.[1] ?? 'not there'];
  }),
  ...['wrk', 'nginx', 'sqlite3'].map((name): [string, string] => [name, versionOf(name) ?? 'not there']),
];
