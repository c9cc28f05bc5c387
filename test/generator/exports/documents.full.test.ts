/** The download of documents of more records than a thread takes at once. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { published, type Options } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { TIME } from '../../support/nasty.js';
import { changeRegister, writeRegister } from '../../support/register.js';

const path = temporary();

/** Two shards: a thread takes some 16,000 records. */
const ITEMS = 17_000;

const fileIn = (out: string): Buffer => readFileSync(join(out, 'downloads/documents/item.ndjson.gz'));
/** The file of a tree that is built of nothing. */
async function fileOf(options: Omit<Options, 'out'>): Promise<Buffer> {
  const out = path('whole');
  await published({ ...options, out });
  return fileIn(out);
}

it('has the same bytes whether documents were compressed while they were staged, or rendered again', async () => {
  const items = Array.from({ length: ITEMS }, (_, at) => ({ id: 3 * at + 1, name: `Item ${at * at}` }));
  const register = writeRegister(path('register.sqlite'), { items });
  const out = path('dist');
  await published({ register, out });
  const lines = gunzipSync(fileIn(out)).toString().split('\n');
  expect(lines).toHaveLength(ITEMS + 1);
  expect(lines.slice(0, -1).map((line) => Number(/^\{"id":(\d+)/.exec(line)?.[1]))).toEqual(
    items.map(({ id }) => id),
  );

  const options = { register, acceptRemovals: true, skipInvalid: true };
  for (const sql of [
    // Few, so that most documents are not at hand.
    'UPDATE items SET price = 7 WHERE id % 1000 = 1',
    // All of the second shard, which are, and records at whose ids shards begin.
    `UPDATE items SET favourites = 2 WHERE id > (SELECT max(id) * 4 / 5 FROM items);
     UPDATE items SET price = -1 WHERE id % 9 = 1 AND id < 2000;
     INSERT INTO withheld SELECT 'item', id, '${TIME}' FROM items WHERE id % 4 = 0`,
  ]) {
    changeRegister(register, sql);
    await published({ ...options, out });
    expect(fileIn(out).equals(await fileOf(options))).toBe(true);
  }

  // What is kept while all documents are rendered is written by the next build, which renders none.
  const kept = fileIn(out);
  changeRegister(register, 'UPDATE items SET favourites = 3');
  await published({ ...options, out, keepDownloads: true });
  expect(fileIn(out)).toEqual(kept);
  await published({ ...options, out });
  expect(fileIn(out).equals(await fileOf(options))).toBe(true);
});
