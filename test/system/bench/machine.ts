/** What figures were measured on, and the programs that the bench uses and doesn't bring along. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { openDatabase } from '../../../generator/base/sqlite/sqlite.js';

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

/** The first line that a program prints; undefined if it isn't there. */
function said(name: string, ...args: string[]): string | undefined {
  const { error, stdout, stderr } = spawnSync(name, args, { encoding: 'utf8', env: ENVIRONMENT });
  return error === undefined ? /\S.*/.exec(`${stdout}\n${stderr}`)?.[0] : undefined;
}

const versionOf = (name: string): string | undefined =>
  said(name, PROGRAMS[name]?.[0] ?? '--version')?.replace(/ Copyright.*/, '');

/** A line for each of these programs that is missing. */
export const missingPrograms = (names: readonly string[], suite: string): string[] =>
  names
    .filter((name) => versionOf(name) === undefined)
    .map((name) => `suite "${suite}" needs ${name}: apt-get install ${PROGRAMS[name]?.[1] ?? name}`);

/** Packages whose speed shows in a figure. */
const PACKAGES = 'express express-rate-limit router better-sqlite3 csv-stringify hyparquet-writer feed';

function packageVersion(name: string): string {
  const file = `node_modules/${name}/package.json`;
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return /"version":\s*"([^"]+)"/.exec(text)?.[1] ?? 'not there';
}

/** Facts, the name of each first. The bench starts in the project's folder. */
export function machine(folder: string): [name: string, value: string][] {
  const processors = cpus();
  const database = openDatabase(':memory:');
  const sqlite = String(database.prepare('SELECT sqlite_version()').pluck().get());
  database.close();
  return [
    ['Processor', `${processors[0]?.model ?? 'unknown'}, ${processors.length} cores`],
    ['Memory', `${(totalmem() / 1024 ** 3).toFixed(1)} GiB`],
    ['Kernel', `${process.platform} ${release()} ${process.arch}`],
    ['File system', said('stat', '-f', '-c', '%T', folder) ?? 'unknown'],
    ['Node', `${process.version} (V8 ${process.versions.v8}, OpenSSL ${process.versions.openssl})`],
    ['SQLite', sqlite],
    ...PACKAGES.split(' ').map((name): [string, string] => [name, packageVersion(name)]),
    ...['wrk', 'nginx', 'sqlite3'].map((name): [string, string] => [name, versionOf(name) ?? 'not there']),
  ];
}
