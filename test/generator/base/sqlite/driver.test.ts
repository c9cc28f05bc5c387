import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { openDatabase } from '../../../../generator/base/sqlite/sqlite.js';
import { PROJECT, temporary } from '../../../support/folder.js';

const path = temporary();
const NODE = Number.parseInt(process.versions.node, 10);

describe('the SQLite driver', () => {
  it('of Node 20 is installed on Node 20 alone', () => {
    const installed = readdirSync(join(PROJECT, 'node_modules')).includes('better-sqlite3-node20');
    expect(installed).toBe(NODE < 22);
  });

  it('of Node 20 is never that of newer ones, which crashes there, nor one without its binary', () => {
    const folder = path('linked');
    const installed = join(folder, 'node_modules/better-sqlite3');
    mkdirSync(installed, { recursive: true });
    copyFileSync(join(PROJECT, 'generator/base/sqlite/node20/index.cjs'), join(folder, 'index.cjs'));
    const load = (version: string, opened = ''): string => {
      const driver = `module.exports = class Driver { constructor() { ${opened} } close() {} }`;
      writeFileSync(join(installed, 'index.js'), driver);
      writeFileSync(join(installed, 'package.json'), JSON.stringify({ version, main: 'index.js' }));
      const args = ['-p', 'require("./index.cjs").name'];
      const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
      return stdout + stderr;
    };
    expect(load('12.11.1')).toBe('Driver\n');
    expect(load('13.2.0')).toContain('expected better-sqlite3 12');
    expect(load('12.11.1', 'throw new Error("no binary");')).toContain('Error: no binary');
  });

  it('gives an aggregate the rows in the order of its subquery', () => {
    const database = openDatabase(':memory:');
    database.exec(`
      CREATE TABLE entries (id, position);
      WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 4999)
        INSERT INTO entries SELECT i % 7, i * 2791 % 5003 FROM n`);
    const sql = `SELECT json_group_array(position) FROM (SELECT * FROM entries ORDER BY id, position) GROUP BY id`;
    const lists = z.array(z.string()).parse(database.prepare<[]>(sql).pluck().all());
    database.close();
    const positions = lists.map((list) => z.array(z.int()).parse(JSON.parse(list)));
    expect(positions).toHaveLength(7);
    expect(positions).toEqual(positions.map((list) => list.toSorted((a, b) => a - b)));
  });

  it('of Node 22 and newer is not compiled by npm ci', () => {
    // npm compiles whatever has a binding.gyp unless it reads `gypfile: false`, which the package says and npm does
    // not copy into the lock file. "npm install" drops the line; put it back.
    const lock: unknown = JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8'));
    expect(lock).toMatchObject({ packages: { 'node_modules/better-sqlite3': { gypfile: false } } });
  });

  it.runIf(NODE < 22)('says what to do where npm could not install it', () => {
    const hooks = `data:text/javascript,export function resolve(name, context, next) {
      if (name === 'better-sqlite3-node20') throw new Error('not installed');
      return next(name, context);
    }`;
    const register = `import { register } from 'node:module'; register(${JSON.stringify(hooks)});`;
    const preload = ['--import', `data:text/javascript,${encodeURIComponent(register)}`];
    const { status, stderr } = spawnSync(
      process.execPath,
      [...preload, 'build/generator/cli.js', 'sample', '--out', path('sample.sqlite'), '--quiet'],
      { cwd: PROJECT, encoding: 'utf8' },
    );
    expect(stderr).toMatch(
      /^error: the SQLite driver for Node 20\.\S+ is not installed: run "npm ci" again .*Node 22 or newer.*\n$/,
    );
    expect(status).toBe(3);
  });
});
