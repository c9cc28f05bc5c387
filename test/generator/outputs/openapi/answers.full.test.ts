/** The running proxy answers as the description says: statuses, headers, bodies, and what errors tell. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeSample } from '../../../../data/sample.js';
import { PROBLEMS } from '../../../../generator/outputs/openapi/problems.js';
import { ROUTES, isDescribed } from '../../../../generator/routes/routes.js';
import { MAX_PATH_BYTES } from '../../../../proxy/tree/target.js';
import {
  ask,
  askRaw,
  opened,
  startProxy as startInProcess,
  type Answer,
  type AskOptions,
} from '../../../proxy/support.js';
import { published } from '../../../support/build.js';
import { PROJECT, newFolder, temporary } from '../../../support/folder.js';
import { startProxy, type RunningProxy } from '../../../support/proxy.js';
import { snapshotOf } from '../../../support/published.js';
import { WITH_PLATFORM_IDS, changeRegister } from '../../../support/register.js';
import {
  judge,
  named,
  parameterOf,
  readDescription,
  responseOf,
  schemaNameOf,
  type Description,
  type Judge,
  type Response,
} from './support.js';

const path = temporary();
const out = path('dist');
const running: RunningProxy[] = [];
let description: Description;
let strictly: Judge;
/** Ports: of the tree, and of no tree. */
let whole: number;
let empty: number;

async function proxyOn(dist: string): Promise<number> {
  // The limits that the description tells.
  const proxy = await startProxy(dist, [], { limits: {} });
  running.push(proxy);
  return Number(new URL(proxy.base).port);
}

beforeAll(async () => {
  const register = path('register.sqlite');
  await writeSample({ file: register, records: 200, seed: 7 });
  const build = () => published({ register, out, operator: join(PROJECT, 'data/operator.json') });
  await build();
  changeRegister(
    register,
    `${WITH_PLATFORM_IDS} UPDATE groups SET description = 'changed' WHERE id = (SELECT max(id) FROM groups)`,
  );
  await build();
  description = readDescription(out);
  strictly = judge(description);
  const nothing = newFolder(path('nothing'));
  [whole, empty] = await Promise.all([proxyOn(out), proxyOn(nothing)]);
});

afterAll(() => Promise.all(running.map((proxy) => proxy.stop())));

let clients = 0;
/** An address that has not asked anything yet: all of 127.0.0.0/8 is this machine. */
const stranger = (): string => `127.1.${Math.floor((clients += 1) / 250)}.${(clients % 250) + 1}`;

const asStranger = (port: number, target: string, options: AskOptions = {}): Promise<Answer> =>
  ask(port, target, { ...options, from: stranger() });

async function askBroken(target: string): Promise<Answer> {
  const { port } = await startInProcess(out);
  opened(out, (path) => {
    if (path !== 'snapshot.json') throw Object.assign(new Error('EIO: i/o error, open'), { code: 'EIO' });
  });
  return asStranger(port, target);
}

/** Asks until the limit is met, by a client that has next to nothing left from one call to the next. */
async function asked429(target: string): Promise<Answer> {
  const from = '127.2.0.1';
  for (let requests = 0; requests < 1000; requests += 1) {
    const answer = await ask(whole, target, { from });
    if (answer.status === 429) return answer;
  }
  throw new Error('the limit was never met');
}

function urlOf(at: string, value?: string): string {
  const get = description.paths[at]?.get;
  const parameter = get && parameterOf(get);
  if (parameter === undefined) return at;
  // Examples of the description are declared: those of the tree are in snapshot.json.
  const real = snapshotOf(out).routes.find((route) => route.path === at)?.['example'];
  if (value === undefined && parameter.in === 'path' && typeof real === 'string') return real;
  // Of bundles there is the second alone.
  const filled = value ?? '2';
  return parameter.in === 'query' ? `${at}?${parameter.name}=${filled}` : at.replace(/\{\w+\}/, filled);
}

const PROVOKED: Readonly<Record<string, (at: string) => Promise<Answer>>> = {
  200: (at) => asStranger(whole, urlOf(at)),
  206: (at) => asStranger(whole, urlOf(at), { headers: { Range: 'bytes=0-3' } }),
  304: (at) => asStranger(whole, urlOf(at), { headers: { 'If-None-Match': '*' } }),
  400: (at) => asStranger(whole, urlOf(at, 'xyz.json')),
  404: (at) => asStranger(whole, urlOf(at, '9007199254740991')),
  412: (at) => asStranger(whole, urlOf(at), { headers: { 'If-Match': '"another"' } }),
  414: (at) => asStranger(whole, urlOf(at, '1'.repeat(MAX_PATH_BYTES))),
  416: (at) => asStranger(whole, urlOf(at), { headers: { Range: 'bytes=99999999-' } }),
  429: (at) => asked429(urlOf(at)),
  500: (at) => askBroken(urlOf(at)),
  503: (at) => asStranger(empty, urlOf(at)),
  default: (at) => asStranger(whole, urlOf(at), { method: 'POST' }),
};

/** What HTTP itself has on any answer, and OpenAPI in other places. */
const PLAIN = new Set(['content-type', 'date', 'connection', 'keep-alive']);

/** Headers whose value is the example's, or begins with it. */
const EXACT = new Set(
  (
    'Access-Control-Allow-Origin Access-Control-Expose-Headers X-Content-Type-Options RateLimit-Policy ' +
    'Cache-Control CDN-Cache-Control Content-Security-Policy Accept-Ranges Vary Allow Link'
  ).split(' '),
);

function expectHeaders(answer: Answer, said: Response, what: string): void {
  const described = Object.entries(said.headers).map(
    ([name, reference]) => [name, named(description.components.headers, reference)] as const,
  );
  const names = new Set(described.map(([name]) => name.toLowerCase()));
  const sent = answer.names.map((name) => name.toLowerCase()).filter((name) => !PLAIN.has(name));
  expect(
    sent.filter((name) => !names.has(name)),
    `${what}: sent, not described`,
  ).toEqual([]);
  const required = described.flatMap(([name, header]) => (header.required ? [name.toLowerCase()] : []));
  expect(sent, `${what}: described, not sent`).toEqual(expect.arrayContaining(required));
  for (const [name, { example }] of described) {
    const value = answer.headers[name.toLowerCase()];
    if (!EXACT.has(name) || value === undefined) continue;
    expect(String(value).slice(0, name === 'Link' ? example.length : undefined), `${what}: ${name}`).toBe(
      example,
    );
  }
}

function expectBody(answer: Answer, said: Response, at: string, what: string): void {
  const type = (answer.headers['content-type'] ?? '').replace(/;.*/, '');
  expect(type === '' ? [] : [type], what).toEqual(Object.keys(said.content ?? {}));
  if (answer.status === 206 || answer.status === 304) return;
  const schema = answer.status === 200 ? schemaNameOf(description, at) : 'Problem';
  if (schema === undefined) return;
  expect(strictly(schema, JSON.parse(answer.text)), what).toEqual([]);
}

const PATHS = ROUTES.filter(isDescribed).map((route) => route.path);

it.each(PATHS)('the proxy answers %s with each status that is described, as it is described', async (at) => {
  const statuses = Object.keys(description.paths[at]?.get.responses ?? {});
  expect(statuses).toEqual(expect.arrayContaining(['200', '304', '412', '429', '500', '503', 'default']));
  for (const status of statuses) {
    // This one is in memory as long as it is in service.
    if (status === '500' && at === '/snapshot.json') continue;
    const what = `${status} ${at}`;
    const answer = await PROVOKED[status]?.(at);
    if (answer === undefined) throw new Error(`no way is known to ${what}`);
    expect(String(answer.status), what).toBe(status === 'default' ? '405' : status);
    const said = responseOf(description, at, status === 'default' ? status : Number(status));
    expectHeaders(answer, said, what);
    expectBody(answer, said, at, what);
  }
});

const SHOWN: Readonly<Record<string, () => Promise<Pick<Answer, 'text'>>>> = {
  invalid_id: () => asStranger(whole, '/api/v1/group/abc'),
  invalid_limit: () => asStranger(whole, '/api/v1/largest?limit=0'),
  invalid_prefix: () => asStranger(whole, '/api/v1/lookup/username/Marlow'),
  invalid_path: () => asStranger(whole, '/api/v1/group/..'),
  not_found: () => asStranger(whole, '/api/v1/group/9007199254740991'),
  method_not_allowed: () => asStranger(whole, '/api/v1', { method: 'POST' }),
  precondition_failed: () => asStranger(whole, '/api/v1/stats', { headers: { 'If-Match': '"another"' } }),
  uri_too_long: () => asStranger(whole, `/${'0'.repeat(MAX_PATH_BYTES)}`),
  range_not_satisfiable: () => asStranger(whole, '/api/v1/stats', { headers: { Range: 'bytes=5000-' } }),
  rate_limited: () => asked429('/api/v1/stats'),
  internal: () => askBroken('/api/v1/stats'),
  no_snapshot: () => asStranger(empty, '/api/v1'),
  // No client of HTTP would send these.
  invalid_request: () => askedRaw('GET /api/v1 HTTP/1.1\r\nHost: @\r\n\r\n'),
  version_not_supported: () => askedRaw('GET /api/v1 HTTP/2.0\r\nHost: x\r\n\r\n'),
};
const askedRaw = async (request: string) => {
  return { text: (await askRaw(whole, request)).split('\r\n\r\n')[1] ?? '' };
};

it.each(PROBLEMS.map(({ code }) => code))('the error %s is shown as the proxy answers it', async (code) => {
  const shown = Object.values(description.components.responses)
    .flatMap(({ content = {} }) => Object.values(content))
    .flatMap(({ examples = {} }) => examples[code]?.value ?? []);
  expect(shown.length).toBeGreaterThan(0);
  const answer = await SHOWN[code]?.();
  // How large a file is, and how long to wait, is not the same each time.
  const plain = (text: string) =>
    ['range_not_satisfiable', 'rate_limited'].includes(code)
      ? text.replaceAll(/\d+ (bytes|s)\b/g, 'N $1')
      : text;
  for (const body of shown) expect(plain(JSON.stringify(body))).toBe(plain(answer?.text ?? ''));
});
