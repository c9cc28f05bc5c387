import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';

import { baseUrl, listen, passedSocket } from '../../proxy/listen.js';
import { emptyFolder } from './support.js';

/** What is passed to process 7, and what is logged. */
function passed(environment: Record<string, string>): [number | undefined, string[]] {
  const lines: string[] = [];
  return [passedSocket(environment, 7, (line) => void lines.push(line)), lines];
}

const why = (pid: string): string =>
  `ignoring LISTEN_FDS: LISTEN_PID is "${pid}", and this process is 7 (have a script in between start it with exec)`;

describe('passedSocket', () => {
  it('is descriptor 3 if one is passed to this process, and none without', () => {
    expect(passed({ LISTEN_FDS: '1', LISTEN_PID: '7', LISTEN_FDNAMES: 'x' })).toEqual([3, []]);
    expect(passed({ LISTEN_PID: '7' })).toEqual([undefined, []]);
  });

  it('is none with a line if it is for another process', () => {
    expect(passed({ LISTEN_FDS: '1', LISTEN_PID: '8' })).toEqual([undefined, [why('8')]]);
    expect(passed({ LISTEN_FDS: '1' })).toEqual([undefined, [why('')]]);
  });

  it('is refused if there are several, or none', () => {
    for (const count of ['2', '0', '', '-1', '1x'])
      expect(() => passed({ LISTEN_FDS: count, LISTEN_PID: '7' })).toThrow(
        `LISTEN_FDS "${count}": expected 1, a unit with one ListenStream= ([::]:8080 takes IPv4 as well)`,
      );
  });
});

it('listen refuses a descriptor that is not open', async () => {
  await expect(listen(createServer(), 9_999, () => undefined)).rejects.toThrow(
    /^can't listen on the passed descriptor 9999 \(\w+\): expected a TCP socket that listens$/,
  );
});

it('baseUrl is empty for a socket that is not TCP', async () => {
  const server = createServer().listen(`${await emptyFolder()}/socket`);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  expect(baseUrl(server)).toBe('');
});
