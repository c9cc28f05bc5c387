/** The feed of snapshots tells of those that changed records, and of no others. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { published } from '../../../support/build.js';
import { temporary } from '../../../support/folder.js';
import { changeRegister, writeRegister } from '../../../support/register.js';

const path = temporary();

const read = (out: string, file: string): unknown => JSON.parse(readFileSync(join(out, file), 'utf8'));

const at = (hour: number): string => `2026-12-01T0${hour}:00:00Z`;

const feed = z.object({ items: z.array(z.looseObject({ id: z.string(), title: z.string() })) });

it('has no entry for a snapshot in which only pages changed', async () => {
  const register = writeRegister(path('register.sqlite'), { items: [{ id: 7, name: 'seven' }] });
  const out = path('dist');
  const titles = (): readonly string[] =>
    feed.parse(read(out, 'feeds/snapshots.json')).items.map(({ title }) => title);
  await published({ register, out, at: at(1) });
  const first = 'Snapshot 1: 1 record added, 0 changed, 0 removed';
  expect(titles()).toEqual([first]);

  const { sequence } = await published({ register, out, at: at(2), baseUrl: 'https://other.example' });
  expect(sequence).toBe(2);
  expect(titles()).toEqual([first]);
  const changes = z.object({ changes: z.array(z.looseObject({ sequence: z.number() })) });
  expect(changes.parse(read(out, 'changes/index.json')).changes.map((each) => each.sequence)).toEqual([2, 1]);
  // The feed is as new as its newest entry.
  expect(readFileSync(join(out, 'feeds/snapshots.atom'), 'utf8')).toContain(`<updated>${at(1)}</updated>`);

  changeRegister(register, `UPDATE items SET name = 'other'`);
  await published({ register, out, at: at(3), baseUrl: 'https://other.example' });
  expect(titles()).toEqual(['Snapshot 3: 0 records added, 1 changed, 0 removed', first]);
});
