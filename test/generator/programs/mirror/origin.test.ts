/** What an origin may say of itself in snapshot.json, and what is refused. */
import { beforeEach, describe, expect, it } from 'vitest';
import { originSchema, parseOrigin } from '../../../../generator/programs/mirror/origin.js';
import { tableOf } from '../../../../generator/routes/routes.js';
import { MadeUpOrigin, ROUTES, documentsOf, limit } from './made-up.js';

const origin = new MadeUpOrigin();
beforeEach(() => {
  origin.reset();
  origin.publish(documentsOf({ 1: 'one' }));
});

/** Why it is refused, if it says this. */
function refusal(members: object): string | undefined {
  origin.announce(members);
  try {
    parseOrigin(origin.files.get('/snapshot.json') ?? Buffer.alloc(0));
    return undefined;
  } catch (error) {
    return String(error);
  }
}
const refusalOfRoutes = (...routes: readonly object[]) => refusal({ routes: [...ROUTES, ...routes] });
const UNSAFE: unknown = expect.stringContaining('/snapshot.json of the origin can\'t be used (see "routes")');

const own = ROUTES.find(({ name }) => name === 'own')!;
const key = { name: 'key', in: 'path' as const, type: 'id', description: '' };
/** A route with a file, whose parameter it declares. */
const leadingTo = (file: string) => {
  const route = { ...own, name: 'another', file };
  const isKeyed = file.includes('{key}');
  return isKeyed ? { ...route, path: '/another/{key}', parameters: [key] } : { ...route, path: '/another' };
};

it.each([
  ['a later format', { format: 6 }, '(see "format")'],
  ['no id', { tree: { files: 1, bytes: 1 } }, '(see "tree.id")'],
  ['a number that is none', { sequence: '1' }, '(see "sequence")'],
  ['a redirect elsewhere', { redirects: [{ path: '/docs', to: '//evil.example' }] }, 'redirects.0.to'],
  ['a redirect that says more', { redirects: [{ path: '/docs', to: '/y; } x' }] }, 'redirects.0.to'],
  ['a redirect of its documents', { redirects: [{ path: ROUTES[0]!.path, to: '/x' }] }, "can't be used"],
  [
    'a page of errors that says more',
    { errors: { not_found: { status: 404, title: 'a', detail: 'b', page: '/4\n/x /y 200' } } },
    'not_found.page',
  ],
  ['problems below more', { problems_below: ['/api {'] }, 'problems_below.0'],
])('%s is refused', (_, members, message) => {
  expect(refusal(members)).toContain(message);
});

describe('a route', () => {
  it.each([
    ['outside the tree', '../outside.json', 'a/../../outside', '/etc/passwd', '.hidden', 'a/.snapshot/x'],
    ['of other bytes', 'a\0b', 'a;}b', 'a b', 'a\nb', String.raw`..\outside`, 'a//b', ''],
    [
      'of the publisher',
      'snapshot.json',
      'changes/1.ndjson.gz',
      'feeds/snapshots.atom',
      'feeds/snapshots.json.gz',
    ],
    ['of single files of other routes', 'index.html', 'api/v1/stats.json', 'api/v1/stats.json/x', 'api/v1'],
    ['of records', 'api/v1/group/7.json', 'api/v1/group/7.json.br', 'api/v1/group/{key}.json'],
    ['that could be of records', 'api/v1/group/1{key}.json', 'api/v1/group/{key}.json/x'],
    ['of the log', 'log/efd62e2505583bf5/checkpoint', 'log/{key}/checkpoint', 'log/{key}'],
    ['of its tiles', 'log/efd62e2505583bf5/tile', 'log/efd62e2505583bf5/tile/0/{key}'],
    ['of its index', 'log/efd62e2505583bf5/index/group/7.txt.gz'],
  ])('with a file %s is refused', (_, ...files) => {
    for (const file of files) expect(refusalOfRoutes(leadingTo(file)), file).toEqual(UNSAFE);
  });

  it('with a file that is apart from all others is not refused', () => {
    const files = ['api/v1/{key}/stats.json', 'api/v1/group/x{key}.json', 'api/v1/group/{key}/x.json'];
    for (const file of [...files, 'log/readme.txt'])
      expect(refusalOfRoutes(leadingTo(file)), file).toBeUndefined();
  });

  it('whose file can be that of another by keys that don’t overlap is refused', () => {
    // `x/1x2` is a file of both.
    const other = { ...leadingTo('x/1x{key}'), name: 'other', path: '/other/{key}' };
    expect(refusalOfRoutes(leadingTo('x/{key}x2'), other)).toEqual(UNSAFE);
  });

  it.each([
    { file: 'api/v1/group/{key}.json', requires: 'nosuch' },
    { file: 'api/v1/group/{key}.json', requires: 'bad' },
    { file: 'nosuch.html', requires: own.name },
  ])('of a page of records that can be none is refused: %j', (members) => {
    expect(refusalOfRoutes({ ...own, name: 'bad', path: '/bad', ...members })).toEqual(UNSAFE);
  });

  it.each([
    ['snapshot', { path: '/other.json' }],
    ['change-bundle', { path: '/changes/{sequence}.ndjson.gz', file: '../{sequence}.ndjson.gz' }],
    ['feed-snapshots-json', { path: '/feeds/all.json', file: 'feeds/snapshots.json' }],
    ['log-tile', { path: '/log/{tree}/tile/{path}', file: '{path}' }],
    ['log-checkpoint', { path: '/log/{tree}/checkpoint', file: 'snapshot.json' }],
  ])('%s of another path or file is refused: %j', (name, members) => {
    const ours = ROUTES.find((each) => each.name === name);
    const routes = ROUTES.filter((each) => each !== ours);
    expect(refusal({ routes: [...routes, { ...(ours ?? own), name, ...members }] })).toEqual(UNSAFE);
  });

  it('of a signed log is that of every signed tree', () => {
    const logged = tableOf({ isSigned: true }).slice(-3);
    expect(logged.map(({ name }) => name)).toEqual(['log-checkpoint', 'log-tile', 'log-index']);
    expect(refusalOfRoutes(...logged)).toBeUndefined();
    // Any other route has keys, which no text of these is.
    expect(refusalOfRoutes(...logged.map((each) => ({ ...each, name: `my-${each.name}` })))).toEqual(UNSAFE);
    const mine = { ...logged[1], name: 'mine', path: '/x/{path}', file: 'x/{path}' };
    expect(refusalOfRoutes(mine)).toEqual(UNSAFE);
  });

  it('of a former asset that is none of ours, or of a list with endless values, is refused', () => {
    const file = 'assets/style-0123456789.css';
    const asset = { name: 'former-style', class: 'asset', bucket: 'page', type: 'text/css; charset=utf-8' };
    expect(refusalOfRoutes({ ...own, ...asset, path: `/${file}`, file })).toEqual(UNSAFE);
    const endless = { parameters: [{ ...limit, maximum: Number.MAX_SAFE_INTEGER }] };
    const routes = ROUTES.map((each) => (each.name === 'largest' ? { ...each, ...endless } : each));
    expect(refusal({ routes })).toEqual(UNSAFE);
  });
});

/** A word without the digits of keys. */
const word = (n: number): string =>
  n.toString(16).replaceAll(/./g, (digit) => 'ghijklmnopqrstuv'[Number(`0x${digit}`)] ?? '');

it('a table of many routes takes less than a second of a processor to check', () => {
  // No two of them are in each other's way, so that all are compared.
  const routes = Array.from({ length: 900 }, (_, n) => ({
    ...ROUTES[0]!,
    name: `of-${n}`,
    path: `/of/${n}/{id}`,
    file: `${'1/'.repeat(15)}${'1'.repeat(40)}{id}${'1'.repeat(100)}x${word(n)}y`,
  }));
  origin.announce({ routes: [...ROUTES, ...routes] });
  const snapshot: unknown = JSON.parse(String(origin.files.get('/snapshot.json')));
  const before = process.cpuUsage();
  expect(originSchema.safeParse(snapshot).error).toBeUndefined();
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1e6).toBeLessThan(1);
});
