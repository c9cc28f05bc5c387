/** The pages of records: one file for each kind, at the URLs of all its records. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { manifestOf } from '../../support/published.js';
import { site } from '../../support/site.js';
import { inState } from '../../support/tree.js';

const path = temporary();

it('are a file and a route for each kind, outside the index, the description and the lists for clients', async () => {
  const { out } = await site(path);
  const text = (file: string): string => readFileSync(join(out, file), 'utf8');
  const routeNamed = (name: string) => manifestOf(out).routes.find((route) => route.name === name);
  const headers = { 'Cache-Tag': 'group-page', 'Surrogate-Key': 'group-page' };
  expect(routeNamed('group-shell')).toMatchObject({ path: '/group', file: 'group.html', headers });
  expect(routeNamed('group-page')).toEqual({
    name: 'group-page',
    path: '/group/{id}',
    file: 'group.html',
    class: 'page',
    bucket: 'page',
    type: 'text/html; charset=utf-8',
    headers,
    description: 'Page of one group',
    parameters: [{ name: 'id', in: 'path', type: 'id', description: 'numeric group id' }],
    example: '/group/1',
    absent: 'no group {id} in this register',
    requires: 'group',
  });
  const { paths } = z
    .object({ paths: z.record(z.string(), z.unknown()) })
    .parse(JSON.parse(text('api/v1/openapi.json')));
  expect(Object.keys(paths).filter((url) => /^\/(group|user|game|item)(\/\{id\})?$/.test(url))).toEqual([]);
  expect(text('api/v1.json')).not.toContain('"/group/{id}"');
  expect(existsSync(inState(out, 'index/group-page'))).toBe(false);
  expect((await inProcess('verify', '--out', out)).stdout).not.toContain('untracked');
  // Whoever has no script learns where the JSON is.
  expect(text('group.html')).toMatch(/\/api\/v1\/group\/\{id\}.*\/group\/\{id\}\/history\.json/s);
  expect(text('game.html')).toContain('/api/v1/game/{id}');
  expect(text('game.html')).not.toContain('history.json');
});
