/** A signal to a mirror whose origin keeps it busy for minutes without sending anything. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { damageOf, sha256, start, temporary, until } from '../publish/support.js';
import { MadeUpOrigin, documentsOf } from './made-up.js';

const path = temporary();
let origin: MadeUpOrigin;
let base: string;
beforeEach(async () => {
  origin = new MadeUpOrigin();
  base = await origin.start(0);
});
afterEach(() => origin.stop());

const indexSchema = z.looseObject({ changes: z.array(z.looseObject({ sequence: z.int() })) });

/** Has the last snapshot's bundle delete a document again and again. */
function deleteMany(): void {
  const file = '/changes/2.ndjson.gz';
  const header = JSON.stringify({ tree: origin.tree, from: 1, to: 2 });
  const line = JSON.stringify({ path: '/api/v1/group/2', deleted: true });
  const lines = `${line}\n`.repeat(100_000);
  // Each of the parts is compressed once.
  const content = Buffer.concat([
    gzipSync(`${header}\n`),
    ...Array.from({ length: 100 }, () => gzipped(lines)),
  ]);
  const bundle = { file, bytes: content.length, sha256: sha256(content) };
  origin.files.set(file, content);
  origin.announce({ tree: { id: origin.tree, files: 10, bytes: 1e9 } });
  const index = indexSchema.parse(JSON.parse(String(origin.files.get('/changes/index.json'))));
  const changes = index.changes.map((each) => (each.sequence === 2 ? { ...each, bundle } : each));
  origin.files.set('/changes/index.json', Buffer.from(JSON.stringify({ ...index, changes })));
}

let compressed: Buffer | undefined;
const gzipped = (text: string): Buffer => (compressed ??= gzipSync(text));

/** Processor time that a process has used, in ticks of 10 ms. */
function ticksOf(pid: number): number {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ').slice(13, 15);
  return Number(user) + Number(system);
}

it.each(['SIGINT', 'SIGTERM'] as const)(
  '%s ends a mirror that reads a bundle of endless changes',
  async (signal) => {
    const out = path('copy');
    origin.publish(documentsOf({ 1: 'one' }));
    expect(await start(['mirror', base, '--out', out, '--quiet']).done).toMatchObject({ code: 0 });
    const before = readFileSync(join(out, 'snapshot.json'), 'utf8');
    origin.publish(documentsOf({ 1: 'one', 2: 'two' }));
    deleteMany();
    const { child, done, pid } = start(['mirror', base, '--out', out, '--quiet']);
    try {
      await until(() => origin.log.includes('/changes/2.ndjson.gz'), 'it fetches the bundle');
      const ticks = ticksOf(pid);
      await until(() => ticksOf(pid) > ticks + 100, 'it reads the bundle');
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
