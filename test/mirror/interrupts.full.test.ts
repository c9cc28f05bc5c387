/** A signal to a mirror whose origin keeps it busy for minutes without sending anything. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { damageOf, sha256, start, temporary, until } from '../publish/support.js';
import { MadeUpOrigin, ROUTES, documentsOf } from './made-up.js';

const path = temporary();
let origin: MadeUpOrigin;
let base: string;
beforeEach(async () => {
  origin = new MadeUpOrigin();
  base = await origin.start(0);
});
afterEach(() => origin.stop());

const object = z.record(z.string(), z.unknown());
const indexSchema = z.looseObject({ changes: z.array(z.looseObject({ sequence: z.int() })) });

/** Has the last snapshot's list name ten thousand documents in each of thousands of lines. */
function nameMany(): void {
  const file = '/changes/2.json';
  const values = { type: 'integer', minimum: 1, maximum: 10_000, default: 2, description: '' };
  const parameters = [{ name: 'limit', in: 'query' as const, ...values }];
  origin.routes = ROUTES.map((each) => (each.name === 'largest' ? { ...each, parameters } : each));
  origin.announce();
  const list = object.parse(JSON.parse(String(origin.files.get(file))));
  const line = { path: '/api/v1/largest?limit={limit}', documents: 10_000, sha256: sha256('x'), bytes: 10 };
  const content = Buffer.from(JSON.stringify({ ...list, put: Array.from({ length: 20_000 }, () => line) }));
  const described = { file, bytes: content.length, sha256: sha256(content), bundle: null };
  origin.files.set(file, content);
  const index = indexSchema.parse(JSON.parse(String(origin.files.get('/changes/index.json'))));
  const changes = index.changes.map((each) => (each.sequence === 2 ? { ...each, ...described } : each));
  origin.files.set('/changes/index.json', Buffer.from(JSON.stringify({ ...index, changes })));
}

/** Processor time that a process has used, in ticks of 10 ms. */
function ticksOf(pid: number): number {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ').slice(13, 15);
  return Number(user) + Number(system);
}

it.each(['SIGINT', 'SIGTERM'] as const)(
  '%s ends a mirror that reads a list of endless changes',
  async (signal) => {
    const out = path('copy');
    origin.publish(documentsOf({ 1: 'one' }));
    expect(await start(['mirror', base, '--out', out, '--quiet']).done).toMatchObject({ code: 0 });
    const before = readFileSync(join(out, 'snapshot.json'), 'utf8');
    origin.publish(documentsOf({ 1: 'one', 2: 'two' }));
    nameMany();
    const { child, done, pid } = start(['mirror', base, '--out', out, '--quiet']);
    try {
      await until(() => origin.log.includes('/changes/2.json'), 'it fetches the list');
      const ticks = ticksOf(pid);
      await until(() => ticksOf(pid) > ticks + 100, 'it reads the list');
      child.kill(signal);
      const { code, stderr } = await done;
      expect([code, stderr]).toEqual([
        130,
        `error: stopped by ${signal}; the published tree is what it was\n`,
      ]);
    } finally {
      child.kill('SIGKILL');
    }
    expect(readFileSync(join(out, 'snapshot.json'), 'utf8')).toBe(before);
    expect(await damageOf(out)).toEqual([]);
  },
  60_000,
);
