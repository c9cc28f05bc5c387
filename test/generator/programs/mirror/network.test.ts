/** What a mirror makes of a network that fails, limits, and origins that are broken or hostile. */
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createKey } from '../../../../generator/programs/log/key-file.js';
import { RequestBudget } from '../../../../generator/programs/mirror/limits.js';
import { OPERATOR } from '../../../support/build.js';
import { snapshot } from '../../../support/cli.js';
import { writeRegister } from '../../../support/register.js';
import { redescribe } from '../../../support/state.js';
import { inState, removeTree } from '../../../support/tree.js';
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

/** Sends the first half and closes the connection. */
const cut = (response: ServerResponse, body: Buffer) => {
  response.writeHead(200, { 'content-length': body.length, etag: '"another"' });
  response.write(body.subarray(0, body.length / 2), () => response.destroy());
};

async function copied(...options: string[]) {
  const result = await copy.copied(...options);
  expect(await damageOf(out)).toEqual([]);
  return result;
}

it('a download whose connection broke begins again if the file is another by now', async () => {
  origin.publish(LONG);
  origin.atFirst(GROUPS, 1, cut);
  const { asked } = await copied();
  expect(asked.filter((each) => each.startsWith(GROUPS))).toEqual([
    GROUPS,
    expect.stringContaining(`${GROUPS} bytes=`),
  ]);
});

describe('a server', () => {
  it.each([429, 503])('that responds %i is asked again when it says', async (status) => {
    origin.publish(ONE);
    origin.atFirst('/brand.bin', 1, (response) =>
      response.writeHead(status, { 'retry-after': '2' }).end('later'),
    );
    const { asked } = await copied();
    expect(waits).toContain(2000);
    expect(asked.filter((each) => each === '/brand.bin')).toHaveLength(2);
  });

  it.each(['Sun, 06 Nov 1994 08:50:39 GMT', 'Sunday, 06-Nov-94 08:50:39 GMT', 'Sun Nov  6 08:50:39 1994'])(
    'that names %s is asked again then, by its own clock',
    async (date) => {
      vi.stubEnv('TZ', 'Asia/Tokyo');
      onTestFinished(() => void vi.unstubAllEnvs());
      origin.publish(ONE);
      const headers = { 'retry-after': date, date: 'Sun, 06 Nov 1994 08:49:49 GMT' };
      origin.atFirst('/brand.bin', 1, (response) => response.writeHead(429, headers).end());
      await copied();
      expect(waits).toContain(50_000);
    },
  );

  it('that names a date without having one is asked again then, by the clock here', async () => {
    origin.publish(ONE);
    origin.atFirst('/brand.bin', 1, (response) => {
      response.sendDate = false;
      // See `inProcess`.
      response.writeHead(503, { 'retry-after': 'Thu, 24 Dec 2026 00:00:50 GMT' }).end();
    });
    await copied();
    expect(waits).toContain(50_000);
  });

  it.each(['Sun, 06 Nov 1994 08:49:37 GMT', '-5', '1.5', 'soon'])(
    'that names %j, which is no time to come, is asked again after a second',
    async (date) => {
      origin.publish(ONE);
      origin.atFirst('/brand.bin', 1, (response) => response.writeHead(429, { 'retry-after': date }).end());
      await copied();
      expect(waits.filter((ms) => ms >= 1000)).toEqual([1000]);
    },
  );

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

  it('gets all requests on one connection, and learns who asks', async () => {
    origin.publish(ONE);
    const [sockets, agents] = [new Set<unknown>(), new Set<unknown>()];
    origin.instead = ({ socket, headers }) => {
      sockets.add(socket);
      agents.add(headers['user-agent']);
      return false;
    };
    await copied();
    expect(sockets.size).toBe(1);
    expect([...agents]).toEqual(['test/0.0.0 (mirror)']);
  });

  it('is asked no more often than its limits permit', async () => {
    origin.limits = { tokens: 4, refill_seconds: 0.25 };
    origin.publish(ONE);
    const start = performance.now();
    const { asked } = await copied();
    // 9 requests, the first before the limits are known; page and API have a bucket each.
    expect(Math.max(...waits) + performance.now() - start).toBeGreaterThan(3 * 250);
    expect(asked.filter((each) => each === '/snapshot.json')).toHaveLength(1);
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
    expect(await refused('--patience', '4320')).toEqual([
      3,
      expect.stringMatching(
        /would take at least [\d,]+ min by its limits, longer than the 4,320 min that a run may take/,
      ),
    ]);
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

  it.each(['0', '4321', 'long'])("can't be %s", async (minutes) => {
    const { code, stderr } = await inProcess('mirror', base, '--out', out, '--patience', minutes);
    expect([code, stderr]).toEqual([2, expect.stringContaining('expected a whole number from 1 to 4320')]);
  });
});

describe('the limits', () => {
  const DAY = 24 * 3600;
  const limits = {
    api: { tokens: 3, refill_seconds: 1000 },
    download: { tokens: 2, refill_seconds: 100, token_bytes: 200 },
    // A timer of that many seconds would overflow.
    page: { tokens: 1, refill_seconds: 1e9 },
  };

  it('count a download against both buckets, and a range by its share', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const budget = new RequestBudget();
    expect([1, 2, 3, 4].map(() => budget.take('api', 1))).toEqual([0, 0, 0, 0]);
    budget.limits = limits;
    const costs = [
      [400, 400],
      [100, 100],
      [100, 400],
      [1, 1],
    ] as const;
    expect(costs.map(([bytes, size]) => budget.costOf(bytes, size))).toEqual([1, 0.5, 0.25, 0.01]);
    expect([1, 0.5].map((cost) => budget.take('download', cost))).toEqual([0, 0]);
    // Half a token is left of two, and one of three.
    const download = { bucket: 'download', bytes: 100 } as const;
    expect(budget.msFor([download, download])).toBe(1_000_000);
    expect(budget.msFor([{ ...download, bytes: 400 }])).toBe(50_000);
    expect([1, 0.01].map((cost) => budget.take('download', cost))).toEqual([50_000, 1_000_000]);
    vi.advanceTimersByTime(1_000_000);
    expect(budget.take('api', 1)).toBe(1_000_000);
    expect([1, 2, 3].map(() => budget.take('page', 1))).toEqual([0, 1000 * DAY, 2000 * DAY]);
  });
});

it.each(['/changes/../../outside', '/api/v1/stats'])(
  'change files of the name %j are refused',
  async (file) => {
    origin.publish(ONE);
    origin.publish(documentsOf({ 3: 'three' }));
    const index = String(origin.files.get('/changes/index.json'));
    const other = index.replace('"/changes/2.json"', JSON.stringify(file));
    origin.files.set('/changes/index.json', Buffer.from(other));
    expect(await refused()).toEqual([1, expect.stringMatching(/index\.json of the origin can't be used/)]);
  },
);

it('an origin that publishes nothing, or a page in the place of snapshot.json, is refused', async () => {
  expect(await refused()).toEqual([
    1,
    expect.stringContaining(`no copy equals ${base}: /snapshot.json is not there`),
  ]);
  origin.files.set('/snapshot.json', Buffer.from('<html>'));
  expect(await refused()).toEqual([1, expect.stringMatching(/snapshot\.json of the origin can't be used/)]);
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
  expect(await refused()).toEqual([
    1,
    expect.stringMatching(/downloads are damaged: .* has more than \d+ bytes of documents/),
  ]);
});

/** Builds a tree where the copy is to be. */
const built = () => {
  const register = writeRegister(path('register.sqlite'), { groups: [{ id: 1 }] });
  return inProcess('build', '--quiet', '--register', register, '--operator', OPERATOR, '--out', out);
};

/** Runs it in vain, since there is a tree that is no copy. */
const expectLeftAlone = async () => {
  const before = readdirSync(out, { recursive: true });
  expect(await refused()).toEqual([3, expect.stringContaining('is not known to be a copy: choose another')]);
  expect(readdirSync(out, { recursive: true })).toEqual(before);
};

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
    expect((await built()).stderr).not.toContain('is a copy');
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

it.each(['ftp://127.0.0.1', 'http://127.0.0.1/register', 'http://user@127.0.0.1', 'http://a/?b'])(
  'the base URL %s is refused',
  async (url) => {
    const { code, stderr } = await inProcess('mirror', url, '--out', out);
    expect([code, stderr]).toEqual([2, expect.stringContaining('is no base URL: expected http or https')]);
  },
);
