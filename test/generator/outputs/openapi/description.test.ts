/** The description itself: valid, complete, true of every document and example in the tree, and what other texts say. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { writeSample } from '../../../../data/sample.js';
import { ROUTES } from '../../../../generator/routes/routes.js';
import { RESOURCES } from '../../../../generator/schema/schema.js';
import { published } from '../../../support/build.js';
import { PROJECT, temporary } from '../../../support/folder.js';
import { WITH_PLATFORM_IDS, changeRegister } from '../../../support/register.js';
import { json, readTree } from '../../../support/tree.js';
import { fields } from '../../../support/values.js';
import {
  judge,
  placesIn,
  placesOf,
  readDescription,
  responseOf,
  schemaNameOf,
  validator,
} from './support.js';

const path = temporary();
const out = path('dist');
const operator = join(PROJECT, 'data/operator.json');
const register = path('register.sqlite');
await writeSample({ file: register, records: 400, seed: 5 });
await published({ register, out, operator, acceptRemovals: true });
// A second snapshot, which changed something and removed something, so that there is a bundle; the largest among it.
changeRegister(
  register,
  `${WITH_PLATFORM_IDS}
   UPDATE groups SET description = 'changed' WHERE id = (SELECT max(id) FROM groups);
   INSERT INTO withheld SELECT 'item', max(id), '2026-01-01T00:00:00Z' FROM items;
   INSERT INTO withheld SELECT 'group', id, '2026-01-01T00:00:00Z' FROM groups
     WHERE state IS NOT 'deleted' ORDER BY member_count DESC LIMIT 1;`,
);
await published({ register, out, operator, acceptRemovals: true });
const tree = readTree(out);
const description = readDescription(out);
const strictly = judge(description);

const pattern = (file: string): RegExp =>
  new RegExp(`^${file.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[0-9a-f]+')}$`);

function* readDocuments(): Generator<readonly [file: string, schema: string, value: unknown]> {
  for (const at of Object.keys(description.paths)) {
    const schema = schemaNameOf(description, at);
    if (schema === undefined) continue;
    const file = ROUTES.find(({ path: url }) => url === at)?.file ?? '';
    for (const name of tree.keys()) if (pattern(file).test(name)) yield [name, schema, json(tree, name)];
  }
}

const documents = [...readDocuments()];

describe('the description', () => {
  it('is valid OpenAPI 3.1, of JSON Schema’s own dialect', async () => {
    expect(await new Validator().validate(fields(json(tree, 'api/v1/openapi.json')))).toEqual({
      valid: true,
    });
    expect(description.openapi).toMatch(/^3\.1\.\d$/);
    expect(description).not.toHaveProperty('jsonSchemaDialect');
  });

  it('has every route that answers JSON', () => {
    // What belongs to a page is for its script.
    const answering = ROUTES.filter(
      ({ name, type, class: cacheClass }) =>
        type.startsWith('application/json') && (cacheClass !== 'page' || name === 'openapi'),
    );
    const described = Object.keys(description.paths).filter(
      (at) => 'application/json' in (responseOf(description, at, 200).content ?? {}),
    );
    expect(described.toSorted()).toEqual(answering.map((route) => route.path).toSorted());
    // And so has the index.
    const index = z.object({ endpoints: z.array(z.object({ path: z.string() })) });
    const { endpoints } = index.parse(json(tree, 'api/v1.json'));
    expect(endpoints.map((endpoint) => endpoint.path).toSorted()).toEqual(described.toSorted());
    // Pages, and datapackage.json, are for the other files.
    const files = Object.keys(description.paths).filter((at) => /^\/(downloads|feeds)\//.test(at));
    expect(files).toEqual(['/downloads/datapackage.json']);
  });

  it('knows each operation by an id of its own, and each by a tag that it explains', () => {
    const operations = Object.values(description.paths).map(({ get }) => get);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    const idOf = (at: string) => description.paths[at]?.get.operationId;
    expect(idOf('/api/v1/group/{id}')).toBe('getGroup');
    expect(idOf('/api/v1/lookup/username/{prefix}')).toBe('findUsersByName');
    expect(idOf('/api/v1/movers/d30')).toBe('listMoversOf30Days');
    expect(new Set(operations.flatMap(({ tags }) => tags))).toEqual(
      new Set(description.tags.map(({ name }) => name)),
    );
  });
});

it('a response leads on by the ids that it has, and to one operation each', () => {
  const links = Object.keys(description.paths).flatMap((at) =>
    Object.entries(responseOf(description, at, 200).links ?? {}).map(
      ([name, { operationId, parameters }]) =>
        `${at} ${name}: ${operationId} ${JSON.stringify(parameters).replace('$response.body#', '')}`,
    ),
  );
  expect(links).toEqual([
    '/api/v1/group/{id} history: getGroupHistory {"id":"/id"}',
    '/api/v1/group/{id} owner: getUser {"id":"/owner/id"}',
    '/api/v1/user/{id} usernames: getUsernameHistory {"id":"/id"}',
    '/group/{id}/history.json group: getGroup {"id":"/id"}',
    '/user/{id}/usernames.json user: getUser {"id":"/id"}',
    '/api/v1/group/platform/{platform_id} history: getGroupHistory {"id":"/id"}',
    '/api/v1/group/platform/{platform_id} owner: getUser {"id":"/owner/id"}',
    '/api/v1/user/platform/{platform_id} usernames: getUsernameHistory {"id":"/id"}',
  ]);
});

it('parts are described for bundles alone, with what asks for them', () => {
  const described = Object.entries(description.paths).flatMap(([at, { get }]) => {
    const references = get.parameters.map((parameter) => JSON.stringify(parameter));
    const asked = ['Range', 'IfRange'].map((name) => references.some((each) => each.endsWith(`/${name}"}`)));
    const answered = ['206', '416'].map((status) => status in get.responses);
    // All of them or none.
    expect(new Set([...asked, ...answered]).size, at).toBe(1);
    return answered[0] === true ? [at] : [];
  });
  expect(described).toEqual(['/changes/{sequence}.ndjson.gz']);
});

describe('every document of the tree', () => {
  it('holds what its schema says, and nothing else', () => {
    const wrong = documents.flatMap(([file, schema, value]) =>
      strictly(schema, value).map((error) => `${file}${error}`),
    );
    expect(wrong).toEqual([]);
  });

  it('together hold something in every place that is described', () => {
    const held = new Map<string, Set<string>>();
    for (const [, schema, value] of documents) {
      const places = held.get(schema) ?? new Set<string>();
      held.set(schema, places);
      for (const place of placesOf(value)) places.add(place);
    }
    const described = Object.entries(description.components.schemas).filter(([name]) => held.has(name));
    // Three that stand in others (Problem, Owner, Creator) are no documents.
    expect(described).toHaveLength(Object.keys(description.components.schemas).length - 3);
    for (const [name, schema] of described) {
      const empty = placesIn(description, schema).filter((place) => held.get(name)?.has(place) !== true);
      expect(empty, name).toEqual([]);
    }
  });
});

it('every example of a value in a schema is one that the schema allows', () => {
  const ajv = validator();
  /** By their JSON: many are alike. */
  const compiled = new Map<string, ValidateFunction>();
  const wrong: string[] = [];
  const walk = (schema: unknown): void => {
    if (Array.isArray(schema)) for (const one of schema) walk(one);
    if (typeof schema !== 'object' || schema === null) return;
    const { examples, description: _, ...rest } = fields(schema);
    if (Array.isArray(examples)) {
      const key = JSON.stringify(rest);
      const allows = compiled.get(key) ?? ajv.compile(rest);
      compiled.set(key, allows);
      wrong.push(...examples.filter((one) => !allows(one)).map((one) => JSON.stringify([rest, one])));
    }
    for (const member of Object.values(rest)) walk(member);
  };
  walk(description.components.schemas);
  expect(wrong).toEqual([]);
});

/** The rows of a table in Markdown: `owner_state`, and what it means with an object and with null. */
function rowsIn(markdown: string): string[][] {
  const [, table = ''] = /\n(\| `owner_state`[^\n]+\n(?:\|[^\n]+\n)+)/.exec(markdown) ?? [];
  const rows = table.trimEnd().split('\n').slice(2);
  return rows.map((row) =>
    row
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.trim()),
  );
}

describe('the reference', () => {
  it('has the table of owner_state and owner that the description and docs/api-clients.md have', () => {
    const described = rowsIn(String(description.info['description']));
    expect(described.map(([state]) => state)).toEqual(['`owned`', '`none`', '`null`']);
    // A group that has no owner can't have this one; all else may be.
    expect(described.map(([, ...cells]) => cells.map((cell) => cell === 'impossible'))).toEqual([
      [false, false],
      [true, false],
      [false, false],
    ]);
    expect(rowsIn(readFileSync(join(PROJECT, 'docs/api-clients.md'), 'utf8'))).toEqual(described);
    const page = tree.get('developers/reference/groups.html')?.text ?? '';
    for (const [state = '', ...cells] of described)
      expect(page).toContain(
        `<tr><th scope="row"><code>${state.replaceAll('`', '')}</code></th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`,
      );
  });

  it('has the words of each field as the description has them', () => {
    const page = RESOURCES.map(({ plural }) => tree.get(`developers/reference/${plural}.html`)?.text).join(
      '',
    );
    const described = ['Group', 'User', 'Game', 'Item'].flatMap((name) =>
      Object.values(fields(description.components.schemas[name]?.['properties'])).flatMap((property) => {
        const text = String(fields(property)['description']);
        const [, words] = / Words: (.+)\. Others may be added\./.exec(text) ?? [];
        return words === undefined ? [] : [words.split(/, (?=`)/)];
      }),
    );
    expect(described).toHaveLength(7);
    for (const word of described.flat())
      expect(page).toContain(`<code class="word">${word.slice(1).replace('`', '</code>')}`);
    expect(page).toContain('Others may be added.');
  });
});
