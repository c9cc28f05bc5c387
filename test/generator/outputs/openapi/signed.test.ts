/** What the description of a signed tree says more than that of any other. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { buildSigned } from '../../../system/contract/signed-tree.js';
import { published } from '../../../support/build.js';
import { temporary } from '../../../support/folder.js';
import { writeRegister } from '../../../support/register.js';
import { json, readTree } from '../../../support/tree.js';
import { fields } from '../../../support/values.js';
import { readDescription } from './support.js';
import type { Description } from './support.js';

const path = temporary();
const [plain, signed] = [path('plain'), path('signed')];
const DESCRIPTION = 'api/v1/openapi.json';
const [CHECKPOINT, TILE, INDEX] = [
  '/log/{tree}/checkpoint',
  '/log/{tree}/tile/{path}',
  '/log/{tree}/index/{path}',
] as const;
let without: Description;
let description: Description;

beforeAll(async () => {
  const register = writeRegister(path('register.sqlite'), { groups: [{ id: 1, name: 'one' }] });
  await published({ register, out: plain });
  await buildSigned(register, signed);
  without = readDescription(plain);
  description = readDescription(signed);
});

describe('the description of a tree without a log', () => {
  it('says nothing of one', () => {
    const text = readFileSync(join(plain, DESCRIPTION), 'utf8');
    for (const word of ['/log', 'checkpoint', 'tile', '"tree","path"']) expect(text).not.toContain(word);
  });
});

describe('the description of a signed tree', () => {
  it('is valid OpenAPI, with three paths and a tag more', async () => {
    expect(await new Validator().validate(fields(json(readTree(signed), DESCRIPTION)))).toEqual({
      valid: true,
    });
    const { [CHECKPOINT]: _, [TILE]: __, [INDEX]: ___, ...others } = description.paths;
    expect(others).toEqual(without.paths);
    const names = description.tags.map(({ name }) => name);
    expect(names.filter((name) => name !== 'Log')).toEqual(without.tags.map(({ name }) => name));
    expect(names).toContain('Log');
    for (const at of [CHECKPOINT, TILE, INDEX]) expect(description.paths[at]?.get.tags).toEqual(['Log']);
  });

  it.each([
    [CHECKPOINT, ['tree']],
    [TILE, ['tree', 'path']],
    [INDEX, ['tree', 'path']],
  ])('names the parameters of %s, and what they may be', (at, names) => {
    const own = (description.paths[at]?.get.parameters ?? []).flatMap((each) =>
      'name' in each ? [each] : [],
    );
    expect(own.map(({ name, in: place, required }) => [name, place, required])).toEqual(
      names.map((name) => [name, 'path', true]),
    );
    const pattern = new RegExp(z.string().parse(own[0]?.schema['pattern']));
    expect([pattern.test('efd62e2505583bf5'), pattern.test('efd62e2505583bf')]).toEqual([true, false]);
    const rest = own[1] && new RegExp(z.string().parse(own[1].schema['pattern']));
    for (const [text, isRest] of [
      ['0/000.p/5', true],
      ['x001/234/067', true],
      ['../x', false],
      ['.x', false],
    ] as const)
      expect(rest?.test(text) ?? isRest).toBe(isRest);
  });
});

describe('a snapshot.json', () => {
  const manifest = z.looseObject({
    headers: z.looseObject({ content: z.record(z.string(), z.unknown()) }),
    problems_below: z.array(z.string()),
    routes: z.array(z.looseObject({ name: z.string() })),
  });
  const read = (out: string) => manifest.parse(json(readTree(out), 'snapshot.json'));

  it('has routes, headers and machine paths of a log only if there is one', () => {
    const [own, former] = [read(signed), read(plain)];
    expect(own.routes.slice(former.routes.length).map(({ name }) => name)).toEqual([
      'guide-log-page',
      'log-checkpoint',
      'log-tile',
      'log-index',
    ]);
    const { checkpoint: _, tile: __, ...content } = own.headers.content;
    expect(content).toEqual(former.headers.content);
    expect(own.problems_below).toEqual([...former.problems_below, '/log']);
  });
});
