/** Assets of earlier snapshots: pages in caches load them for seven days after a snapshot last named them. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startProxy } from '../../support/proxy.js';
import { copyOf, site } from '../../support/site.js';
import { changePublished, loseState } from '../../support/state.js';
import { inState } from '../../support/tree.js';
import { temporary } from '../../support/folder.js';
import { hashesOf, sha256 } from '../../support/published.js';
import { expectAtRest } from './support.js';

const path = temporary();

const FORMER = 'assets/style-0123456789.css';
const SIBLINGS = [FORMER, `${FORMER}.br`, `${FORMER}.gz`];

it('a former asset is served, and deleted with its siblings by the first build after more than seven days', async () => {
  const made = await site(path);
  const { out } = made;
  // As if the last snapshot had another style sheet.
  const [, current = ''] =
    /(assets\/style-\w+\.css)/.exec(readFileSync(join(out, 'index.html'), 'utf8')) ?? [];
  for (const suffix of ['', '.gz', '.br'])
    renameSync(join(out, current + suffix), join(out, FORMER + suffix));
  const list = inState(out, 'lists/style/0000000000000000.sha256');
  writeFileSync(list, readFileSync(list, 'utf8').replaceAll(current, FORMER));
  changePublished(out, (snapshot) => snapshot.replaceAll(current, FORMER));
  const present = (): string[] => Object.keys(hashesOf(out)).filter((file) => file.startsWith(FORMER));
  await made.build('UPDATE items SET price = 51 WHERE id = 1', { at: '2026-11-28T10:00:00Z' });
  expect([existsSync(join(out, current)), present()]).toEqual([true, SIBLINGS]);
  // Where the state was lost, it counts as last named by then.
  loseState(out);
  await made.build('', { at: '2026-12-01T10:00:00Z' });
  await expectAtRest(out);
  const proxy = await startProxy(out);
  try {
    const response = await proxy.get(`/${FORMER}`, { headers: { 'Accept-Encoding': 'br' } });
    const sum = sha256(readFileSync(join(out, FORMER)));
    expect([sha256(await response.text()), response.headers.get('content-encoding')]).toEqual([sum, 'br']);
    expect((await proxy.get('/assets/style-1111111111.css')).status).toBe(404);
  } finally {
    await proxy.stop();
  }
  await made.build('UPDATE items SET price = 52 WHERE id = 1', { at: '2026-12-08T10:00:00Z' });
  expect(present()).toEqual(SIBLINGS);
  // No build can write it again.
  const damaged = copyOf(made, path);
  writeFileSync(join(damaged.out, FORMER), 'damaged');
  expect(await damaged.command('verify', '--repair')).toMatchObject({ code: 0 });
  expect(existsSync(join(damaged.out, FORMER))).toBe(false);
  await expectAtRest(damaged.out);
  const lists = { deleteFrom: path('gone'), purgeList: path('urls') };
  await made.build('UPDATE items SET price = 53 WHERE id = 1', { at: '2026-12-08T10:00:01Z', ...lists });
  expect(present()).toEqual([]);
  expect(readFileSync(lists.deleteFrom, 'utf8').split('\n')).toEqual(expect.arrayContaining(SIBLINGS));
  expect(readFileSync(lists.purgeList, 'utf8')).toContain(`/${FORMER}\n`);
  await expectAtRest(out);
});
