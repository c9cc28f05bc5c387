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
});

describe('a snapshot.json', () => {
  const manifest = z.looseObject({
    headers: z.looseObject({ content: z.record(z.string(), z.unknown()) }),
    problems_below: z.array(z.string()),
  });
  const read = (out: string) => manifest.parse(json(readTree(out), 'snapshot.json'));

  it('has headers and machine paths of a log only if there is one', () => {
    const [own, former] = [read(signed), read(plain)];
    const { checkpoint: _, tile: __, ...content } = own.headers.content;
    expect(content).toEqual(former.headers.content);
    expect(own.problems_below).toEqual([...former.problems_below, '/log']);
  });
});
