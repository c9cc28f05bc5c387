/** Trees that a version with other routes has published: nothing is taken for another, nothing is left behind. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { PublishedRoute } from '../../../generator/tree/published-routes.js';
import { Tree } from '../../../generator/tree/tree.js';
import { rollback } from '../../../generator/build/rollback.js';
import { effectsAt } from '../../support/build.js';
import { LONG, publish, route } from './small.js';
import type { Documents } from './small.js';
import {
  contentOf,
  damageOf,
  digestOf,
  leftovers,
  listOf,
  manifestOf,
  mirrorOf,
  temporary,
} from './support.js';

const path = temporary();
const AT = '2026-12-01T00:00:00Z';

const OLD = [
  route('moved', '/m/{id}', 'm/{id}.json'),
  route('renamed', '/r/{id}', 'r/{id}.json'),
  route('gone', '/gone/{id}', 'gone/{id}.json'),
  // Its name is another one's from now on.
  route('taken', '/t/{id}', 't/{id}.json'),
  route('same', '/s/{id}', 's/{id}.json'),
];
const NEXT = [
  route('moved', '/m/{id}', 'elsewhere/{id}.json'),
  route('renamed', '/renamed/{id}', 'r/{id}.json'),
  route('taken', '/new/{id}', 'new/{id}.json'),
  route('former', '/t/{id}', 't/{id}.json'),
  route('same', '/s/{id}', 's/{id}.json'),
];
const BEFORE: Documents = {
  moved: { 1: 'one', 2: LONG, 3: 'three' },
  renamed: { 1: 'one', 2: LONG },
  gone: { 1: 'one', 2: LONG },
  taken: { 1: 'one', 2: LONG },
  same: { 1: 'one', 2: LONG },
};
const AFTER: Documents = {
  moved: { 1: 'one', 2: LONG, 4: 'four' },
  renamed: { 1: 'one', 2: LONG },
  taken: { 7: 'new' },
  former: { 1: 'another', 2: LONG },
  same: { 1: 'one', 2: LONG },
};

/** URL path -> SHA-256 of some documents. */
const urlsOf = (routes: readonly PublishedRoute[], documents: Documents): Record<string, string> =>
  Object.fromEntries(
    routes.flatMap(({ name, path: url }) =>
      Object.entries(documents[name] ?? {}).map(([key, body]) => [
        url.replace('{id}', key),
        createHash('sha256').update(body).digest('hex'),
      ]),
    ),
  );

async function tree(
  ...versions: readonly (readonly [readonly PublishedRoute[], Documents])[]
): Promise<string> {
  const out = path('dist');
  for (const [routes, documents] of versions) await publish(out, { routes, documents });
  return out;
}

describe('a build with other routes', () => {
  it('gives the tree that a first build would have given', async () => {
    const out = await tree([OLD, BEFORE], [NEXT, AFTER]);
    const fresh = await tree([NEXT, AFTER]);
    expect(contentOf(out)).toEqual(contentOf(fresh));
    expect(Object.fromEntries(mirrorOf(out))).toEqual(urlsOf(NEXT, AFTER));
    expect(manifestOf(out)).toMatchObject({ sequence: 2, digest: manifestOf(fresh).digest });
    expect(manifestOf(out).digest).toBe(digestOf(mirrorOf(out), NEXT));
    expect(await damageOf(out)).toEqual([]);
    // The lists wait for somebody to ask for them.
    expect(leftovers(out).filter((name) => !name.startsWith('unreported-'))).toEqual([]);
  });

  it('has a change list that leads from the old URLs to the new ones', async () => {
    const out = await tree([OLD, BEFORE], [NEXT, AFTER]);
    const mirror = new Map(Object.entries(urlsOf(OLD, BEFORE)));
    const { put, delete: gone } = listOf(out, 2);
    const named = [...put.map((each) => each.path), ...gone];
    // In whatever order somebody follows it.
    expect(named.filter((url, index) => named.indexOf(url) !== index)).toEqual([]);
    for (const { path: url, sha256 } of put) mirror.set(url, sha256);
    for (const url of gone) mirror.delete(url);
    expect(Object.fromEntries(mirror)).toEqual(urlsOf(NEXT, AFTER));
  });

  it('can be rolled back', async () => {
    const out = await tree([OLD, BEFORE], [NEXT, AFTER]);
    await rollback(new Tree(out), effectsAt(AT));
    expect(contentOf(out)).toEqual(contentOf(await tree([OLD, BEFORE])));
    expect(manifestOf(out).routes.map(({ file }) => file)).toEqual(OLD.map(({ file }) => file));
    expect(await damageOf(out)).toEqual([]);
  });
});
