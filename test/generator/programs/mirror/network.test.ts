/** What a mirror makes of a network that fails, limits, and origins that are broken or hostile. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createKey } from '../../../../generator/programs/log/key-file.js';
import { RequestBudget } from '../../../../generator/programs/mirror/limits.js';
import { OPERATOR } from '../../../support/build.js';
import { snapshot } from '../../../support/cli.js';
import { writeRegister } from '../../../support/register.js';
import { redescribe } from '../../../support/state.js';
import { inState, removeTree } from '../../../support/tree.js';
import { containing, matching } from '../../../support/values.js';
import { damageOf, inProcess, sha256 } from '../../publish/support.js';
import { documentsOf, zipped } from './made-up.js';
import { copying } from './copies.js';

const { path, origin, base, out, waits, refused, ...copy } = await copying();

const ONE = documentsOf({ 1: 'one', 2: 'two' });
const GROUPS = '/downloads/documents/group.ndjson.gz';
/** Too long for one packet, and hardly compressible. */
const LONG = documentsOf(
  Object.fromEntries(Array.from({ length: 4000 }, (_, at) => [at + 1, sha256(`group ${at}`)])),
);

async function copied(...options: string[]) {
  const result = await copy.copied(...options);
  expect(await damageOf(out)).toEqual([]);
  return result;
}

it('a download whose connection broke begins again if the file is another by now', async () => {
  origin.publish(LONG);
  origin.atFirst(GROUPS, 1, (response, body) => {
    response.writeHead(200, { 'content-length': body.length, etag: '"another"' });
    response.write(body.subarray(0, body.length / 2), () => response.destroy());
  });
  const { asked } = await copied();
  const parts = asked.filter((each) => each.startsWith(GROUPS));
  expect(parts).toEqual([GROUPS, containing(`${GROUPS} bytes=`)]);
});

describe('a server', () => {
  const [NOW, LATER] = ['Sun, 06 Nov 1994 08:49:49 GMT', 'Sun, 06 Nov 1994 08:50:39 GMT'];
  it.each<[number, number, Record<string, string>, what: string]>([
    [2000, 429, { 'retry-after': '2' }, 'seconds'],
    [2000, 503, { 'retry-after': '2' }, 'seconds'],
    [50_000, 429, { 'retry-after': LATER, date: NOW }, 'a date, by the clock of the server'],
    [50_000, 429, { 'retry-after': 'Sunday, 06-Nov-94 08:50:39 GMT', date: NOW }, 'a date of RFC 850'],
    [50_000, 429, { 'retry-after': 'Sun Nov  6 08:50:39 1994', date: NOW }, 'a date of asctime'],
    // See `inProcess`.
    [50_000, 503, { 'retry-after': 'Thu, 24 Dec 2026 00:00:50 GMT' }, 'a date, by the clock here'],
    [1000, 429, { 'retry-after': LATER }, 'a date of the past'],
    [1000, 429, { 'retry-after': '-5' }, 'less than none'],
    [1000, 429, { 'retry-after': '1.5' }, 'parts of seconds'],
    [1000, 429, { 'retry-after': 'soon' }, 'a word'],
  ])('is asked again after %d ms that responds %d with %j: %s', async (ms, status, headers) => {
    vi.stubEnv('TZ', 'Asia/Tokyo');
    onTestFinished(() => void vi.unstubAllEnvs());
    origin.publish(ONE);
    origin.atFirst('/brand.bin', 1, (response) => {
      response.sendDate = false;
      response.writeHead(status, headers).end('later');
    });
    const { asked } = await copied();
    expect(waits.filter((each) => each >= 1000)).toEqual([ms]);
    expect(asked.filter((each) => each === '/brand.bin')).toHaveLength(2);
  });

  it('that redirects within itself is followed, to another host never', async () => {
    origin.publish(ONE);
    origin.atFirst('/brand.bin', 1, (response) => response.writeHead(308, { location: '/brand.bin?' }).end());
    origin.files.set('/brand.bin?', origin.files.get('/brand.bin') ?? Buffer.alloc(0));
    await copied();
    removeTree(out);
    for (const [location, times] of [
      ['http://localhost:1/snapshot.json', 1],
      ['/snapshot.json', 9],
    ] as const) {
      origin.atFirst('/snapshot.json', times, (response) => response.writeHead(302, { location }).end());
      expect(await refused()).toEqual([3, expect.stringContaining(`redirects to "${location}"`)]);
    }
  });

  it('is asked on one connection, no more often than its limits permit, and learns who asks', async () => {
    origin.limits = { tokens: 4, refill_seconds: 0.25 };
    origin.publish(ONE);
    const [sockets, agents] = [new Set<unknown>(), new Set<unknown>()];
    origin.instead = ({ socket, headers }) => {
      sockets.add(socket);
      agents.add(headers['user-agent']);
      return false;
    };
    const start = performance.now();
    const { asked } = await copied();
    // 9 requests, the first before the limits are known; page and API have a bucket each.
    expect(Math.max(...waits) + performance.now() - start).toBeGreaterThan(3 * 250);
    expect(asked.filter((each) => each === '/snapshot.json')).toHaveLength(1);
    expect([sockets.size, ...agents]).toEqual([1, 'test/0.0.0 (mirror)']);
  });
});

describe('the patience of a mirror', () => {
  it('ends at once if the limits of the origin let nothing through in time', async () => {
    origin.publish(ONE);
    await copied();
    origin.publish(documentsOf({ 1: 'one', 3: 'three' }));
    origin.limits = { tokens: 1, refill_seconds: 7200 };
    origin.announce();
    waits.length = 0;
    // Four requests to the API and a bundle, which counts there as well, of which one need not wait.
    const { stderr } = await snapshot(['mirror', base, '--out', out]);
    expect(stderr).toContain(`${base} takes at least 480 min by its limits\n`);
    expect(await refused()).toEqual([
      3,
      `error: ${base} would have sent nothing for 120 min by its limits, longer than the patience of 60 min; the published tree is what it was\n`,
    ]);
    expect(waits.filter((ms) => ms >= 1000)).toEqual([]);
    // As no time passes here, each wait is longer than the one before.
    await copied('--patience', '4320');
    expect(Math.max(...waits)).toBeGreaterThan(7_000_000);
  });

  it('is not tried if a run can never be long enough', async () => {
    origin.limits = { tokens: 1, refill_seconds: 24 * 3600 };
    origin.publish(ONE);
    origin.asked();
    const reason =
      /would take at least [\d,]+ min by its limits, longer than the 4,320 min that a run may take/;
    expect(await refused('--patience', '4320')).toEqual([3, matching(reason)]);
    expect(origin.asked()).toEqual(['/snapshot.json']);
  });

  it('ends as soon as the origin asks for too long a wait, or for too many', async () => {
    origin.publish(ONE);
    const refusedFor = async (seconds: number): Promise<[number | null, string]> => {
      waits.length = 0;
      const headers = { 'retry-after': `${seconds}` };
      origin.atFirst('/brand.bin', 9, (response) => response.writeHead(429, headers).end());
      return refused();
    };
    const why = String.raw`min \(/brand\.bin: the response is 429\)`;
    expect(await refusedFor(7200)).toEqual([3, expect.stringMatching(`for 120 ${why}`)]);
    expect(waits.filter((ms) => ms >= 1000)).toEqual([]);
    expect(await refusedFor(1800)).toEqual([3, expect.stringMatching(`for 90 ${why}`)]);
    expect(waits.filter((ms) => ms >= 1000)).toEqual([1_800_000, 1_800_000]);
  });

  it('begins again with whatever arrives', async () => {
    origin.publish(ONE);
    const refusedOnce = new Set<string>();
    origin.instead = ({ url = '' }, response) => {
      if (refusedOnce.has(url)) return false;
      refusedOnce.add(url);
      response.writeHead(503, { 'retry-after': '3000' }).end();
      return true;
    };
    await copied();
    expect(waits.filter((ms) => ms === 3_000_000).length).toBeGreaterThan(5);
  });
});

it('the limits count a download against both buckets, and a range by its share', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const budget = new RequestBudget();
  expect([1, 2, 3, 4].map(() => budget.take('api', 1))).toEqual([0, 0, 0, 0]);
  const page = { tokens: 1, refill_seconds: 1e9 };
  const download = { tokens: 2, refill_seconds: 100, token_bytes: 200 };
  budget.limits = { api: { tokens: 3, refill_seconds: 1000 }, download, page };
  expect([budget.costOf(400, 400), budget.costOf(100, 400), budget.costOf(1, 1)]).toEqual([1, 0.25, 0.01]);
  expect([1, 0.5].map((cost) => budget.take('download', cost))).toEqual([0, 0]);
  // Half a token is left of two, and one of three.
  const half = { bucket: 'download', bytes: 100 } as const;
  expect(budget.msFor([half, half])).toBe(1_000_000);
  expect([1, 0.01].map((cost) => budget.take('download', cost))).toEqual([50_000, 1_000_000]);
  // A timer of that many seconds would overflow: no token takes longer than a day.
  const DAY_MS = 24 * 3600 * 1000;
  expect([1, 2, 3].map(() => budget.take('page', 1))).toEqual([0, DAY_MS, 2 * DAY_MS]);
});

it.each(['/changes/../../outside', '/api/v1/stats'])(
  'change files of the name %j are refused',
  async (file) => {
    origin.publish(ONE);
    origin.publish(documentsOf({ 3: 'three' }));
    const index = String(origin.files.get('/changes/index.json'));
    origin.files.set('/changes/index.json', Buffer.from(index.replace('/changes/2.ndjson.gz', file)));
    expect(await refused()).toEqual([1, containing("index.json of the origin can't be used")]);
  },
);

it('an origin that publishes nothing, or a page in the place of snapshot.json, is refused', async () => {
  expect(await refused()).toEqual([1, containing(`no copy equals ${base}: /snapshot.json is not there`)]);
  origin.files.set('/snapshot.json', Buffer.from('<html>'));
  expect(await refused()).toEqual([1, containing("snapshot.json of the origin can't be used")]);
});

it('a bundle that leads to something else is given up for a copy from the start', async () => {
  origin.publish(ONE);
  await copied();
  origin.publish(documentsOf({ 1: 'new', 2: 'two' }));
  const lines = [
    { tree: origin.tree, from: 1, to: 2 },
    { path: '/api/v1/stats', sha256: sha256('a'), bytes: 1, body: 'a' },
  ];
  origin.putBundle(zipped(lines.map((line) => JSON.stringify(line))));
  expect(await copied()).toMatchObject({ fetched: 'everything' });
  const group: unknown = JSON.parse(readFileSync(join(out, 'api/v1/group/1.json'), 'utf8'));
  expect(group).toEqual({ id: 1, name: 'new' });
});

it('other documents larger than the origin says are not stored', async () => {
  origin.publish(ONE);
  const downloads = [...origin.files].filter(([file]) => file.startsWith('/downloads/'));
  // More than each compressed file, and less than the documents in them.
  const most = Math.max(...downloads.map(([, content]) => content.length));
  origin.publish({ ...ONE, '/api/v1/stats': JSON.stringify({ text: 'a'.repeat(10 * most) }) });
  origin.announce({ tree: { id: origin.tree, files: 10, bytes: 5 * most } });
  const reason = /downloads are damaged: .* has more than \d+ bytes of documents/;
  expect(await refused()).toEqual([1, matching(reason)]);
});

/** Builds a tree where the copy is to be. */
const built = () => {
  const register = writeRegister(path('register.sqlite'), { groups: [{ id: 1 }] });
  return inProcess('build', '--quiet', '--register', register, '--operator', OPERATOR, '--out', out);
};

/** Runs it in vain, since there is a tree that is no copy. */
const expectLeftAlone = async () =>
  expect(await refused()).toEqual([3, containing('is not known to be a copy: choose another')]);

describe('a folder', () => {
  it('that holds another tree is left alone', async () => {
    origin.publish(ONE);
    await copied();
    origin.announce({}, '2026-12-02T00:00:00Z');
    // The same tree: it is a copy that lost its state, and has one again.
    rmSync(inState(out), { recursive: true });
    await copied();
    rmSync(inState(out), { recursive: true });
    origin.tree = 'c'.repeat(16);
    origin.announce();
    await expectLeftAlone();
    expect(existsSync(inState(out))).toBe(false);
  });

  it('that holds the origin itself is left alone', async () => {
    // As the state has it that builds publish.
    origin.publish(ONE);
    await copied();
    rmSync(inState(out, 'mirror'), { recursive: true });
    redescribe(out, (described) => ({ ...described, isCopy: false }));
    await expectLeftAlone();
    expect(existsSync(inState(out, 'mirror'))).toBe(false);
  });

  it('in which a mirror failed can be built into, again and again, and is left alone then', async () => {
    origin.publish(ONE);
    origin.atFirst('/', 9, (response) => response.writeHead(403).end());
    expect(await refused()).toEqual([3, expect.stringContaining('the response is 403')]);
    expect(existsSync(inState(out, 'mirror'))).toBe(true);
    for (const _ of [1, 2]) expect(await built()).toMatchObject({ code: 0, stderr: '' });
    origin.instead = () => false;
    await expectLeftAlone();
  });

  it('that is a copy is left alone by builds and signed by nobody, whatever tree its origin has begun since', async () => {
    const key = path('key');
    createKey('register.example/log', key);
    origin.publish(ONE);
    for (const tree of ['a', 'd']) {
      origin.tree = tree.repeat(16);
      origin.announce();
      await copied();
      const { code, stderr } = await built();
      expect([code, stderr]).toEqual([3, expect.stringContaining('is a copy, whose snapshots')]);
      const signed = await inProcess('sign', '--out', out, '--operator', OPERATOR, '--key', key);
      expect([signed.code, signed.stderr]).toEqual([3, expect.stringContaining('its origin signs')]);
    }
  });
});

const NO_BASE = 'is no base URL: expected http or https';
const NO_MINUTES = 'expected a whole number from 1 to 4320';
it.each([
  ...['ftp://127.0.0.1', 'http://127.0.0.1/x', 'http://user@127.0.0.1', 'http://a/?b'].map((url) => [
    NO_BASE,
    url,
  ]),
  ...['0', '4321', 'long'].map((minutes) => [NO_MINUTES, base, '--patience', minutes]),
])('%s: it is refused to mirror %j %s %s', async (message = '', ...args) => {
  const ended = await inProcess('mirror', ...args, '--out', out);
  expect(ended).toMatchObject({ code: 2, stderr: containing(message) });
});
