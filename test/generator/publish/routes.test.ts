/** Trees that a version with other routes has published: nothing is taken for another, nothing is left behind. */
import { expect, it } from 'vitest';
import type { PublishedRoute } from '../../../generator/tree/published-routes.js';
import { temporary } from '../../support/folder.js';
import { contentOf, digestOf, changedBy, manifestOf, mirrorOf, sha256 } from '../../support/published.js';
import { stateRows } from '../../support/state.js';
import { LONG, publish, route, type Documents } from './small.js';
import { damageOf } from './support.js';

const path = temporary();

const TWO = { 1: 'one', 2: LONG };
const OLD = [
  route('moved', '/m/{id}', 'm/{id}.json'),
  route('renamed', '/r/{id}', 'r/{id}.json'),
  route('gone', '/gone/{id}', 'gone/{id}.json'),
  // Its name is another one's from now on.
  route('taken', '/t/{id}', 't/{id}.json'),
  route('same', '/s/{id}', 's/{id}.json'),
];
const BEFORE: Documents = { moved: { ...TWO, 3: 'three' }, renamed: TWO, gone: TWO, taken: TWO, same: TWO };
const NEXT = [
  route('moved', '/m/{id}', 'elsewhere/{id}.json'),
  route('renamed', '/renamed/{id}', 'r/{id}.json'),
  route('taken', '/new/{id}', 'new/{id}.json'),
  route('former', '/t/{id}', 't/{id}.json'),
  route('same', '/s/{id}', 's/{id}.json'),
];
const AFTER: Documents = {
  moved: { ...TWO, 4: 'four' },
  renamed: TWO,
  taken: { 7: 'new' },
  former: { 1: 'another', 2: LONG },
  same: TWO,
};

/** URL path -> SHA-256 of some documents. */
const urlsOf = (routes: readonly PublishedRoute[], documents: Documents): Record<string, string> =>
  Object.fromEntries(
    routes.flatMap(({ name, path: url }) =>
      Object.entries(documents[name] ?? {}).map(([key, body]) => [url.replace('{id}', key), sha256(body)]),
    ),
  );

it('a build with other routes gives its documents and a bundle that leads there, and leads back', async () => {
  const [out, old] = [path('dist'), path('old')];
  for (const tree of [out, old]) await publish(tree, { routes: OLD, documents: BEFORE });
  await publish(out, { routes: NEXT, documents: AFTER });
  expect(Object.fromEntries(mirrorOf(out))).toEqual(urlsOf(NEXT, AFTER));
  expect(manifestOf(out).digest).toBe(digestOf(mirrorOf(out), NEXT));
  const mirror = new Map(Object.entries(urlsOf(OLD, BEFORE)));
  const { put, delete: gone } = changedBy(out, 2);
  const named = [...put.map((each) => each.path), ...gone];
  // In whatever order somebody follows it.
  expect(named.filter((url, index) => named.indexOf(url) !== index)).toEqual([]);
  for (const each of put) mirror.set(each.path, each.sha256);
  for (const url of gone) mirror.delete(url);
  expect(Object.fromEntries(mirror)).toEqual(urlsOf(NEXT, AFTER));
  // No document is known of the routes that are gone.
  const known = stateRows(
    out,
    'SELECT name, count(key) AS documents FROM document JOIN route ON route.id = route GROUP BY name ORDER BY name',
  );
  const documentsOf = ({ name }: PublishedRoute) => Object.keys(AFTER[name] ?? {}).length;
  expect(known).toEqual(
    NEXT.map((each) => ({ name: each.name, documents: documentsOf(each) })).toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    ),
  );
  await publish(out, { routes: OLD, documents: BEFORE });
  expect(contentOf(out)).toEqual(contentOf(old));
  expect(manifestOf(out).routes.map(({ file }) => file)).toEqual(OLD.map(({ file }) => file));
  expect(await damageOf(out)).toEqual([]);
});
