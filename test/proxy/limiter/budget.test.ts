import { connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';

import { LateError, within } from '../../../proxy/limiter/budget.js';

describe('within', () => {
  it('throws LateError when the time is over, and what the answer throws before', async () => {
    await expect(within(20, pause(1_000, 'late', { ref: false }))).rejects.toThrow(LateError);
    await expect(within(20, Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await expect(within(20, pause(1, 'in time'))).resolves.toBe('in time');
  });

  it('does not blame the other side for a pause of this process', async () => {
    const server = createServer((socket) => socket.end('answer'));
    onTestFinished(() => void server.close());
    await new Promise<void>((settle) => {
      server.listen(0, '127.0.0.1', settle);
    });
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('expected to listen on a port');
    const answer = new Promise<string>((settle) => {
      connect(address.port, '127.0.0.1').once('data', (data: Buffer) => settle(data.toString()));
    });
    // Connected and answered by the kernel meanwhile or not: nothing is read for 100 ms.
    setImmediate(() => {
      const startedMs = performance.now();
      while (performance.now() - startedMs < 100);
    });
    await expect(within(50, answer)).resolves.toBe('answer');
  });
});
