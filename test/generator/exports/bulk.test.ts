/** The downloads that hold all documents in few files. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { writeSample } from '../../../data/sample.js';
import { halves } from '../../../generator/routes/route.js';
import { published } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { writeOperator, type Files } from '../../support/operator.js';
import { filesByUrl, snapshotOf, sha256, stateOf } from '../../support/published.js';
import { changeRegister } from '../../support/register.js';
import { Site, copyOf } from '../../support/site.js';
import { namesThatDiffer, readTree } from '../../support/tree.js';

const path = temporary();
const TIME = '2026-11-20T08:00:00Z';
const BINARY = Buffer.from([0xff, 0xfe, 0, 1]);
const SITE: Files = { 'imprint.html': '\ufeff<p>Imprint\u2028\u0000', 'key.bin': BINARY };

/** The user who owns most groups is withheld, so that references to a user are; and some texts are none of one line. */
const WITHHELD = `INSERT INTO withheld SELECT 'user', owner_id, '${TIME}' FROM groups
    WHERE owner_id IN (SELECT id FROM users) GROUP BY owner_id ORDER BY count(*) DESC LIMIT 1;
  INSERT INTO withheld SELECT 'group', max(id), '${TIME}' FROM groups;
  UPDATE groups SET description = char(10, 13, 0x2028, 0, 0xfeff) || 'text' WHERE id % 2`;

const [out, register] = [path('dist'), path('register.sqlite')];
await writeSample({ file: register, records: 250, seed: 8 });
changeRegister(register, WITHHELD);
const operator = writeOperator(path('site'), { files: 'site' }, SITE);
await published({ register, out, operator });

const linesOf = (tree: string, name: string): string[] => {
  const file = join(tree, `downloads/documents/${name}.ndjson.gz`);
  const lines = gunzipSync(readFileSync(file)).toString('utf8').split('\n');
  expect(lines.pop()).toBe('');
  return lines;
};

const lineShape = z.strictObject({
  path: z.string(),
  file: z.string(),
  sha256: z.string(),
  bytes: z.int(),
  body: z.string().optional(),
});
const others = linesOf(out, 'other').map((line) => lineShape.parse(JSON.parse(line)));

const LINES = ['group', 'user', 'game', 'item', 'group-history', 'user-usernames'];
it.each(LINES)('the documents of %s are lines, by ascending id', (name) => {
  const file = snapshotOf(out).routes.find((route) => route.name === name)?.file ?? '';
  const [before, after] = halves(file);
  const ids = [...readTree(out).keys()]
    .filter((each) => each.startsWith(before) && each.endsWith(after))
    .map((each) => each.slice(before.length, -after.length))
    .filter((id) => /^\d+$/.test(id))
    .toSorted((a, b) => Number(a) - Number(b));
  const bodies = ids.map((id) => readFileSync(join(out, file.replace('{id}', id)), 'utf8'));
  expect(linesOf(out, name)).toEqual(bodies);
  expect(ids.length).toBeGreaterThan(20);
});

it('other.ndjson.gz has each other document, but for what is derived from them', () => {
  const known = new Set(others.map((other) => other.path));
  expect(known.size).toBe(others.length);
  const own = /^\/(?:snapshot\.json|changes\/index\.json|feeds\/snapshots\.(?:atom|json)|api\/v1\/largest)$/;
  const derived = new Set(['page', 'asset', 'download']);
  for (const { path: url, class: sort } of snapshotOf(out).routes) {
    if (url.includes('{')) continue;
    const isDerived = derived.has(String(sort)) || url.startsWith('/.well-known/') || own.test(url);
    expect(known.has(url), url).toBe(!isDerived || url.slice(1) in SITE);
  }
  for (let limit = 1; limit <= 200; limit += 1) expect(known).toContain(`/api/v1/largest?limit=${limit}`);
});

it('other.ndjson.gz has path, hash, size and body of each document, and no body of what is not text', () => {
  const files = new Map(filesByUrl(out));
  for (const { path: url, file, sha256: hash, bytes, body } of others) {
    expect(file).toBe((files.get(url) ?? url).slice(1));
    const content = readFileSync(join(out, file));
    expect([hash, bytes], url).toEqual([sha256(content), content.length]);
    expect(body === undefined ? body : sha256(body), url).toBe(url === '/key.bin' ? undefined : hash);
  }
});

it('a build after one of the operator’s files changed writes the rest, and no file of records', async () => {
  const made = copyOf(new Site(register, out), path);
  const before = stateOf(made.out);
  const imprint = join(dirname(operator), 'site/imprint.html');
  writeFileSync(imprint, 'Moved');
  await made.build('', { operator });
  const touched = namesThatDiffer(stateOf(made.out), before);
  expect(touched.filter((file) => /^downloads.*\.ndjson\.gz$/.test(file))).toEqual([
    'downloads/documents/other.ndjson.gz',
  ]);
  expect(linesOf(made.out, 'other').at(-2)).toContain('"body":"Moved"');
});
