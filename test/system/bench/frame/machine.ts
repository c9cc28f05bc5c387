import { openDatabase } from '../../../../generator/sqlite/index.js';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join, resolve } from 'node:path';

import { versionOf } from './programs.js';

/** What figures were measured on. */

/** Packages whose speed shows in a figure. */
const PACKAGES = [
  'express',
  'express-rate-limit',
  'router',
  'better-sqlite3',
  'csv-stringify',
  'hyparquet-writer',
  'feed',
];
const PROGRAMS = ['wrk', 'nginx', 'sqlite3'];

const GIBIBYTE = 1024 ** 3;

/** Facts, the name of each first. Both the bench and the tests start in the project's folder. */
export function machine(folder: string): [name: string, value: string][] {
  const processors = cpus();
  return [
    ['Processor', `${processors[0]?.model ?? 'unknown'}, ${processors.length} cores`],
    ['Memory', `${(totalmem() / GIBIBYTE).toFixed(1)} GiB`],
    ['Kernel', `${process.platform} ${release()} ${process.arch}`],
    ['File system', fileSystemOf(folder)],
    ['Node', `${process.version} (V8 ${process.versions.v8}, OpenSSL ${process.versions.openssl})`],
    ['SQLite', sqliteVersion()],
    ...PACKAGES.map((name): [string, string] => [name, packageVersion(name)]),
    ...PROGRAMS.map((name): [string, string] => [name, versionOf(name) ?? 'not there']),
  ];
}

/** The mount whose point is the longest beginning of the path; /proc/mounts is Linux's alone. */
function fileSystemOf(folder: string): string {
  const path = resolve(folder);
  let found = { point: '', type: 'unknown' };
  for (const line of readText('/proc/mounts').split('\n')) {
    const [, point = '', type = ''] = line.split(' ');
    const isAbove = path === point || path.startsWith(point.endsWith('/') ? point : `${point}/`);
    if (isAbove && point.length >= found.point.length) found = { point, type };
  }
  return found.type;
}

function sqliteVersion(): string {
  const database = openDatabase(':memory:');
  const version = database.prepare('SELECT sqlite_version()').pluck().get();
  database.close();
  return String(version);
}

function packageVersion(name: string): string {
  const text = readText(join('node_modules', name, 'package.json'));
  return /"version":\s*"([^"]+)"/.exec(text)?.[1] ?? 'not there';
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
