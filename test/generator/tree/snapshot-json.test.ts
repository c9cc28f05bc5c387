/** What a snapshot.json may say: nothing that the proxy refuses, or that means something elsewhere. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { snapshotSchema } from '../../../generator/tree/snapshot-json.js';
import { sampleTree } from '../../system/contract/sample-tree.js';

type Json = Readonly<Record<string, unknown>>;
const jsonObject = z.record(z.string(), z.unknown());
const honest = jsonObject.parse(JSON.parse(readFileSync(`${await sampleTree()}/snapshot.json`, 'utf8')));
const routes = jsonObject.array().parse(honest['routes']);

const isAccepted = (snapshot: Json): boolean => snapshotSchema.safeParse(snapshot).success;
const X = { name: 'x', path: '/x', file: 'x', parameters: [] };
const withRoute = (more: Json): Json => ({ ...honest, routes: [...routes, { ...routes[0], ...more }] });

describe('the schema of snapshot.json', () => {
  it('accepts what a build writes', () => {
    expect(snapshotSchema.safeParse(honest).error).toBeUndefined();
  });

  it('refuses headers that frame a response, are of the connection, or of one client', () => {
    const names = [
      'Connection Content-Length Transfer-Encoding TE Trailer Upgrade Keep-Alive Proxy-Authenticate',
      'proxy-connection Set-Cookie set-cookie2 Cookie Host Date Content-Encoding content-range Location',
      'Refresh Content-Type ETag X_Y 1X X:',
    ].flatMap((line) => line.split(' '));
    const headers = jsonObject.parse(honest['headers']);
    for (const name of names) {
      for (const group of ['all', 'options', 'not_found', 'error']) {
        const fields = { ...jsonObject.parse(headers[group]), [name]: 'z' };
        expect([name, isAccepted({ ...honest, headers: { ...headers, [group]: fields } })]).toEqual([
          name,
          false,
        ]);
      }
      expect(isAccepted(withRoute({ ...X, headers: { [name]: 'z' } }))).toBe(false);
    }
  });

  const id = { name: 'id', in: 'path', type: 'id', description: '' };
  const parameters = [{ ...id, name: 'number' }];
  const number = { path: '/api/v1/group/{number}', file: 'x/{number}', parameters };
  it.each<[string, Json]>([
    ['a path of another route', number],
    ['a name of another route', { name: 'group' }],
    ['an undeclared parameter in its path', { path: '/x/{id}' }],
    [
      'one parameter twice in its path, and another declared',
      { path: '/x/{id}/{id}', file: 'x/{id}', parameters: [id, { ...id, name: 'other' }] },
    ],
    ['two parameters in a segment', { path: '/x/{id}-{id}', file: 'x/{id}', parameters: [id] }],
    ['a hidden file', { file: '.x' }],
    ['a file outside the tree', { file: '../x' }],
    ['a document that no route has', { requires: 'nothing' }],
    ['the path of a redirect', { path: '/docs' }],
  ])('refuses a route with %s', (_, more) => {
    expect(isAccepted(withRoute(X))).toBe(true);
    expect(isAccepted(withRoute({ ...X, ...more }))).toBe(false);
  });
});
