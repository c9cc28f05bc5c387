/** The feed of snapshots tells of those that changed records, and of no others. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { temporary } from '../../../support/folder.js';
import { indexOf } from '../../../support/published.js';
import { sites } from '../../../support/site.js';

const site = sites(temporary(), { items: [{ id: 7, name: 'seven' }] });
const feed = z.object({ items: z.array(z.object({ title: z.string() })) });

it('has no entry for a snapshot in which only pages changed', async () => {
  const made = await site();
  const textOf = (name: string): string => readFileSync(join(made.out, 'feeds', name), 'utf8');
  const titles = () => feed.parse(JSON.parse(textOf('snapshots.json'))).items.map(({ title }) => title);
  const first = 'Snapshot 1: 1 record added, 0 changed, 0 removed';
  expect(titles()).toEqual([first]);

  const baseUrl = 'https://other.example';
  await made.build('', { at: '2026-12-01T02:00:00Z', baseUrl });
  expect(titles()).toEqual([first]);
  expect(indexOf(made.out).changes.map(({ sequence }) => sequence)).toEqual([2, 1]);
  // The feed is as new as its newest entry.
  expect(/<updated>([^<]*)/.exec(textOf('snapshots.atom'))?.[1]).toBe('2026-12-01T00:00:00Z');

  await made.build(`UPDATE items SET name = 'other'`, { at: '2026-12-01T03:00:00Z', baseUrl });
  expect(titles()).toEqual(['Snapshot 3: 0 records added, 1 changed, 0 removed', first]);
});
