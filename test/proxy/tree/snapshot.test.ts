import { describe, expect, it } from 'vitest';

import { parseSnapshot } from '../../proxy/snapshot.js';
import { ROUTES, SERVICE, snapshotJson } from './support.js';

function parse(changes: Record<string, unknown>): unknown {
  return parseSnapshot(JSON.stringify(snapshotJson(changes)));
}

function withRoute(changes: Record<string, unknown>): Record<string, unknown> {
  const route = {
    name: 'odd',
    path: '/odd',
    file: 'odd.json',
    class: 'record',
    type: 'application/json',
    ...changes,
  };
  return { routes: [...ROUTES, route] };
}

const ID = { name: 'id', in: 'path', type: 'id' };
const LIMIT = { name: 'limit', in: 'query', type: 'integer', minimum: 1, maximum: 9, default: 3 };

describe('parseSnapshot', () => {
  it('says which format it reads when it meets a newer one', () => {
    expect(() => parse({ format: 2 })).toThrow('tree is of format 2, this proxy reads format 1');
    expect(() => parseSnapshot('{"format":2}')).toThrow('tree is of format 2, this proxy reads format 1');
  });

  it.each([
    ['', 'snapshot.json is no JSON'],
    ['{"format":1', 'snapshot.json is no JSON'],
    ['[]', 'snapshot.json has no format number'],
    ['null', 'snapshot.json has no format number'],
    ['{"format":"1"}', 'snapshot.json has no format number'],
    ['{"format":1}', 'snapshot.json is malformed at sequence'],
  ])('refuses the text %j', (text, message) => {
    expect(() => parseSnapshot(text)).toThrow(message);
  });

  it.each([
    ['a path out of the tree', { file: '../odd.json' }],
    ['a path out of the tree further on', { file: 'api/../../odd.json' }],
    ['an absolute file', { file: '/etc/passwd' }],
    ['a backslash', { file: 'api\\..\\odd.json' }],
    ['a NUL', { file: 'odd.json\0.json' }],
    ['an empty segment', { file: 'api//odd.json' }],
    ['a dot segment', { file: './odd.json' }],
    ['no file', { file: '' }],
    ['a dotfile', { file: '.snapshot/ledger.json' }],
    ['a dotfile further down', { file: 'api/.env' }],
    ['well-known further down', { file: 'api/.well-known/x' }],
    ['a parameter nobody declared', { file: '{id}.json' }],
    ['a parameter of another case', { file: '{ID}.json', path: '/odd/{id}', parameters: [ID] }],
    ['a filter nobody knows', { file: '{id:all}.json', path: '/odd/{id}', parameters: [ID] }],
  ])('refuses a file that could lead elsewhere: %s', (_name, changes) => {
    expect(() => parse(withRoute(changes))).toThrow(/^snapshot\.json is malformed: route "odd": file "/);
  });

  it.each([
    ['relative', { path: 'odd' }],
    ['empty segment', { path: '//odd' }],
    ['trailing slash', { path: '/odd/' }],
    ['dot segment', { path: '/odd/..' }],
    ['parameter nobody declared', { path: '/odd/{id}' }],
    ['two parameters in a segment', { path: '/odd/{id}{id}', parameters: [ID] }],
    ['brace left open', { path: '/odd/{id', parameters: [ID] }],
    ['hidden', { path: '/odd/.{id}', parameters: [ID] }],
    ['parameter that the path lacks', { path: '/odd', parameters: [ID] }],
    ['taken', { path: '/api/v1' }],
    [
      'taken under another name of the parameter',
      { path: '/api/v1/group/{limit}', parameters: [{ ...ID, name: 'limit' }] },
    ],
  ])('refuses a path that could not be searched: %s', (_name, changes) => {
    expect(() => parse(withRoute(changes))).toThrow(/^snapshot\.json is malformed: route "odd": path "/);
  });

  it.each([
    ['class', { class: 'secret' }],
    ['type of parameter', { path: '/odd/{id}', parameters: [{ ...ID, type: 'uuid' }] }],
    ['place of parameter', { parameters: [{ ...ID, in: 'header' }] }],
    ['parameter without an error code', { parameters: [{ ...LIMIT, name: 'offset' }] }],
    ['default out of bounds', { parameters: [{ ...LIMIT, default: 10 }] }],
    ['no default', { parameters: [{ ...LIMIT, default: undefined }] }],
    ['a type that would split the header', { type: 'text/html\r\nSet-Cookie: x=1' }],
  ])('refuses a route it could not answer: %s', (_name, changes) => {
    expect(() => parse(withRoute(changes))).toThrow(/^snapshot\.json is malformed/);
  });

  it.each([
    ['base_url', 'register.example'],
    ['base_url', 'javascript:alert(1)'],
    ['docs', 'developers'],
    ['docs', '//evil.example'],
    ['description', '/x>; rel="x"'],
  ])('refuses a service whose %s is %s', (key, value) => {
    expect(() => parse({ service: { ...SERVICE, [key]: value } })).toThrow(`service.${key}`);
  });

  it.each([
    { tokens: 0, refill_seconds: 1 },
    { tokens: 1.5, refill_seconds: 1 },
    { tokens: 60, refill_seconds: 0 },
    { tokens: 60 },
  ])('refuses limits of %j', (api) => {
    expect(() => parse({ limits: { api, download: { tokens: 12, refill_seconds: 60 } } })).toThrow(
      'limits.api',
    );
  });

  it('ignores keys it does not know, everywhere', () => {
    const routes = ROUTES.map((route) => ({ ...route, colour: 'red' }));
    const limits = {
      api: { tokens: 1, refill_seconds: 0.5, burst: 9 },
      download: { tokens: 1, refill_seconds: 1 },
      feeds: {},
    };
    expect(parse({ future: { x: 1 }, routes, limits })).toMatchObject({
      sequence: 3,
      limits: { api: { tokens: 1, refill_seconds: 0.5 } },
    });
  });

  it('takes a base URL with a slash at its end for the same without', () => {
    const service = { ...SERVICE, base_url: 'https://register.example/' };
    expect(parse({ service })).toMatchObject({ service: { base_url: 'https://register.example' } });
  });

  it('reads an empty register, whose as_of is null', () => {
    expect(parse({ as_of: null })).toMatchObject({ as_of: null });
  });
});
