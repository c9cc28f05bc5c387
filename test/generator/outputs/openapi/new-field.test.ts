/** A new field in a resource is all it takes: everything that is said of it follows. */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { OPERATOR } from '../../../support/build.js';
import { PROJECT, temporary } from '../../../support/folder.js';
import { changeRegister, writeRegister } from '../../../support/register.js';
import { json, readTree } from '../../../support/tree.js';
import type { Tree } from '../../../support/tree.js';
import { fields } from '../../../support/values.js';
import { judge, readDescription } from './support.js';

const path = temporary();
const out = path('dist');
let tree: Tree;

const BEFORE = "text('genre',";
const SERVERS = `count('servers', 'servers', 41, 'Servers that ran at the moment of the reading.'),`;

/** The generator as it would be with one line more in the declaration of a game. */
function larger(folder: string): string {
  cpSync(join(PROJECT, 'build/generator'), join(folder, 'build/generator'), { recursive: true });
  for (const same of ['build/assets', 'build/data', 'generator', 'data', 'node_modules', 'package.json'])
    symlinkSync(join(PROJECT, same), join(folder, same));
  const game = join(folder, 'build/generator/schema/game.js');
  const declared = readFileSync(game, 'utf8');
  expect(declared.split(BEFORE)).toHaveLength(2);
  writeFileSync(game, declared.replace(BEFORE, `${SERVERS} ${BEFORE}`));
  return join(folder, 'build/generator/cli.js');
}

beforeAll(async () => {
  const register = writeRegister(path('register.sqlite'), { games: [{ id: 5, max_players: 30 }] });
  changeRegister(register, 'ALTER TABLE games ADD COLUMN servers INTEGER; UPDATE games SET servers = 12');
  const cli = larger(path('larger'));
  const flags = ['--register', register, '--out', out, '--operator', OPERATOR];
  await promisify(execFile)(process.execPath, [cli, 'build', ...flags]);
  tree = readTree(out);
});

describe('a field that a resource has more', () => {
  it('stands in the record, in its place', () => {
    const record = fields(json(tree, 'api/v1/game/5.json'));
    expect(record['servers']).toBe(12);
    const names = Object.keys(record);
    expect(names[names.indexOf('max_players') + 1]).toBe('servers');
  });

  it('stands in the description, with type, unit, meaning and example', () => {
    const description = readDescription(out);
    const properties = fields(fields(description.components.schemas['Game'])['properties']);
    expect(properties['servers']).toEqual({
      type: ['integer', 'null'],
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Servers that ran at the moment of the reading. Unit: servers. Null: not measured.',
      examples: [41],
    });
    expect(judge(description)('Game', json(tree, 'api/v1/game/5.json'))).toEqual([]);
  });

  it('stands in the reference', () => {
    expect(tree.get('developers/reference/games.html')?.text).toContain(
      'Servers that ran at the moment of the reading.',
    );
  });
});
