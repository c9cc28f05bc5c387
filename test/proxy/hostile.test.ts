import { createServer } from 'node:net';
import { expect } from 'vitest';

import { limitedTo, UNLIMITED } from '../support/proxy.js';
import { always, isThorough, it } from '../support/thorough.js';
import { hostile } from '../system/soak/hostile.js';
import { pipelined } from '../system/soak/pipelined.js';
import { KNOWN_ATTACKS } from '../system/soak/requests.js';
import { attack } from '../system/soak/session.js';
import { makeTree } from '../system/soak/tree.js';
import { emptyFolder, GET, listenOn, listening } from './support.js';

/** The same for everybody who runs the tests; the long run (test/system/soak/main.ts) takes any. */
const SEED = 1;

it('attack notices what it is there to notice', async () => {
  const tree = makeTree(await emptyFolder());
  const heads =
    'Date: x\r\nAccess-Control-Allow-Origin: *\r\nRateLimit-Policy: x\r\nX-Content-Type-Options: x\r\n';
  const faultOf = async (answer: string): Promise<string | undefined> => {
    const port = await listenOn(createServer((socket) => void socket.end(answer)));
    return (await attack(port, [Buffer.from(GET('/'))], tree)).fault;
  };
  const answer = (status: string, length: number, body: string): string =>
    `HTTP/1.1 ${status} X\r\n${heads}Content-Length: ${length}\r\n\r\n${body}`;
  expect(await faultOf(answer('200', 8, '{"id":7}'))).toBeUndefined();
  expect(await faultOf(answer('200', 8, '{"id":9}'))).toContain('not published');
  expect(await faultOf(answer('404', 20, 'canary-3-in-the-mine'))).toContain('leaked');
  expect(await faultOf(answer('500', 0, ''))).toContain('500');
  expect(await faultOf(answer('404', 0, '').replace(heads, ''))).toBe('404 without date');
  expect(await faultOf(answer('200', 9, '{"id":7}'))).toContain('incomplete');
  expect(await faultOf('<h1>Bad Request</h1>\r\n\r\n')).toContain('status line');
});

always('the proxy answers hostile requests well-formed or closes, tells no canary, and lives', async () => {
  const { faults, statuses } = await hostile(isThorough ? 2_000 : 100, SEED);
  expect(faults).toEqual([]);
  // Not all of them were refused by the parser.
  const met = isThorough ? [0, 200, 204, 206, 304, 308, 400, 404, 405, 412, 414, 416, 431, 505] : [200, 404];
  expect([...statuses.keys()]).toEqual(expect.arrayContaining(met));
});

always('the proxy outlives clients that pipeline, read slowly or leave, and answers others', async () => {
  expect(await pipelined(isThorough ? 1_500 : 100, SEED)).toEqual({ faults: [] });
});

it('the proxy answers known attacks as they deserve', async () => {
  const tree = makeTree(await emptyFolder());
  const { port } = await listening(['--dist', tree.dist], limitedTo(UNLIMITED));
  const outcomes = await Promise.all(
    KNOWN_ATTACKS.map(async ([name, bytes]) => {
      const { answers, fault } = await attack(port, [Buffer.from(bytes, 'latin1')], tree);
      return { name, statuses: answers.map(({ status }) => status).join(' '), fault };
    }),
  );
  expect(outcomes).toEqual(KNOWN_ATTACKS.map(([name, , statuses]) => ({ name, statuses, fault: undefined })));
});
