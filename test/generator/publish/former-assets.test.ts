/** Assets of earlier snapshots: they stay for two commits, so that cached pages keep their style. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeLists } from '../../../generator/publish/lists.js';
import { FORMER_ASSETS } from '../../../generator/routes/pages.js';
import { Tree } from '../../../generator/tree/tree.js';
import { verify } from '../../../generator/programs/verify/verify.js';
import { quiet } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { startProxy } from '../../support/proxy.js';
import {
  contentOf,
  digestOf,
  hashesOf,
  listOf,
  manifestOf,
  mirrorOf,
  sha256,
} from '../../support/published.js';
import { LONG, publish, route, styleRoute, type Version } from './small.js';

const path = temporary();

const [OLD, CURRENT] = [LONG, `${LONG} of another version`];
const [old, current] = [styleRoute(OLD).file, styleRoute(CURRENT).file];
const siblings = (file: string): string[] => [file, `${file}.br`, `${file}.gz`];

/** A version with this style sheet, and with a document of this content. */
const version = (style: string, item = 'x'): Version => ({
  routes: [route('a', '/a/{id}', 'a/{id}.json'), styleRoute(style), ...FORMER_ASSETS],
  documents: { a: { 1: item }, style: { 0: style } },
});

/** A tree of several versions. */
async function treeOf(...versions: readonly Version[]): Promise<string> {
  const out = path('dist');
  for (const each of versions) await publish(out, each);
  return out;
}

/** The tree is whole, and these are its style sheets. */
async function expectStyles(out: string, ...present: readonly string[]): Promise<void> {
  const { damage, untracked } = await verify(new Tree(out), quiet());
  expect([damage, untracked.files]).toEqual([[], []]);
  expect(Object.keys(hashesOf(out)).filter((file) => file.startsWith('assets/'))).toEqual(
    present.flatMap(siblings).toSorted(),
  );
}

describe('a snapshot with other assets', () => {
  it('leaves those of the snapshot before, outside digest and changes, and serves them', async () => {
    const [out, fresh] = [await treeOf(version(OLD), version(CURRENT)), await treeOf(version(CURRENT))];
    await expectStyles(out, current, old);
    const { [old]: kept, [`${old}.br`]: _, [`${old}.gz`]: __, ...others } = contentOf(out);
    expect([others, kept]).toEqual([contentOf(fresh), sha256(OLD)]);
    const { digest, routes, tree } = manifestOf(out);
    expect({ digest, tree, routes }).toEqual({
      digest: digestOf(mirrorOf(fresh), routes),
      tree: { ...manifestOf(fresh).tree, id: tree.id },
      routes: manifestOf(fresh).routes,
    });
    expect(listOf(out, 2).delete).toEqual([`/${old}`]);
    const proxy = await startProxy(out);
    try {
      const response = await proxy.get(`/${old}`, { headers: { 'Accept-Encoding': 'br' } });
      expect(sha256(await response.text())).toBe(sha256(OLD));
      expect(response.headers.get('content-type')).toBe('text/css; charset=utf-8');
      expect(response.headers.get('cache-control')).toContain('immutable');
      expect(response.headers.get('content-encoding')).toBe('br');
      const none = ['style-0123456789.css', 'style.css', 'STYLE-0123456789.css', 'style-0123456789.txt'];
      for (const name of none) expect((await proxy.get(`/assets/${name}`)).status).toBe(404);
    } finally {
      await proxy.stop();
    }
  });

  it('lists them for nobody until they are dropped, after two more', async () => {
    const out = await treeOf(version(OLD));
    const listed = async (item: string): Promise<string[]> => {
      await publish(out, version(CURRENT, item));
      const lists = { urls: path('urls'), files: path('files'), removed: path('removed') };
      const { urls: purgeList, files: filesFrom, removed: deleteFrom } = lists;
      writeLists(new Tree(out), '', { purgeList, filesFrom, deleteFrom });
      return Object.entries(lists).flatMap(([name, list]) =>
        readFileSync(list, 'utf8')
          .split('\n')
          .filter((line) => line.includes(old))
          .map((line) => `${name}: ${line}`),
      );
    };
    expect([await listed('a'), await listed('b')]).toEqual([[], []]);
    await expectStyles(out, current, old);
    expect((await listed('c')).toSorted()).toEqual(
      [...siblings(old).map((file) => `removed: ${file}`), `urls: /${old}`].toSorted(),
    );
    await expectStyles(out, current);
  });

  it.each(['', '.br'])('does not keep one whose content%s is not what its name says', async (suffix) => {
    const out = await treeOf(version(OLD));
    writeFileSync(join(out, old + suffix), 'altered');
    await publish(out, version(CURRENT));
    expect(existsSync(join(out, old))).toBe(false);
    await expectStyles(out, current);
  });
});
