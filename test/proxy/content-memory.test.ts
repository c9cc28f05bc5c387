import { describe, expect, it } from 'vitest';

import { ContentMemory } from '../../proxy/content-memory.js';

const GENERATION = 1;
const keep = (memory: ContentMemory, key: string): void =>
  memory.keep(key, undefined, { of: undefined, generation: GENERATION });
const isThere = (memory: ContentMemory, key: string): boolean => memory.get(key) !== undefined;

describe('ContentMemory', () => {
  it('keeps what is used now and then while thousands come by once', () => {
    const memory = new ContentMemory(100 * 1_024);
    for (let index = 0; index < 10; index += 1) keep(memory, `hot ${index}`);
    const used: boolean[] = [];
    for (let index = 0; index < 5_000; index += 1) {
      keep(memory, `cold ${index}`);
      // Each of the ten once in 50 others; a hundred fit.
      if (index % 5 === 0) used.push(memory.use(`hot ${(index / 5) % 10}`, GENERATION) !== undefined);
    }
    expect(used).not.toContain(false);
    expect(memory.bytes).toBeLessThanOrEqual(100 * 1_024);
  });

  it('makes room also when everything was used', () => {
    const memory = new ContentMemory(16 * 1_024);
    for (let index = 0; index < 1_000; index += 1) {
      keep(memory, String(index));
      memory.use(String(index), GENERATION);
      expect(memory.bytes).toBeLessThanOrEqual(16 * 1_024);
    }
    expect(isThere(memory, '999')).toBe(true);
    expect(isThere(memory, '0')).toBe(false);
  });

  it('lets go what was used once, long ago', () => {
    const memory = new ContentMemory(16 * 1_024);
    keep(memory, 'once');
    memory.use('once', GENERATION);
    for (let index = 0; index < 100; index += 1) keep(memory, String(index));
    expect(isThere(memory, 'once')).toBe(false);
  });
});
