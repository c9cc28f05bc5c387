/** Witnesses over HTTP, honest and not: what is published, and that nothing stops the publisher. */
import { afterEach, describe, expect, it } from 'vitest';
import { cosign, cosignAll } from '../../../generator/log/witness.js';
import { newKey, rootOf } from './naive.js';
import type { Key } from './naive.js';
import { checkpointOf } from './signed.js';
import { Witness, consistency } from './witness-server.js';

const log = newKey('register.example/log', 1);
const ALL = Array.from({ length: 40 }, (_, index) => `entry ${index}\n`);

const running: Witness[] = [];
afterEach(async () => {
  for (const witness of running.splice(0)) await witness.stop();
});
async function started(...logs: readonly Key[]): Promise<Witness> {
  const witness = await new Witness(...logs).start();
  running.push(witness);
  return witness;
}

const bodyOf = (entries: readonly string[]): string => checkpointOf(log.name, entries);
const signed = (entries: readonly string[], key = log): string => key.note(checkpointOf(key.name, entries));
const of = ({ url, key }: Witness) => ({ url, key: key.vkey });
const from = (entries: readonly string[]) => (old: number) => consistency(entries, old);

describe('an honest witness', () => {
  it('is asked once more from the size that it names, if it has another than is known', async () => {
    const witness = await started(log);
    witness.seen.set(log.name, { size: 7, root: rootOf(ALL.slice(0, 7)) });
    expect(await cosign(signed(ALL), of(witness), from(ALL))).toHaveProperty('line');
    expect(witness.asked.map(String)).toEqual(['0,409', '7,200']);
    witness.seen.set(log.name, { size: 0, root: rootOf([]) });
    expect(await cosign(signed(ALL), of(witness), from(ALL), { knownSize: 9 })).toHaveProperty('line');
    expect(witness.asked.slice(2).map(String)).toEqual(['9,409', '0,200']);
  });

  it('refuses another history, which is a reason that says so', async () => {
    const witness = await started(log);
    const other = ['another\n', ...ALL.slice(1)];
    witness.seen.set(log.name, { size: 7, root: rootOf(ALL.slice(0, 7)) });
    expect(await cosign(signed(other), of(witness), from(other))).toEqual({
      reason: 'its response is 422, expected 200: "not consistent"',
    });
    witness.seen.set(log.name, { size: 40, root: rootOf(ALL) });
    expect(await cosign(signed(other), of(witness), from(other))).toEqual({
      reason: 'it has cosigned another log of 40 entries, or its size changes with each request',
    });
    const short = ALL.slice(0, 3);
    expect(await cosign(signed(short), of(witness), from(short))).toEqual({
      reason: 'it has cosigned a log of 40 entries, and this one has 3',
    });
  });
});

describe('several witnesses', () => {
  it('are asked at once, and those that are down leave the cosignatures of the others', async () => {
    const [one, two, down] = [await started(log), await started(log), await started(log)];
    await down.stop();
    // Each waits for the other.
    let waiting: (() => void)[] = [];
    for (const witness of [one, two]) {
      witness.instead = (_request, response, body) => {
        waiting.push(() => response.end(witness.reply(body).body));
        if (waiting.length === 2) for (const release of waiting.splice(0)) release();
        return true;
      };
    }
    const { note, missing } = await cosignAll(signed(ALL), [of(one), of(down), of(two)], from(ALL));
    waiting = [];
    const [first, second] = [one, two].map(({ key, time }) => key.cosignature(bodyOf(ALL), time));
    expect(note).toBe(signed(ALL) + first + second);
    expect(missing.map(({ url }) => url)).toEqual([down.url]);
    expect(missing[0]?.reason).toContain('ECONNREFUSED');
  });
});

describe('a witness that lies or fails', () => {
  const note = signed(ALL);
  const body = bodyOf(ALL);

  const WRONG = 'the signature of witness.example/w1+';
  const MALFORMED = 'the note is malformed';
  async function reasonFor(respond: (witness: Witness) => string | Buffer, status = 200): Promise<unknown> {
    const witness = await started(log);
    witness.instead = (_request, response) => {
      response.writeHead(status).end(respond(witness));
      return true;
    };
    const result = await cosign(note, of(witness), from(ALL), { timeoutMs: 5000 });
    return 'reason' in result ? result.reason : result;
  }

  it.each<[string, (witness: Witness) => string | Buffer, string]>([
    ['another text before the line', ({ key }) => `x\n\n${key.cosignature(body, 1)}`, ''],
    [
      'a cosignature of another key of its name',
      ({ key }) => newKey(key.name, 4).cosignature(body, 1),
      'the note is not signed by the expected key',
    ],
    ['a cosignature of another checkpoint', ({ key }) => key.cosignature(bodyOf(ALL.slice(1)), 1), WRONG],
    ['a signature without a time', ({ key }) => key.signature(body), WRONG],
    [
      'a right cosignature and a wrong one',
      ({ key }) => key.cosignature(body, 1) + key.cosignature(bodyOf([]), 1),
      WRONG,
    ],
    ['too much', () => Buffer.alloc(70_000, 0x61), 'its response has more than 65536 bytes'],
    ['endless lines', ({ key }) => key.cosignature(body, 1).repeat(101), MALFORMED],
  ])('and sends %s adds nothing', async (_, respond, reason) => {
    const found = await reasonFor(respond);
    expect(found).toEqual(expect.any(String));
    expect(found).toContain(reason);
  });

  it.each([301, 400, 429, 500])('and responds with %i adds nothing', async (status) => {
    expect(await reasonFor(() => 'no \u0007', status)).toBe(
      `its response is ${status}, expected 200: "no \\u0007"`,
    );
  });

  it('and names no size adds nothing', async () => {
    for (const size of ['', 'x\n', '007\n', '7', '-1\n', '99999999999999999999\n'])
      expect(await reasonFor(() => size, 409)).toContain('its response is 409, expected 200');
  });

  it('and names another size each time is asked twice at most', async () => {
    const witness = await started(log);
    let requests = 0;
    witness.instead = (_request, response) => {
      requests += 1;
      response.writeHead(409).end(`${requests}\n`);
      return true;
    };
    expect(await cosign(note, of(witness), from(ALL))).toHaveProperty('reason');
    expect(requests).toBe(2);
  });

  it('and adds lines of others and of its own again and again adds one line', async () => {
    const witness = await started(log);
    const friend = newKey('friend.example', 4);
    witness.instead = (_request, response) => {
      const own = witness.key.cosignature(body, 1) + witness.key.cosignature(body, 2);
      response.end(friend.cosignature(body, 1) + own);
      return true;
    };
    expect(await cosign(note, of(witness), from(ALL))).toEqual({ line: witness.key.cosignature(body, 1) });
  });

  it('and is slow is given up, whether it says nothing or never ends', async () => {
    for (const start of ['', '\u2014 ']) {
      const witness = await started(log);
      witness.instead = (_request, response) => {
        if (start !== '') response.writeHead(200).write(start);
        return true;
      };
      expect(await cosign(note, of(witness), from(ALL), { timeoutMs: 200 })).toEqual({
        reason: 'it has not responded within 0.2 s',
      });
    }
  });

  it('and takes half of its time for each of two responses is given up after that time', async () => {
    const witness = await started(log);
    witness.instead = (_request, response) => {
      setTimeout(() => response.writeHead(409).end('7\n'), 600);
      return true;
    };
    expect(await cosign(note, of(witness), from(ALL), { timeoutMs: 1000 })).toEqual({
      reason: 'it has not responded within 1 s',
    });
  });

  it('and breaks the connection, or is no HTTP server, adds nothing', async () => {
    const witness = await started(log);
    witness.instead = (request) => {
      request.socket.destroy();
      return true;
    };
    expect(await cosign(note, of(witness), from(ALL))).toHaveProperty('reason');
    for (const url of ['http://127.0.0.1:1', 'http://witness.invalid', 'nonsense', 'file:///etc/passwd'])
      expect(Object.values(await cosign(note, { ...of(witness), url }, from(ALL))).join()).toMatch(/./);
  });

  it('and whose key is no key of a witness is not asked', async () => {
    const witness = await started(log);
    for (const key of ['', 'nonsense', log.vkey])
      expect(await cosign(note, { url: witness.url, key }, from(ALL))).toHaveProperty('reason');
    expect(witness.asked).toEqual([]);
  });
});

function broken(): never {
  throw new Error('tile 0 is missing');
}

it('a damaged log that has no proof to send is a reason, too', async () => {
  const result = await cosign(signed(ALL), of(await started(log)), broken);
  expect(result).toEqual({ reason: 'tile 0 is missing' });
});
