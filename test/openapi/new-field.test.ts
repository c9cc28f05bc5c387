/** A new field in a resource is all it takes: everything that is said of it follows. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { count } from '../../generator/resources/field.js';
import { game } from '../../generator/resources/game.js';
import type { Resource } from '../../generator/resources/field.js';
import { temporary } from '../support/folder.js';
import { changeRegister, writeRegister } from '../support/register.js';
import { json, readTree } from '../support/tree.js';
import type { Tree } from '../support/tree.js';
import { fields } from '../support/values.js';
import { judge, readDescription } from './support.js';

const path = temporary();
const out = path('dist');
let tree: Tree;

const servers = count('servers', 'servers', 41, 'Servers that ran at the moment of the reading.');
/** The game as it would be declared with one field more. */
const larger: Resource = {
  ...game,
  record: {
    ...game.record,
    fields: game.record.fields.flatMap((field) =>
      field.name === 'max_players' ? [field, servers] : [field],
    ),
  },
};

beforeAll(async () => {
  const register = writeRegister(path('register.sqlite'), { games: [{ id: 5, max_players: 30 }] });
  changeRegister(register, 'ALTER TABLE games ADD COLUMN servers INTEGER; UPDATE games SET servers = 12');
  vi.resetModules();
  vi.doMock('../../generator/resources/game.js', () => ({ game: larger }));
  const { published } = await import('../support/build.js');
  await published({ register, out });
  tree = readTree(out);
});

afterAll(() => {
  vi.doUnmock('../../generator/resources/game.js');
  vi.resetModules();
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
      format: 'int64',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Servers that ran at the moment of the reading. Unit: servers.',
      examples: [41],
    });
    expect(judge(description, true)('Game', json(tree, 'api/v1/game/5.json'))).toEqual([]);
  });

  it('stands on the page for developers', () => {
    expect(tree.get('developers.html')?.text).toContain('Servers that ran at the moment of the reading.');
  });
});
