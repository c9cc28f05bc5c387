/** Batches of documents between threads, in one thread. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Receiver, Sender, newMemory } from '../../generator/rendering/batches.js';
import type { Batch } from '../../generator/rendering/batches.js';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Some batches on their way, each of one document. */
function batches(count: number): { memory: SharedArrayBuffer; received: readonly Batch[] } {
  const memory = newMemory();
  const receiver = new Receiver(memory);
  const received: Batch[] = [];
  const sender = new Sender(memory, (sent) => received.push(receiver.receive(sent)));
  for (let key = 1; key <= count; key += 1) {
    sender.add('group', key, `{"id":${key}}`);
    sender.flush();
  }
  return { memory, received };
}

const release = (received: readonly Batch[], order: readonly number[]): void => {
  for (const number of order) received[number]?.release();
};

const taken = (memory: SharedArrayBuffer): number => Atomics.load(new Int32Array(memory), 0);

describe('memory that batches lie in', () => {
  it('is free again only when all batches before are', () => {
    const { memory, received } = batches(5);
    release(received, [1, 2]);
    expect(taken(memory)).toBe(0);
    release(received, [0]);
    expect(taken(memory)).toBe(3);
  });

  it.each([
    ['in their order', [0, 1, 2, 3, 4]],
    ['all at once, by the first', [1, 2, 3, 4, 0]],
    ['some at once', [0, 1, 2, 4, 3]],
  ])('wakes who waits for it when half of them are taken, %s', (_, order) => {
    const woken = vi.spyOn(Atomics, 'notify');
    release(batches(5).received, order);
    expect(woken).toHaveBeenCalledTimes(1);
  });
});
