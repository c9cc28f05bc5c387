import { describe, expect, it } from 'vitest';
import { LAYOUTS, filler, halves, routeNamed, routes } from '../../generator/routes.js';

/** The table of the specification, section 4, in its order. */
const SPECIFIED = [
  '/api/v1',
  '/api/v1/group/{id}',
  '/api/v1/user/{id}',
  '/api/v1/game/{id}',
  '/api/v1/item/{id}',
  '/api/v1/largest',
  '/api/v1/stats',
  '/group/{id}/history.json',
  '/user/{id}/usernames.json',
];

const parametersIn = (template: string): string[] =>
  [...new Set([...template.matchAll(/\{(\w+)(?::bucket)?\}/g)].map(([, name]) => name ?? ''))].toSorted();

describe.each(LAYOUTS)('the route table of layout "%s"', (layout) => {
  const table = routes(layout);

  it('lists exactly the endpoints of the specification', () => {
    expect(table.filter(({ listed }) => listed).map(({ path }) => path)).toEqual(SPECIFIED);
  });

  it('has no two routes of one name, path or file', () => {
    for (const key of ['name', 'path', 'file'] as const) {
      expect(new Set(table.map((route) => route[key])).size).toBe(table.length);
    }
  });

  it('has the same parameters in the path or query and in the file', () => {
    for (const { path, file, parameters = [] } of table) {
      expect(parametersIn(file)).toEqual(parameters.map(({ name }) => name).toSorted());
      expect(parametersIn(path)).toEqual(
        parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name),
      );
    }
  });

  it('has one parameter a route at most, which the names of files are made of', () => {
    expect(table.filter(({ parameters = [] }) => parameters.length > 1)).toEqual([]);
  });

  it('gives files that stay in the tree, and no dotfile but /.well-known', () => {
    for (const { path, file } of table) {
      expect(path).toMatch(/^\/((?:[^/.][^/]*|\.well-known(?=\/))(\/[^/.][^/]*)*)?$/);
      expect(file).toMatch(/^(?:[^/.][^/]*|\.well-known(?=\/))(\/[^/.][^/]*)*$/);
    }
  });

  it('describes each route in one line', () => {
    for (const { description } of table) expect(description).toMatch(/^[A-Z][^\n]+[^.\n]$/);
  });

  it('answers with JSON at every endpoint', () => {
    for (const { type } of table.filter(({ listed }) => listed)) {
      expect(type).toBe('application/json; charset=utf-8');
    }
  });

  it('never puts two ids of a route into one file', () => {
    const ids = [1, 7, 10, 100, 1000, 1100, 7000, 1_000_007, 9_007_199_254_740_991];
    for (const { file } of table.filter((route) => route.file.includes('{'))) {
      expect(new Set(ids.map(filler(file))).size).toBe(ids.length);
    }
  });
});

describe('the largest groups', () => {
  it('have the bounds and the default of the decisions', () => {
    expect(routeNamed(routes('url'), 'largest').parameters).toMatchObject([
      { name: 'limit', in: 'query', minimum: 1, maximum: 200, default: 100 },
    ]);
  });
});

const file = (layout: (typeof LAYOUTS)[number], name: string, id: number): string =>
  filler(routeNamed(routes(layout), name).file)(id);

describe('layouts', () => {
  it('"url" puts files where the URLs are', () => {
    expect(file('url', 'index', 0)).toBe('api/v1.json');
    expect(file('url', 'stats', 0)).toBe('api/v1/stats.json');
    expect(file('url', 'group', 7)).toBe('api/v1/group/7.json');
    expect(file('url', 'group-history', 7)).toBe('group/7/history.json');
    expect(file('url', 'user-usernames', 7)).toBe('user/7/usernames.json');
    expect(file('url', 'largest', 200)).toBe('api/v1/largest/200.json');
    expect(file('url', 'snapshot', 0)).toBe('snapshot.json');
  });

  it('"bucketed" spreads records over 1,000 folders by their last three digits', () => {
    expect(file('bucketed', 'item', 7)).toBe('api/v1/item/007/7.json');
    expect(file('bucketed', 'item', 1000)).toBe('api/v1/item/000/1000.json');
    expect(file('bucketed', 'item', 123_456)).toBe('api/v1/item/456/123456.json');
    expect(file('bucketed', 'item', Number.MAX_SAFE_INTEGER)).toBe('api/v1/item/991/9007199254740991.json');
    expect(file('bucketed', 'group-history', 7)).toBe('group/007/7/history.json');
  });

  it('"bucketed" leaves what is no record where it is', () => {
    for (const name of ['index', 'stats', 'largest', 'snapshot']) {
      expect(file('bucketed', name, 5)).toBe(file('url', name, 5));
    }
  });

  it('give the same URLs', () => {
    expect(routes('bucketed').map(({ path }) => path)).toEqual(routes('url').map(({ path }) => path));
  });
});

describe('routeNamed', () => {
  it('knows no route by a name that is not there', () => {
    expect(() => routeNamed(routes('url'), 'nothing')).toThrow('no route is named "nothing"');
  });
});

describe('halves', () => {
  it('cuts a template around its parameter', () => {
    expect(halves('/group/{id}/history.json')).toEqual(['/group/', '/history.json']);
    expect(halves('/api/v1/group/{id}')).toEqual(['/api/v1/group/', '']);
  });

  it.each(['/api/v1/stats', '/a/{id}/{limit}'])('refuses "%s", which has not one parameter', (template) => {
    expect(() => halves(template)).toThrow(`"${template}"`);
  });
});
